// SPDX-License-Identifier: GPL-3.0-or-later
// What a run's table says at a glance.
import type { Table, TrialCounts } from "../types";

const keys: Record<string, keyof TrialCounts> = {
  waiting: "pending",
  ready: "pending",
  running: "running",
  interrupted: "interrupted",
  unknown: "interrupted",
  paused: "paused",
  succeeded: "succeeded",
  nonfinite: "nonfinite",
  failed: "failed",
  stopped: "stopped",
};

// Of those that succeeded: cache hits.
function countCached(table: Table, mask?: Uint8Array): number {
  const cached = table.byName.get("cached");
  let count = 0;
  for (let row = 0; cached !== undefined && row < table.rows; row++)
    if (mask?.[row] !== 0) count += cached.data[row] > 0 ? 1 : 0;
  return count;
}

// How many rows are in which state; of those in a mask where there is one.
export function countStates(table: Table, mask?: Uint8Array): TrialCounts {
  const state = table.byName.get("state");
  const byWord = new Uint32Array(256);
  for (let row = 0; row < table.rows; row++)
    if (state !== undefined && mask?.[row] !== 0) byWord[state.data[row]]++;
  const counts: TrialCounts = {
    all: table.rows, succeeded: 0, failed: 0, running: 0, interrupted: 0, pending: 0, paused: 0, stopped: 0,
    other: 0, nonfinite: 0, cached: countCached(table, mask),
  };
  state?.words.forEach((word, index) => (counts[keys[word] ?? "other"] += byWord[index]));
  return counts;
}
