// SPDX-License-Identifier: GPL-3.0-or-later
// The page that compares runs: which, and how, is in the address.
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { isArchive } from "../api";
import { RUNS_MAX } from "../model/compared";
import { ChosenBar } from "../pages/chosen";
import { formatMany } from "../shell/format";
import { Guard } from "../shell/messages";
import { runs as listed } from "../shell/runs";
import type { RunModel, RunRow } from "../types";
import { heldNumbers, heldText, href, query } from "../url";
import { ParallelView } from "../views/parallel";
import { ScatterView } from "../views/scatter";
import { TableView } from "../views/table";
import { BestCurves } from "./best_curves";
import { Distribution } from "./distribution";
import { Files } from "./files";
import { useLoaded } from "./loaded";
import { useComparison } from "./model";
import type { Comparison } from "./model";
import { Progress } from "./progress";
import { Settings } from "./settings";

const COLORS = 8;
const OFFERED_MAX = 1000; // the newest; older ones are found by their whole name

const heldRuns = heldNumbers("runs");
const heldView = heldText("view");

interface View {
  readonly id: string;
  readonly title: string;
  needsObjective?: boolean;
  needsParams?: boolean;
  needsRuns?: number;
  show(comparison: Comparison): VNode;
}

const views: readonly View[] = [
  {
    id: "progress",
    title: "Best so far",
    needsObjective: true,
    show: (comparison) => <Progress comparison={comparison} />,
  },
  { id: "settings", title: "Settings", show: (comparison) => <Settings comparison={comparison} /> },
  {
    id: "distribution",
    title: "Distribution",
    needsObjective: true,
    show: (comparison) => <Distribution comparison={comparison} />,
  },
  {
    id: "parallel",
    title: "Parallel",
    needsParams: true,
    show: ({ run }) => <ParallelView run={run} />,
  },
  {
    id: "curves",
    title: "Best curves",
    needsObjective: true,
    show: (comparison) => <BestCurves comparison={comparison} />,
  },
  { id: "scatter", title: "Scatter", needsParams: true, show: ({ run }) => <ScatterView run={run} /> },
  { id: "table", title: "Trials", show: ({ run }) => <TableView run={run} /> },
  {
    id: "files",
    title: "Files",
    needsRuns: 2,
    show: (comparison) => <Files comparison={comparison} />,
  },
];

const applies = (view: View, run: RunModel, count: number) =>
  (!view.needsObjective || run.objectives.length > 0) &&
  (!view.needsParams || run.params.length > 0) &&
  count >= (view.needsRuns ?? 1);

// ---- which runs ----

function Chips({ ids }: { ids: readonly number[] }) {
  const list = listed.value;
  return (
    <ul class="plain tags" aria-label="Compared runs">
      {ids.map((id, place) => {
        const name = list?.get(id)?.name ?? `run ${id}`;
        return (
          <li key={id} class={`chip series-${(place % COLORS) + 1}`}>
            <span class="series-key" aria-hidden="true" />
            <a class="ellipsis" href={href(`/runs/${id}`)}>{name}</a>
            <button
              type="button"
              aria-label={`Remove ${name} from the comparison`}
              onClick={() => (heldRuns.value = heldRuns.peek().filter((one) => one !== id))}
            >
              ×
            </button>
          </li>
        );
      })}
    </ul>
  );
}

const byNewest = (a: RunRow, b: RunRow) => b.id - a.id;

function AddRun({ ids }: { ids: readonly number[] }) {
  const others = [...(listed.value?.values() ?? [])].filter(({ id }) => !ids.includes(id)).sort(byNewest);
  const add = (name: string, clear: () => void) => {
    const found = others.find((row) => row.name === name);
    if (found === undefined) return;
    heldRuns.value = [...heldRuns.peek(), found.id];
    clear();
  };
  if (others.length === 0 || ids.length >= RUNS_MAX) return null;
  return (
    <>
      <input
        class="input compare-add"
        list="runs-to-add"
        placeholder="Add a run"
        aria-label="Add a run by its name"
        onInput={({ currentTarget }) => add(currentTarget.value, () => (currentTarget.value = ""))}
      />
      <datalist id="runs-to-add">
        {others.slice(0, OFFERED_MAX).map(({ id, name }) => <option key={id} value={name} />)}
      </datalist>
    </>
  );
}

function Tabs({ shown, current }: { shown: readonly View[]; current: View }) {
  return (
    <nav class="tabs" aria-label="Views">
      {shown.map((view) => (
        <a
          key={view.id}
          href={href("/compare", new Map([...query.value, ["view", view.id]]))}
          aria-current={view === current ? "page" : undefined}
        >
          {view.title}
        </a>
      ))}
    </nav>
  );
}

// What a shell reads as one word; of a name that is none (of a store from elsewhere), the id.
function shellName(id: number): string {
  const name = listed.value?.get(id)?.name ?? "";
  return /^[\w.][\w.-]*$/.test(name) ? name : String(id);
}

const exportLine = (ids: readonly number[]) =>
  `smtune export ${ids.map(shellName).join(" ")} --format html -o comparison.html`;

function Views({ comparison }: { comparison: Comparison }) {
  const { run, shape, runs } = comparison;
  const shown = views.filter((view) => applies(view, run, runs.length));
  const current = shown.find(({ id }) => id === heldView.value) ?? shown[0];
  return (
    <>
      <Tabs shown={shown} current={current} />
      <ChosenBar key={shape} run={run} />
      <Guard key={current.id + shape}>{current.show(comparison)}</Guard>
    </>
  );
}

export function CompareRuns() {
  const ids = [...new Set(heldRuns.value)].slice(0, RUNS_MAX);
  const more = new Set(heldRuns.value).size - ids.length;
  const { loaded, left, problems } = useLoaded(ids);
  const comparison = useComparison(loaded);
  useEffect(() => {
    document.title = `Comparison of ${formatMany(ids.length, "run")} · smtune`;
  }, [ids.length]);
  return (
    <>
      <header class="run-head">
        <div class="run-title">
          <h1>Comparison of {formatMany(ids.length, "run")}</h1>
          {left > 0 && <span class="muted" role="status">reading {formatMany(left, "run")} …</span>}
          {more > 0 && <span class="muted">{formatMany(more, "run")} more: at most {RUNS_MAX} are shown</span>}
        </div>
        <div class="row">
          <Chips ids={ids} />
          {!isArchive() && <AddRun ids={ids} />}
        </div>
        {problems.map((text) => <p key={text} class="problem">Cannot read {text}</p>)}
      </header>
      {loaded.length > 0 ? (
        <Views comparison={comparison} />
      ) : left === 0 && (
        <p class="empty">
          Choose runs in the <a href={href("/")}>list of runs</a>, or add one here by its name.
        </p>
      )}
      {loaded.length > 0 && !isArchive() && (
        <p class="muted small">
          As one file for a browser: <code>{exportLine(ids)}</code>
        </p>
      )}
    </>
  );
}
