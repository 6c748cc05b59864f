// SPDX-License-Identifier: GPL-3.0-or-later
// The trials that are to be compared, in the order that they were chosen; runs.
import { computed } from "@preact/signals";
import { rowOf } from "../data/columns";
import type { RunModel } from "../types";

export const RUNS_MAX = 40; // that are compared at once

export function toggleCompared(run: RunModel, number: number): void {
  const now = run.compared.peek();
  run.compared.value = now.includes(number)
    ? now.filter((one) => one !== number)
    : [...now, number];
}

// The same run for a view of these trials alone, whatever the filters are.
export function withOnly(run: RunModel, numbers: () => readonly number[]): RunModel {
  const selection = computed(() => {
    const table = run.table.value;
    const rows = numbers()
      .map((number) => rowOf(table, number))
      .filter((row) => row >= 0);
    const mask = new Uint8Array(table.rows);
    for (const row of rows) mask[row] = 1;
    return { mask, count: rows.length };
  });
  return { ...run, selection };
}
