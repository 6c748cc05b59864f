// SPDX-License-Identifier: GPL-3.0-or-later
// Two groups of rows, column by column: those that are chosen, and the rest.
import type { Scale } from "../charts/scales";
import { medianOf } from "../data/median";
import type { Column } from "../types";

const BINS = 40;

export interface Group {
  readonly count: number; // rows whose number (or word) is known
  readonly unknown: number;
  readonly median: number; // NaN: none, or words
  readonly bins: Float64Array; // shares; of words one a word
}

export interface Groups {
  readonly column: Column;
  readonly chosen: Group;
  readonly rest: Group;
  // Half of the sum of the differences between their shares: 0 they lie alike,
  // 1 they have nothing in common (the total variation distance).
  readonly distance: number;
}

function groupOf(column: Column, scale: Scale, mask: Uint8Array, wanted: number): Group {
  const isWords = column.kind === "words";
  const bins = new Float64Array(isWords ? column.words.length : BINS);
  const numbers = new Float64Array(mask.length);
  let count = 0;
  let unknown = 0;
  for (let row = 0; row < mask.length; row++) {
    if (mask[row] !== wanted) continue;
    const number = column.data[row];
    if (Number.isNaN(number) || (column.kind !== "real" && number === column.none)) {
      unknown++;
      continue;
    }
    numbers[count++] = number;
    const unit = isWords ? 0 : scale.toUnit(number);
    const bin = isWords ? number : Math.max(0, Math.min(Math.floor(unit * BINS), BINS - 1));
    if (Number.isFinite(bin)) bins[bin]++;
  }
  const median = isWords ? NaN : medianOf(numbers.subarray(0, count));
  return { count, unknown, median, bins: bins.map((number) => number / Math.max(count, 1)) };
}

export function groupsOf(column: Column, scale: Scale, mask: Uint8Array): Groups {
  const chosen = groupOf(column, scale, mask, 1);
  const rest = groupOf(column, scale, mask, 0);
  let sum = 0;
  chosen.bins.forEach((share, bin) => (sum += Math.abs(share - rest.bins[bin])));
  return { column, chosen, rest, distance: chosen.count > 0 && rest.count > 0 ? sum / 2 : 0 };
}
