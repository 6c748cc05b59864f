// SPDX-License-Identifier: GPL-3.0-or-later
// Which rows no other row is better than in all objectives at once.

// costs[objective][row]: less is better. Of `rows`, all of whose costs are
// finite, those that none dominates, by the first cost rising. Two and three
// objectives: a sweep along the first, O(n log n) but for the moves within the
// staircase (H. T. Kung, F. Luccio, F. P. Preparata: On finding the maxima of a
// set of vectors, 1975); more: O(n * front).
export function paretoRows(costs: readonly Float64Array[], rows: Uint32Array): number[] {
  const order = rows.slice().sort((a, b) => {
    for (const cost of costs) if (cost[a] !== cost[b]) return cost[a] - cost[b];
    return a - b;
  });
  if (costs.length <= 3) return sweep(costs, order);
  const front: number[] = [];
  for (const row of order)
    if (!front.some((better) => dominates(costs, better, row))) front.push(row);
  return front;
}

// Not worse in any, better in one. (`row` comes behind `better` in the order.)
function dominates(costs: readonly Float64Array[], better: number, row: number): boolean {
  return (
    costs.every((cost) => cost[better] <= cost[row]) &&
    costs.some((cost) => cost[better] < cost[row])
  );
}

// The staircase of those before, in the second and third objective: seconds
// rise, thirds fall. A row that lies on or above it is dominated, but for the
// very same costs in all.
function sweep(costs: readonly Float64Array[], order: Uint32Array): number[] {
  const [first, second = first, third] = costs;
  const heightOf = (row: number) => (third === undefined ? 0 : third[row]);
  const isSame = (a: number, b: number) => costs.every((cost) => cost[a] === cost[b]);
  const stairs: number[] = [];
  const front: number[] = [];
  for (const row of order) {
    const at = stepsUpTo(stairs, second, second[row]);
    const below = at > 0 ? stairs[at - 1] : -1;
    const isBehind = below >= 0 && heightOf(below) <= heightOf(row);
    if (isBehind && !isSame(front[front.length - 1], row)) continue;
    front.push(row);
    if (isBehind) continue;
    let end = at;
    while (end < stairs.length && heightOf(stairs[end]) >= heightOf(row)) end++;
    const isReplaced = below >= 0 && second[below] === second[row];
    stairs.splice(isReplaced ? at - 1 : at, end - at + (isReplaced ? 1 : 0), row);
  }
  return front;
}

// How many of the stairs have a second cost of at most this one.
function stepsUpTo(stairs: readonly number[], second: Float64Array, cost: number): number {
  let low = 0;
  let high = stairs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (second[stairs[middle]] <= cost) low = middle + 1;
    else high = middle;
  }
  return low;
}
