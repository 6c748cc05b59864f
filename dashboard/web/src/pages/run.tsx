// SPDX-License-Identifier: GPL-3.0-or-later
// The page of one run: its header, its views' tabs, what is chosen, a view.
import { useEffect, useState } from "preact/hooks";
import { withoutTurns } from "../data/turns";
import { openRun } from "../model/run";
import type { OpenRun } from "../model/run";
import { useKeys } from "../shell/keys";
import { Guard, Problem, RunRemoved } from "../shell/messages";
import { runs } from "../shell/runs";
import type { RunModel, View } from "../types";
import { href, isOfRun, query, visit } from "../url";
import { views } from "../views";
import { TrialPanel } from "../views/trial";
import { rowTitle } from "../views/trial_columns";
import { ChosenBar } from "./chosen";
import { RunHeader } from "./header";

type Opened = { run?: RunModel; error?: Error; isGone?: boolean };

// Opens it for as long as it is looked at.
function useRun(id: number): Opened & { again: () => void } {
  const [opened, setOpened] = useState<Opened>({});
  const [times, setTimes] = useState(0);
  useEffect(() => {
    let isOver = false;
    let open: OpenRun | undefined;
    setOpened({});
    openRun(id, () => setOpened({ isGone: true })).then(
      (one) => {
        if (isOver) one.close();
        else setOpened({ run: (open = one).model });
      },
      (error: Error) => isOver || setOpened({ error }),
    );
    return () => {
      isOver = true;
      open?.close();
    };
  }, [id, times]);
  return { ...opened, again: () => setTimes(times + 1) };
}

// A workflow has jobs.
const titleOf = (run: RunModel, { id, title }: View) => (id === "trial" ? rowTitle(run) : title);

interface TabsProps {
  run: RunModel;
  shown: readonly View[];
  current: View | undefined;
}

function Tabs({ run, shown, current }: TabsProps) {
  const address = (view: View) => `/runs/${run.id}/${view.id}`;
  useKeys(
    "Views",
    shown.map((view) => ({
      keys: `g ${view.key}`,
      does: titleOf(run, view).toLowerCase(),
      run: () => visit(address(view), isOfRun),
    })),
    [shown.map((view) => view.id).join()],
  );
  const kept = new Map([...query.value].filter(([key]) => isOfRun(key)));
  return (
    <nav class="tabs" aria-label="Views">
      {shown.map((view) => (
        <a
          key={view.id}
          href={href(address(view), kept)}
          aria-current={view === current ? "page" : undefined}
          title={`g ${view.key}`}
        >
          {titleOf(run, view)}
        </a>
      ))}
    </nav>
  );
}

function Opened({ run, view: wanted }: { run: RunModel; view: string }) {
  const shown = views.filter((view) => view.applies(run));
  const current = shown.find((view) => view.id === wanted) ?? (wanted === "" ? shown[0] : undefined);
  const name = run.document.value.name;
  useEffect(() => {
    document.title = `${withoutTurns(name)}${current ? ` · ${titleOf(run, current)}` : ""} · smtune`;
  }, [name, current]);
  return (
    <>
      <RunHeader run={run} />
      <Tabs run={run} shown={shown} current={current} />
      <ChosenBar run={run} />
      {current === undefined ? (
        <p class="empty">This run has no view “{wanted}”.</p>
      ) : (
        <Guard key={current.id}>
          <current.component run={run} />
        </Guard>
      )}
      {current?.id !== "trial" && <TrialPanel run={run} />}
    </>
  );
}

export function RunPage({ id, view }: { id: number; view: string }) {
  const { run, error, isGone, again } = useRun(id);
  const name = runs.value?.get(id)?.name ?? `run ${id}`;
  if (isGone) return <RunRemoved name={run?.document.peek().name ?? name} />;
  if (error !== undefined) return <Problem error={error} again={again} />;
  if (run === undefined) return <h1 class="empty">Loading {name} …</h1>;
  return <Opened run={run} view={view} />;
}
