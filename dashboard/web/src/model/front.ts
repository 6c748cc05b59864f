// SPDX-License-Identifier: GPL-3.0-or-later
// How good a Pareto front is as a whole, as `smtune show` prints it
// (strategies/history/hypervolume.h).

const BEHIND = 0.1; // of the front's range, where the volume ends
const POINTS_MAX = 2000; // more take too long here

type Point = readonly number[]; // a cost for each objective: less is better

function referenceOf(points: readonly Point[]): number[] {
  return points[0].map((_, objective) => {
    const costs = points.map((point) => point[objective]);
    const [best, worst] = [Math.min(...costs), Math.max(...costs)];
    return worst + BEHIND * (worst > best ? worst - best : 1);
  });
}

// Points of two objectives, none of which dominates another, by the first one.
function area(points: readonly Point[], reference: readonly number[]): number {
  let sum = 0;
  points.forEach(([x, y], i) => {
    const next = points[i + 1]?.[0] ?? reference[0];
    sum += (next - x) * (reference[1] - y);
  });
  return sum;
}

// The staircase with one more point: those that it dominates go.
function withPoint(points: readonly Point[], [x, y]: Point): Point[] {
  if (points.some((one) => one[0] <= x && one[1] <= y)) return [...points];
  const kept = points.filter((one) => one[0] < x || one[1] < y);
  const place = kept.findIndex((one) => one[0] > x);
  return place < 0 ? [...kept, [x, y]] : [...kept.slice(0, place), [x, y], ...kept.slice(place)];
}

// Slices along the last objective. NaN: there is none, or it would take long.
export function hypervolume(points: readonly Point[]): number {
  const objectives = points[0]?.length ?? 0;
  if (objectives < 2 || objectives > 3 || points.length > POINTS_MAX) return NaN;
  const reference = referenceOf(points);
  if (objectives === 2)
    return area(points.reduce<Point[]>((steps, point) => withPoint(steps, point), []), reference);
  const sorted = points.toSorted((a, b) => a[2] - b[2]);
  let steps: Point[] = [];
  let sum = 0;
  sorted.forEach((point, i) => {
    steps = withPoint(steps, point);
    sum += area(steps, reference) * ((sorted[i + 1]?.[2] ?? reference[2]) - point[2]);
  });
  return sum;
}
