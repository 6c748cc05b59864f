// SPDX-License-Identifier: GPL-3.0-or-later
// A run at a glance.
import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Choose, useHeldText } from "../charts/controls";
import { numberOf } from "../charts/rows";
import { cellText } from "../data/columns";
import { bestRow } from "../model/best";
import { Sign } from "../shell/states";
import type { Column, RunModel, Table, ViewProps } from "../types";
import { CurvesView } from "./curves";
import { FrontView } from "./front";
import { GraphView } from "./graph";
import { HistoryView } from "./history";
import { ModelImportance } from "./importance";
import { ParallelView } from "./parallel";
import { Steps } from "./steps";

const LATEST = 8;

function Card({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>{title}</h2>
      </div>
      {children}
    </section>
  );
}

// Of several objectives that of one of them, which the reader may choose.
function BestSetting({ run }: { run: RunModel }) {
  const chosen = useHeldText("best.of");
  const objective = run.objectives.find(({ metric }) => metric === chosen.value) ?? run.objectives[0];
  const table = run.table.value;
  const row = useMemo(
    () => (objective ? bestRow(table, objective, run.repeats) : -1),
    [table, objective],
  );
  if (row < 0) return <p class="muted">No trial has succeeded yet.</p>;
  return (
    <>
      {run.objectives.length > 1 && (
        <p class="chart-controls best-of">
          <Choose
            label="Best"
            value={objective.metric}
            choices={run.objectives.map(({ metric }) => ({ id: metric, text: metric }))}
            onChoose={(metric) => (chosen.value = metric)}
          />
          {cellText(table.byName.get(`value:${objective.metric}`) as Column, row)}, trial{" "}
          {numberOf(table, row)}
        </p>
      )}
      <dl class="pairs">
        {run.params.map(({ name }) => {
          const column = table.byName.get(`param:${name}`);
          return (
            <>
              <dt>{name}</dt>
              <dd class="mono">{(column && cellText(column, row)) || "–"}</dd>
            </>
          );
        })}
      </dl>
    </>
  );
}

// The rows that ended last, the newest first.
function latestRows(table: Table): number[] {
  const ended = table.byName.get("ended")?.data;
  if (ended === undefined) return [];
  const latest: number[] = [];
  // From the end, where those are that ended last: few have to be put in order.
  for (let row = table.rows - 1; row >= 0; row--) {
    if (Number.isNaN(ended[row])) continue;
    const isLate = latest.length < LATEST || ended[row] > ended[latest[LATEST - 1]];
    if (!isLate) continue;
    latest.push(row);
    latest.sort((a, b) => ended[b] - ended[a]);
    latest.length = Math.min(latest.length, LATEST);
  }
  return latest;
}

function Latest({ run }: { run: RunModel }) {
  const table = run.table.value;
  const rows = useComputed(() => latestRows(run.table.value)).value;
  const column = (name: string) => table.byName.get(name) as Column;
  const values = run.objectives.map(({ metric }) => metric);
  const step = table.byName.get("step");
  if (rows.length === 0) return <p class="muted">No results yet.</p>;
  return (
    <table class="table table-plain">
      <thead>
        <tr>
          <th>Number</th>
          {step && <th>Step</th>}
          <th>State</th>
          {values.map((metric) => (
            <th key={metric} class="num">
              {metric}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row}>
            <td>
              <button
                class="btn btn-quiet btn-small"
                onClick={() => (run.focused.value = column("number").data[row])}
              >
                {cellText(column("number"), row)}
              </button>
            </td>
            {step && <td>{cellText(step, row)}</td>}
            <td>
              <span class="row nowrap">
                <Sign state={cellText(column("state"), row)} />
                {cellText(column("state"), row)}
              </span>
            </td>
            {values.map((metric) => (
              <td key={metric} class="num">
                {column(`value:${metric}`) && cellText(column(`value:${metric}`), row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ExperimentOverview({ run }: ViewProps) {
  return (
    <div class="grid">
      <div class="span-8">
        {run.objectives.length > 1 ? <FrontView run={run} /> : <HistoryView run={run} />}
      </div>
      <div class="span-4 stack">
        <Card title="Best setting">
          <BestSetting run={run} />
        </Card>
        <Card title="Recently finished">
          <Latest run={run} />
        </Card>
      </div>
      <ParallelView run={run} />
      <div class="span-6">
        <ModelImportance run={run} />
      </div>
      {run.document.value.schedule && (
        <div class="span-6">
          <CurvesView run={run} />
        </div>
      )}
    </div>
  );
}

function WorkflowOverview({ run }: ViewProps) {
  return (
    <div class="grid">
      <div class="span-7">
        <GraphView run={run} />
      </div>
      <div class="span-5 stack">
        <Card title="Steps">
          <Steps run={run} />
        </Card>
        <Card title="Recently finished">
          <Latest run={run} />
        </Card>
      </div>
    </div>
  );
}

export function OverviewView({ run }: ViewProps) {
  const isWorkflow = run.document.value.kind === "workflow";
  return isWorkflow ? <WorkflowOverview run={run} /> : <ExperimentOverview run={run} />;
}
