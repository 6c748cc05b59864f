// SPDX-License-Identifier: GPL-3.0-or-later
// What a run's table says at a glance.
import { countedStates } from "../shell/states";
import type { Table, TrialCounts } from "../types";

// Of states that are counted under the word of another, or of several.
const groups: Record<string, string> = {
  waiting: "pending",
  ready: "pending",
  unknown: "interrupted",
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
  const counts: Record<string, number> = Object.fromEntries(countedStates.map((word) => [word, 0]));
  state?.words.forEach((word, index) => (counts[groups[word] ?? word] += byWord[index]));
  return {
    ...(counts as Record<(typeof countedStates)[number], number>),
    all: table.rows,
    cached: countCached(table, mask),
  };
}
