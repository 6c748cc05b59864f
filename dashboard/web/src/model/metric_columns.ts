// SPDX-License-Identifier: GPL-3.0-or-later
// What each trial's curve of a metric comes to, as columns of a run's table: the
// last value "metric:NAME", and "metric.min:NAME", "metric.max:NAME" and (of an
// objective) "metric.best:NAME". Those that the URL names are read, and as trials go
// on, those of trials that changed.
import { computed, effect, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { getBlock, getJson, isArchive } from "../api";
import { makeTable, rowsSince } from "../data/columns";
import { rangesOf, rangesText } from "../data/curves";
import { listOf } from "../data/lists";
import type { Column, Objective, Table } from "../types";
import { query } from "../url";

const AGAIN_MS = 2000;
const NAME = /^metric(?:\.(min|max|best))?:(.+)$/s;

type What = "last" | "min" | "max" | "best";

export const metricColumn = (metric: string, what: What = "last") =>
  `metric${what === "last" ? "" : `.${what}`}:${metric}`;

export const isMetric = (name: string) => NAME.test(name);

const partsOf = (name: string): { metric: string; what: What } => {
  const [, what = "last", metric = ""] = NAME.exec(name) ?? [];
  return { metric, what: what as What };
};

// All that there can be of these metrics, the last values first.
export function metricColumns(metrics: readonly string[], objectives: readonly Objective[]) {
  const isGoal = (metric: string) => objectives.some((one) => one.metric === metric);
  const ends: readonly What[] = ["min", "max"];
  return [
    ...metrics.map((metric) => metricColumn(metric)),
    ...metrics.flatMap((metric) =>
      (isGoal(metric) ? ["best" as const, ...ends] : ends).map((what) => metricColumn(metric, what)),
    ),
  ];
}

// ---- reading ----

interface Summary {
  readonly last: number;
  readonly min: number;
  readonly max: number;
}

type Summaries = ReadonlyMap<number, Summary>; // by trial

// Points come by step. NaN has no place in an order.
function fold(old: Summary | undefined, value: number): Summary {
  if (old === undefined) return { last: value, min: value, max: value };
  if (Number.isNaN(value)) return { ...old, last: value };
  const isFirst = Number.isNaN(old.min);
  return {
    last: value,
    min: isFirst ? value : Math.min(old.min, value),
    max: isFirst ? value : Math.max(old.max, value),
  };
}

// Of these trials, or (null) of all. A file has no summaries, and all points.
async function read(run: number, metric: string, trials: readonly number[] | null) {
  const values = new Map<number, Summary>();
  const what = isArchive() ? "metrics" : "metric_summary";
  const some = trials === null ? "" : `&trials=${rangesText(rangesOf(trials))}`;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { header, table } = await getBlock(
      `/runs/${run}/${what}?name=${encodeURIComponent(metric)}${some}&after=${after}`,
    );
    const of = (name: string, row: number) => table.byName.get(name)?.data[row] ?? NaN;
    for (let row = 0; row < table.rows; row++) {
      const number = of("number", row);
      values.set(
        number,
        isArchive()
          ? fold(values.get(number), of("value", row))
          : { last: of("last", row), min: of("min", row), max: of("max", row) },
      );
    }
    after = header.next;
  }
  return values;
}

// Trials that changed since the table had that seq, and those that run: their
// curves grow without a change of theirs.
function changedTrials(table: Table, seq: number): number[] | null {
  const rows = rowsSince(table, seq);
  const numbers = table.byName.get("number")?.data;
  const state = table.byName.get("state");
  if (rows === null || numbers === undefined) return null;
  const changed = new Set(Array.from(rows, (row) => numbers[row]));
  const running = state?.words.indexOf("running") ?? -1;
  for (let row = 0; row < table.rows; row++)
    if (state?.data[row] === running) changed.add(numbers[row]);
  return [...changed].sort((a, b) => a - b);
}

// ---- columns ----

const wanted = computed(() => {
  const names = [...query.value].flatMap(([key, text]) => [
    key.replace(/^f\./, ""),
    text,
    ...listOf(text).map((word) => word.replace(/^-/, "")),
  ]);
  return [...new Set(names.filter(isMetric))].join("\n");
});

function columnOf(
  name: string,
  table: Table,
  values: Summaries | undefined,
  objectives: readonly Objective[],
): Column {
  const numbers = table.byName.get("number")?.data ?? [];
  const { metric, what } = partsOf(name);
  const goal = objectives.find((one) => one.metric === metric)?.goal;
  const part = what === "best" ? (goal === "maximize" ? "max" : "min") : what;
  const data = new Float64Array(table.rows);
  for (let row = 0; row < table.rows; row++) data[row] = values?.get(numbers[row])?.[part] ?? NaN;
  const isNan = (row: number) => values?.has(numbers[row]) ?? false;
  return { name, kind: "real", data, words: [], none: NaN, isNan };
}

export interface MetricColumns {
  readonly table: ReadonlySignal<Table>;
  readonly names: { readonly value: readonly string[] }; // of all metrics; read when asked for
  readNames(): void; // there may be others
  stop(): void;
}

function makeNames(run: number) {
  const names = signal<readonly string[]>([]);
  let isAsked = false;
  const ask = () =>
    void getJson<string[]>(`/runs/${run}/metric_names`)
      .then((found) => (names.value = found), () => undefined); // the next time
  return {
    get value() {
      if (!isAsked) ask();
      isAsked = true;
      return names.value;
    },
    again: () => isAsked && ask(),
  };
}

export function withMetrics(
  run: number,
  table: ReadonlySignal<Table>,
  objectives: readonly Objective[],
): MetricColumns {
  const known = signal<ReadonlyMap<string, Summaries>>(new Map()); // by metric
  const names = makeNames(run);
  let timer = 0;
  let isAsking = false;
  const seqs = new Map<string, number>(); // of the table, when they were read
  const ask = async (metrics: readonly string[]) => {
    isAsking = true;
    for (const metric of metrics) {
      const now = table.peek();
      const old = known.peek().get(metric);
      const trials = old === undefined || isArchive()
        ? null : changedTrials(now, seqs.get(metric) ?? 0);
      const values = trials?.length === 0
        ? new Map() : await read(run, metric, trials).catch(() => undefined); // again later
      if (values === undefined) continue;
      seqs.set(metric, now.seq);
      if (values.size > 0 || old === undefined)
        known.value = new Map(known.peek()).set(
          metric,
          trials === null ? values : new Map([...(old ?? []), ...values]),
        );
    }
    isAsking = false;
  };
  const stop = effect(() => {
    const list = wanted.value === "" ? [] : wanted.value.split("\n");
    const metrics = [...new Set(list.map((name) => partsOf(name).metric))];
    const look = () => {
      const { seq } = table.peek();
      if (!isAsking && metrics.some((metric) => seqs.get(metric) !== seq)) void ask(metrics);
    };
    clearInterval(timer);
    if (metrics.length === 0) return;
    look();
    timer = setInterval(look, AGAIN_MS) as unknown as number;
  });
  return {
    table: computed(() => {
      const base = table.value;
      if (wanted.value === "") return base;
      const columns = wanted.value.split("\n").map((name) =>
        columnOf(name, base, known.value.get(partsOf(name).metric), objectives));
      return makeTable([...base.columns, ...columns], base.rows, base.seq, base.rowSeqs);
    }),
    names,
    readNames: names.again,
    stop: () => {
      stop();
      clearInterval(timer);
    },
  };
}
