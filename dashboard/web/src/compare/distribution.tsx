// SPDX-License-Identifier: GPL-3.0-or-later
// Which share of a run's trials is at most so large (the EDF), run by run.
import { useMemo } from "preact/hooks";
import { useObjective } from "../charts/objective";
import { counted, median, valueName, valuesOf } from "../charts/rows";
import { valueText } from "../charts/scales";
import type { Objective } from "../types";
import { RunLines } from "./lines";
import type { Series } from "./lines";
import type { Comparison } from "./model";
import { maskOf, namesOf } from "./parts";

const STEPS_MAX = 2000; // more are not told apart

function valuesIn(comparison: Comparison, place: number, objective: Objective): Float64Array {
  const { table } = comparison.runs[place];
  const of = valuesOf(table.byName.get(valueName(objective)));
  const mask = maskOf(comparison, place);
  const values = new Float64Array(table.rows);
  let count = 0;
  for (let row = 0; row < table.rows; row++)
    if (mask[row] !== 0 && Number.isFinite(of(row))) values[count++] = of(row);
  return values.slice(0, count).sort();
}

// Of very many values those at even shares.
function stepsOf(values: Float64Array): { x: number[]; y: number[] } {
  const count = Math.min(values.length, STEPS_MAX);
  const places = Array.from({ length: count }, (_, i) =>
    Math.ceil(((i + 1) * values.length) / count));
  return {
    x: [values[0], ...places.map((place) => values[place - 1])],
    y: [0, ...places.map((place) => place / values.length)],
  };
}

export function Distribution({ comparison }: { comparison: Comparison }) {
  const { run, runs } = comparison;
  const { objective, control } = useObjective(run, "distribution.metric");
  const { mask } = run.selection.value;
  const all = useMemo(
    () => runs.map((_, place) => valuesIn(comparison, place, objective)),
    [runs, mask, objective],
  );
  const names = namesOf(comparison);
  const series = useMemo(
    () =>
      all.flatMap((values, place): Series[] =>
        values.length === 0 ? [] : [{ place, name: names[place], ...stepsOf(values) }],
      ),
    [all],
  );
  const medians = series
    .map(({ place, name }) => `${name} ${valueText(median(all[place]))}`)
    .join(", ");
  const without = names.filter((_, place) => all[place].length === 0);
  return (
    <RunLines
      run={run}
      id="distribution"
      title={`Distribution of ${objective.metric}`}
      summary={`${objective.metric} of ${counted(series.length, "run")}. Medians: ${medians || "none"}.`}
      notes={without.length > 0 ? [`without a value: ${without.join(", ")}`] : []}
      series={series}
      x={{ label: objective.metric }}
      y={{ label: "share of trials", isShare: true }}
      isStepped
      controls={control}
    />
  );
}
