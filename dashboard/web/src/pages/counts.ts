// SPDX-License-Identifier: GPL-3.0-or-later
// What a run's table says at a glance.
import type { Table, TrialCounts } from "../types";

const keys: Record<string, keyof TrialCounts> = {
  waiting: "pending",
  ready: "pending",
  running: "running",
  paused: "paused",
  succeeded: "succeeded",
  failed: "failed",
  stopped: "stopped",
};

// Of those that succeeded: with a value of an objective that is nan or infinite.
function countNonfinite(table: Table, mask?: Uint8Array): number {
  const values = table.columns.filter(({ name }) => name.startsWith("value:"));
  const state = table.byName.get("state");
  const succeeded = state?.words.indexOf("succeeded") ?? -1;
  let count = 0;
  for (let row = 0; row < table.rows; row++)
    if (state?.data[row] === succeeded && mask?.[row] !== 0)
      count += Number(values.some(({ data }) => !Number.isFinite(data[row])));
  return count;
}

// How many rows are in which state; of those in a mask where there is one.
export function countStates(table: Table, mask?: Uint8Array): TrialCounts {
  const state = table.byName.get("state");
  const byWord = new Uint32Array(256);
  for (let row = 0; row < table.rows; row++)
    if (state !== undefined && mask?.[row] !== 0) byWord[state.data[row]]++;
  const counts: TrialCounts = {
    all: table.rows, succeeded: 0, failed: 0, running: 0, pending: 0, paused: 0, stopped: 0, other: 0,
    nonfinite: 0,
  };
  state?.words.forEach((word, index) => (counts[keys[word] ?? "other"] += byWord[index]));
  counts.nonfinite = countNonfinite(table, mask);
  counts.succeeded -= counts.nonfinite;
  return counts;
}
