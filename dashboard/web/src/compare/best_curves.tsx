// SPDX-License-Identifier: GPL-3.0-or-later
// The learning curve of each run's best trial.
import { useEffect, useMemo, useState } from "preact/hooks";
import { getJson } from "../api";
import { Choose, useHeldText } from "../charts/controls";
import { useObjective } from "../charts/objective";
import { counted } from "../charts/rows";
import { makeCurveStore } from "../data/curves";
import type { Curve } from "../data/curves";
import { bestRow } from "../model/best";
import { RunLines } from "./lines";
import type { Series } from "./lines";
import type { Comparison } from "./model";
import { namesOf, objectiveOf, rowOfAll } from "./parts";

// The number of the best trial of each run; 0: it has none.
function bestNumbers({ runs }: Comparison, metric: string): number[] {
  return runs.map(({ table, model }) => {
    const objective = objectiveOf(model, metric);
    const row = objective ? bestRow(table, objective, model.repeats) : -1;
    return row < 0 ? 0 : (table.byName.get("number")?.data[row] ?? 0);
  });
}

interface Read {
  readonly key: string; // of what was asked
  readonly curves: readonly (Curve | undefined)[];
  readonly problems: readonly string[];
}

// One run after the other.
async function readCurves(
  ids: readonly number[],
  numbers: readonly number[],
  metric: string,
  signal: AbortSignal,
): Promise<Omit<Read, "key">> {
  const curves: (Curve | undefined)[] = [];
  const problems: string[] = [];
  for (const [place, id] of ids.entries()) {
    const store = makeCurveStore(id, metric);
    try {
      if (numbers[place] > 0) await store.read([numbers[place]], () => undefined, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      problems.push((error as Error).message);
    }
    curves.push(store.curves.get(numbers[place]));
  }
  return { curves, problems };
}

function useMetricNames(ids: readonly number[]): readonly string[] {
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    const all = new Set<string>();
    const read = async () => {
      for (const id of ids)
        for (const name of await getJson<string[]>(`/runs/${id}/metric_names`, stop.signal))
          all.add(name);
    };
    read().catch(() => undefined).finally(() => stop.signal.aborted || setNames([...all]));
    return () => stop.abort();
  }, [ids.join()]);
  return names;
}

export function BestCurves({ comparison }: { comparison: Comparison }) {
  const { run, runs } = comparison;
  const { objective, control } = useObjective(run, "best.objective");
  const ids = runs.map(({ id }) => id);
  const metrics = useMetricNames(ids);
  const chosen = useHeldText("best.metric");
  const metric = metrics.includes(chosen.value)
    ? chosen.value
    : metrics.includes(objective.metric) ? objective.metric : (metrics[0] ?? "");
  const numbers = bestNumbers(comparison, objective.metric);
  const [read, setRead] = useState<Read>({ key: "", curves: [], problems: [] });
  const key = [metric, ids, numbers].join();
  useEffect(() => {
    if (metric === "") return undefined;
    const stop = new AbortController();
    readCurves(ids, numbers, metric, stop.signal)
      .then((found) => setRead({ key, ...found }), () => undefined);
    return () => stop.abort();
  }, [key]);
  const names = namesOf(comparison);
  const isRead = read.key === key;
  const series = useMemo(
    () =>
      (isRead ? read.curves : []).flatMap((curve, place): Series[] => {
        if (curve === undefined) return [];
        const row = runs[place].table.byName.get("number")?.data.indexOf(curve.trial as never) ?? -1;
        return [{
          place,
          name: `${names[place]}, trial ${curve.trial}`,
          x: curve.steps,
          y: curve.values,
          row: row < 0 ? -1 : rowOfAll(comparison, place, row),
        }];
      }),
    [read, isRead],
  );
  const units = [...new Set(runs.map(({ document }) => document.schedule?.resource ?? "step"))];
  const without = isRead ? names.filter((_, place) => read.curves[place] === undefined) : [];
  if (metrics.length === 0) return <p class="empty">No trial has reported a metric with a step yet.</p>;
  return (
    <RunLines
      run={run}
      id="best"
      title="Learning curves of the best trials"
      summary={isRead ? `${counted(series.length, "curve")} of ${metric}: those of the trials with the best ${objective.metric}.` : "Reading …"}
      notes={[
        ...read.problems,
        ...(without.length > 0 ? [`no values of it: ${without.join(", ")}`] : []),
      ]}
      series={series}
      x={{ label: units.length === 1 ? units[0] : "step", isWhole: true }}
      y={{ label: metric }}
      controls={
        <>
          {control}
          <Choose
            label="Metric"
            value={metric}
            choices={metrics.map((name) => ({ id: name, text: name }))}
            onChoose={(id) => (chosen.value = id)}
          />
        </>
      }
    />
  );
}
