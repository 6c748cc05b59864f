// SPDX-License-Identifier: GPL-3.0-or-later
// Spearman's rank correlation (C. Spearman: The proof and measurement of
// association between two things, 1904), ties at their mean rank.

import { orderOf } from "../data/sort";

// The ranks of numbers, 1 for the least.
export function ranks(values: Float64Array): Float64Array {
  const order = orderOf(values);
  const result = new Float64Array(values.length);
  for (let from = 0, end = 0; from < order.length; from = end) {
    const value = values[order[from]];
    for (end = from + 1; end < order.length && values[order[end]] === value; ) end++;
    const mean = (from + 1 + end) / 2;
    for (let place = from; place < end; place++) result[order[place]] = mean;
  }
  return result;
}

// Of the ranks of two things: -1 to 1; NaN where one of both does not vary.
export function rankCorrelation(x: Float64Array, y: Float64Array): number {
  const mean = (x.length + 1) / 2; // of ranks, whatever ties there are
  let xy = 0;
  let xx = 0;
  let yy = 0;
  for (let i = 0; i < x.length; i++) {
    const dx = x[i] - mean;
    const dy = y[i] - mean;
    xy += dx * dy;
    xx += dx * dx;
    yy += dy * dy;
  }
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : NaN;
}
