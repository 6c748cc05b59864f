// SPDX-License-Identifier: GPL-3.0-or-later
// The last value of each metric as a column of a run's table, "metric:NAME": of
// those that the URL names, which are read when it does, and again as trials go on.
import { computed, effect, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { getBlock } from "../api";
import { makeTable } from "../data/columns";
import { listOf } from "../data/lists";
import { sortOf } from "../data/sort";
import type { Column, Table } from "../types";
import { heldFilters, heldText } from "../url";

export const METRIC = "metric:";

const AGAIN_MS = 2000;

type Values = ReadonlyMap<number, number>; // by trial

const heldColumns = heldText("columns");
const heldSort = heldText("sort");

const wantedNames = computed(() => {
  const names = [
    ...listOf(heldColumns.value),
    ...sortOf(heldSort.value).map(({ name }) => name),
    ...heldFilters.value.keys(),
  ].filter((name) => name.startsWith(METRIC));
  return [...new Set(names)].join("\n");
});

async function readLast(run: number, name: string): Promise<Values> {
  const values = new Map<number, number>();
  for (let after: number | undefined = 0; after !== undefined;) {
    const metric = encodeURIComponent(name.slice(METRIC.length));
    const { header, table } = await getBlock(
      `/runs/${run}/metrics?name=${metric}&last=1&after=${after}`,
    );
    const [number, value] = ["number", "value"].map((one) => table.byName.get(one)?.data);
    // Points come by step: of a file, which has all of them, the last one stays.
    for (let row = 0; row < table.rows; row++)
      values.set(number?.[row] ?? 0, value?.[row] ?? NaN);
    after = header.next;
  }
  return values;
}

function columnOf(name: string, table: Table, values: Values | undefined): Column {
  const numbers = table.byName.get("number")?.data ?? [];
  const data = Float64Array.from({ length: table.rows }, (_, row) =>
    values?.get(numbers[row]) ?? NaN);
  const isNan = (row: number) => values?.has(numbers[row]) ?? false;
  return { name, kind: "real", data, words: [], none: NaN, isNan };
}

export interface MetricColumns {
  readonly table: ReadonlySignal<Table>;
  stop(): void;
}

export function withMetrics(run: number, table: ReadonlySignal<Table>): MetricColumns {
  const read = signal<ReadonlyMap<string, Values>>(new Map());
  let timer = 0;
  let isAsking = false;
  const ask = async (names: readonly string[]) => {
    isAsking = true;
    const { seq } = table.peek();
    for (const name of names) {
      const values = await readLast(run, name).catch(() => undefined); // again later
      if (values !== undefined) read.value = new Map(read.peek()).set(name, values);
    }
    isAsking = false;
    return seq;
  };
  const stop = effect(() => {
    const names = wantedNames.value === "" ? [] : wantedNames.value.split("\n");
    let seq = -1;
    const look = () => {
      const isSeen = table.peek().seq === seq && names.every((name) => read.peek().has(name));
      if (isAsking || isSeen) return;
      void ask(names).then((at) => (seq = at));
    };
    clearInterval(timer);
    if (names.length === 0) return;
    look();
    timer = setInterval(look, AGAIN_MS) as unknown as number;
  });
  return {
    table: computed(() => {
      const base = table.value;
      if (wantedNames.value === "") return base;
      const columns = wantedNames.value
        .split("\n")
        .map((name) => columnOf(name, base, read.value.get(name)));
      return makeTable([...base.columns, ...columns], base.rows, base.seq, base.rowSeqs);
    }),
    stop: () => {
      stop();
      clearInterval(timer);
    },
  };
}
