// SPDX-License-Identifier: GPL-3.0-or-later
// What a run is and how it stands.
import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { ActionButtons } from "../actions/menu";
import { formatNumber } from "../data/columns";
import { bestOf, frontOf } from "../model/best";
import { announce } from "../shell/announce";
import { Ago, Since } from "../shell/clock";
import { formatDuration, formatMany, timeOf } from "../shell/format";
import { runs } from "../shell/runs";
import { CountsBar, CountsWords, StateBadge, countsText } from "../shell/states";
import type { RunModel } from "../types";
import { countStates } from "./counts";

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function FrontFact({ run }: { run: RunModel }) {
  const table = run.table.value;
  const { count, volume } = useMemo(() => frontOf(table, run.objectives), [table]);
  if (count === 0) return <Fact name="Pareto front">none yet</Fact>;
  return (
    <Fact name="Pareto front">
      {formatMany(count, "trial")}{" "}
      {!Number.isNaN(volume) && (
        <span class="muted small">hypervolume {formatNumber(volume)}</span>
      )}
    </Fact>
  );
}

function Best({ run }: { run: RunModel }) {
  const [objective] = run.objectives;
  const table = run.table.value;
  const best = useMemo(
    () => (run.objectives.length === 1 ? bestOf(table, objective, run.repeats) : null),
    [table],
  );
  if (objective === undefined) return null;
  if (run.objectives.length > 1) return <FrontFact run={run} />;
  const name = `best ${run.repeats > 1 ? "mean " : ""}${objective.metric}`;
  if (best === null) return <Fact name={name}>none yet</Fact>;
  const number = table.byName.get("number")?.data[best.row] ?? 0;
  return (
    <Fact name={name}>
      {formatNumber(best.value)}{" "}
      <button class="btn btn-quiet btn-small" onClick={() => (run.focused.value = number)}>
        trial {number}
      </button>
    </Fact>
  );
}

function Facts({ run }: { run: RunModel }) {
  const row = runs.value?.get(run.id);
  const startedMs = timeOf(row?.started);
  const isOn = (row?.state === "running" || row?.state === "paused") && !Number.isNaN(startedMs);
  const tookMs = row?.duration_ms ?? null;
  const goals = run.objectives.map(({ metric, goal }) => `${goal} ${metric}`);
  const { schedule, revision } = run.document.value;
  return (
    <dl class="facts">
      <Best run={run} />
      {goals.length > 0 && <Fact name="objective">{goals.join(", ")}</Fact>}
      {schedule && (
        <Fact name="schedule">
          {schedule.method} <span class="muted small">over {schedule.resource}</span>
        </Fact>
      )}
      {revision && (
        <Fact name="code">
          <span class="mono" title={revision}>
            {revision.replace(/^(\w{10})\w+/, "$1")}
          </span>
        </Fact>
      )}
      {isOn && (
        <Fact name="running for">
          <Since ms={startedMs} />
        </Fact>
      )}
      {!isOn && tookMs !== null && <Fact name="duration">{formatDuration(tookMs)}</Fact>}
      {!Number.isNaN(startedMs) && (
        <Fact name="started">
          <Ago ms={startedMs} />
        </Fact>
      )}
    </dl>
  );
}

// Tells of a new state, and of nothing else that changes all the time.
function useSaid(state: string, words: string): void {
  const before = useRef(state);
  useEffect(() => {
    if (before.current !== state) announce(`run ${state}: ${words}`);
    before.current = state;
  }, [state]);
}

export function RunHeader({ run }: { run: RunModel }) {
  const document = run.document.value;
  const row = runs.value?.get(run.id);
  const counts = useComputed(() => countStates(run.table.value)).value;
  const state = row?.state ?? document.state;
  const reason = row?.reason ?? document.reason;
  const tags = row?.tags ?? document.tags ?? [];
  const note = row?.note ?? document.note;
  const isOver = state === "succeeded" || state === "failed";
  const toCome = isOver ? 0 : Math.max(0, (document.budget?.trials ?? 0) - counts.all);
  useSaid(state, countsText(counts));
  return (
    <header class="run-head">
      <div class="run-title">
        <h1>{document.name}</h1>
        <StateBadge state={state} />
        {typeof reason === "string" && reason !== "" && <span class="muted">{reason}</span>}
        {tags.length > 0 && (
          <div class="tags">
            {tags.map((tag) => (
              <span key={tag} class="tag">
                {tag}
              </span>
            ))}
          </div>
        )}
        <ActionButtons
          run={run}
          state={state}
          counts={counts}
          note={typeof note === "string" ? note : ""}
          tags={tags}
        />
      </div>
      {typeof document.problem === "string" && <p class="problem">{document.problem}</p>}
      {typeof note === "string" && note !== "" && <p class="note">{note}</p>}
      <Facts run={run} />
      <div>
        <CountsBar counts={counts} toCome={toCome} />
        <CountsWords counts={counts} toCome={toCome} />
      </div>
    </header>
  );
}
