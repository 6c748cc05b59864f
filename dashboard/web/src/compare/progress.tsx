// SPDX-License-Identifier: GPL-3.0-or-later
// The best so far of each run: over its trials, its time, or its resource.
import { useMemo } from "preact/hooks";
import { Choose, useHeldText } from "../charts/controls";
import type { Choice } from "../charts/controls";
import { useObjective } from "../charts/objective";
import { counted, valuesOf } from "../charts/rows";
import { valueText } from "../charts/scales";
import { timeOf } from "../shell/format";
import type { Objective } from "../types";
import { bestSoFar, orderedRows } from "../views/history";
import { RunLines } from "./lines";
import type { Series } from "./lines";
import { maskOf, namesOf, objectiveOf } from "./parts";
import type { Comparison } from "./model";

type Over = "trials" | "time" | "resource";

const units = [
  { text: "days", ms: 86_400_000 },
  { text: "hours", ms: 3_600_000 },
  { text: "minutes", ms: 60_000 },
];

// The largest unit of which there are two.
const unitOf = (ms: number) =>
  units.find((unit) => ms >= 2 * unit.ms) ?? { text: "seconds", ms: 1000 };

type Compared = Comparison["runs"][number];

// What each row adds up to on the x axis; null: the run does not have it.
function placesOf({ table, document }: Compared, over: Over, order: Uint32Array) {
  if (over === "trials") return valuesOf(table.byName.get("number"));
  if (over === "time") {
    const ended = valuesOf(table.byName.get("ended"));
    const started = timeOf((document.started ?? document.created) as string | null);
    return (row: number) => ended(row) - started;
  }
  const used = table.byName.get("used");
  if (used === undefined) return null;
  const sums = new Float64Array(table.rows);
  let sum = 0;
  for (const row of order) {
    sum += Number.isNaN(used.data[row]) ? 0 : used.data[row];
    sums[row] = sum;
  }
  return (row: number) => sums[row];
}

function seriesOf(
  comparison: Comparison,
  { metric }: Objective,
  over: Over,
): { series: Series[]; without: string[] } {
  const series: Series[] = [];
  const without: string[] = [];
  const names = namesOf(comparison);
  comparison.runs.forEach((one, place) => {
    const { table, model } = one;
    const objective = objectiveOf(model, metric);
    const order = orderedRows(table, over === "trials" ? "number" : "ended");
    const at = placesOf(one, over, order);
    const best = objective && at
      ? bestSoFar(table, objective, { order, mask: maskOf(comparison, place), repeats: model.repeats })
      : null;
    if (best === null || at === null || best.rows.length === 0) {
      without.push(names[place]);
      return;
    }
    const last = order.length > 0 ? at(order[order.length - 1]) : NaN;
    series.push({
      place,
      name: names[place],
      x: [...best.rows.map(at), last],
      y: [...best.values, ...best.values.slice(-1)],
    });
  });
  return { series, without };
}

const lastOf = (numbers: readonly number[]) => numbers[numbers.length - 1];

function summaryOf(series: readonly Series[], { metric, goal }: Objective): string {
  const sign = goal === "minimize" ? 1 : -1;
  const bests = series
    .map(({ name, y }) => ({ name, value: lastOf(y) }))
    .sort((a, b) => sign * (a.value - b.value));
  const begin = `Best ${metric} so far (${goal}) of ${counted(series.length, "run")}.`;
  const first = bests[0];
  return first === undefined ? begin : `${begin} The best is ${valueText(first.value)}, ${first.name}.`;
}

export function Progress({ comparison }: { comparison: Comparison }) {
  const { run, runs } = comparison;
  const { objective, control } = useObjective(run, "progress.metric");
  const chosen = useHeldText("progress.over", "trials");
  const hasResource = runs.some(({ table }) => table.byName.has("used"));
  const choices: Choice[] = [
    { id: "trials", text: "trials" },
    { id: "time", text: "time" },
    ...(hasResource ? [{ id: "resource", text: "resource" }] : []),
  ];
  const over = (choices.find(({ id }) => id === chosen.value) ?? choices[0]).id as Over;
  const { mask } = run.selection.value;
  const { series, without } = useMemo(
    () => seriesOf(comparison, objective, over),
    [runs, mask, objective, over],
  );
  const longest = Math.max(0, ...series.map(({ x }) => lastOf(x)));
  const unit = over === "time" ? unitOf(longest) : { text: over, ms: 1 };
  const scaled = useMemo(
    () =>
      unit.ms === 1
        ? series
        : series.map((one) => ({ ...one, x: one.x.map((ms) => ms / unit.ms) })),
    [series, unit.ms],
  );
  return (
    <RunLines
      run={run}
      id={`progress-${over}`}
      title="Best so far"
      summary={summaryOf(series, objective)}
      notes={without.length > 0 ? [`without a value: ${without.join(", ")}`] : []}
      series={scaled}
      x={{ label: unit.text, isWhole: over === "trials" }}
      y={{ label: objective.metric }}
      isStepped
      controls={
        <>
          {control}
          <Choose
            label="Over"
            value={over}
            choices={choices}
            onChoose={(id) => (chosen.value = id)}
          />
        </>
      }
    />
  );
}
