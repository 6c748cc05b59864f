// SPDX-License-Identifier: GPL-3.0-or-later
// What a run's table says at a glance.
import type { Table, TrialCounts } from "../types";

const keys: Record<string, keyof TrialCounts> = {
  waiting: "pending",
  ready: "pending",
  running: "running",
  paused: "paused",
  succeeded: "succeeded",
  nonfinite: "nonfinite",
  failed: "failed",
  stopped: "stopped",
};

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
  return counts;
}
