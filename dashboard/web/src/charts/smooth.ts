// SPDX-License-Identifier: GPL-3.0-or-later

// An exponential moving average of what a curve says, as if it had begun with
// its first value always (weights that sum to one: D. P. Kingma, J. Ba: Adam,
// 2015, section 3). share: how much of the average stays at each step. What is
// not finite stays as it is and does not count.
export function smoothed(values: readonly number[], share: number): readonly number[] {
  if (share === 0) return values;
  let sum = 0;
  let weight = 0;
  return values.map((value) => {
    if (!Number.isFinite(value)) return value;
    sum = share * sum + (1 - share) * value;
    weight = share * weight + (1 - share);
    return sum / weight;
  });
}
