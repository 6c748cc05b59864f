// SPDX-License-Identifier: GPL-3.0-or-later
// The middle one of numbers, without putting all of them in order.

// The number that would stand at a place if they were in order; orders them as
// far as it must (Hoare's selection).
export function select(numbers: Float64Array, place: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const pivot = numbers[(low + high) >>> 1];
    let i = low;
    let j = high;
    while (i <= j) {
      while (numbers[i] < pivot) i++;
      while (numbers[j] > pivot) j--;
      if (i > j) break;
      [numbers[i], numbers[j]] = [numbers[j], numbers[i]];
      i++;
      j--;
    }
    if (place <= j) high = j;
    else if (place >= i) low = i;
    else break;
  }
  return numbers[place];
}

// Of finite numbers, which it puts into another order; NaN of none.
export function medianOf(numbers: Float64Array): number {
  const { length } = numbers;
  if (length === 0) return NaN;
  const upper = select(numbers, length >>> 1);
  if (length % 2 === 1) return upper;
  let lower = -Infinity; // the largest of those before it
  for (let i = 0; i < length >>> 1; i++) lower = Math.max(lower, numbers[i]);
  return (lower + upper) / 2;
}
