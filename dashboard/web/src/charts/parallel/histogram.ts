// SPDX-License-Identifier: GPL-3.0-or-later
// How many rows go from each place of one axis to each of the next, kept up to
// date as rows come into the selection and leave it: what is drawn costs as much
// as there are cells, not as there are rows.

export const BINS = 128; // an axis; a power of two
export const CHANNELS = 3; // of a cell: rows, weight, weight x rank
const PLACE_BITS = 16;
const BIN_SHIFT = PLACE_BITS - Math.log2(BINS);

export const NO_RANK = 0; // of a row without a value
export const RANKS = 256; // 1 is the worst, 255 the best

export interface PairHistogram {
  readonly left: string; // the axes'
  readonly right: string;
  readonly cells: Float64Array; // [BINS][BINS][CHANNELS]; whole numbers
}

// Where many lines cross, the colour is that of their mean, and good ones count
// for more: so that they are not lost among the many.
const weights = Uint8Array.from({ length: RANKS }, (_, rank) =>
  rank === NO_RANK ? 0 : Math.round(2 + 20 * (rank / (RANKS - 1)) ** 8),
);

export function makeHistogram(left: string, right: string): PairHistogram {
  return { left, right, cells: new Float64Array(BINS * BINS * CHANNELS) };
}

// The rows of `list` come in (sign 1) or leave (-1); null: all of them.
export function countRows(
  { cells }: PairHistogram,
  from: Uint16Array,
  to: Uint16Array,
  ranks: Uint8Array,
  list: Uint32Array | null,
  sign: 1 | -1,
): void {
  const count = list === null ? ranks.length : list.length;
  for (let i = 0; i < count; i++) {
    const row = list === null ? i : list[i];
    const rank = ranks[row];
    const weight = weights[rank] * sign;
    const bin = ((from[row] >> BIN_SHIFT) * BINS + (to[row] >> BIN_SHIFT)) * CHANNELS;
    cells[bin] += sign;
    cells[bin + 1] += weight;
    cells[bin + 2] += weight * rank;
  }
}

// The rows in which two masks of the same length differ: those that came, and
// those that left.
export function maskChanges(before: Uint8Array, after: Uint8Array): [Uint32Array, Uint32Array] {
  const came = new Uint32Array(after.length);
  const left = new Uint32Array(after.length);
  let cameCount = 0;
  let leftCount = 0;
  for (let row = 0; row < after.length; row++) {
    if (before[row] === after[row]) continue;
    if (after[row]) came[cameCount++] = row;
    else left[leftCount++] = row;
  }
  return [came.subarray(0, cameCount), left.subarray(0, leftCount)];
}

// The values at which one rank ends and the next begins, of those that are
// finite: evenly between the least and the greatest, so that however few there
// are, the worst has the first rank and the best the last.
export function rankEdges(values: Float64Array): Float64Array {
  const sorted = values.filter(Number.isFinite).sort();
  return Float64Array.from({ length: RANKS - 2 }, (_, i) => {
    const place = ((i + 0.5) * (sorted.length - 1)) / (RANKS - 2);
    return sorted[Math.floor(place)] / 2 + sorted[Math.ceil(place)] / 2;
  });
}

// A value's rank between the edges: 255 is the best, and all that are equal to it.
export function rankOf(value: number, edges: Float64Array, isLess: boolean): number {
  if (!Number.isFinite(value)) return NO_RANK;
  let low = 0;
  for (let step = 128; step > 0; step >>= 1) {
    const edge = edges[low + step - 1];
    if (isLess ? edge < value : edge <= value) low += step;
  }
  return isLess ? RANKS - 1 - low : low + 1;
}

// Which of so many colours a rank has: the first one is of rows without a value.
export const classOf = (rank: number, classes: number) =>
  rank && Math.min(classes - 1, 1 + Math.floor(((rank - 1) * (classes - 1)) / (RANKS - 1)));
