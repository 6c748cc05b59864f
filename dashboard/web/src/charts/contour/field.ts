// SPDX-License-Identifier: GPL-3.0-or-later
// A surface from values that lie scattered: at each place the mean of those near
// it, the nearer the more it counts (a Gaussian kernel: Nadaraya 1964, Watson
// 1964). Where none is near, nothing is known and nothing is said.
import type { Cloud } from "../cloud";
import type { Scale } from "../scales";

export interface Field {
  readonly columns: number;
  readonly rows: number;
  readonly values: Float64Array; // [rows][columns], from below; NaN: not known
  readonly known: number; // of how many values it is made
}

const BANDS_MAX = 10_000;
const CELLS = 80; // along a scale of numbers
const WIDTH_MIN = 0.022; // of the kernel: its standard deviation, as part of a scale
const WIDTH_MAX = 0.09;
const WIDTH_OF_ONE = 0.3; // shrinks with the fourth root of their number
const REACH = 1.35; // standard deviations from the nearest one: farther is not near

const cellsOf = (scale: Scale) => (scale.kind === "category" ? scale.ticks(BANDS_MAX).length : CELLS);

// Weights of the kernel from its middle outwards; bands are not mixed.
function kernel(scale: Scale, width: number): Float64Array {
  if (scale.kind === "category") return Float64Array.of(1);
  const cells = width * CELLS;
  return Float64Array.from({ length: Math.ceil(3 * cells) + 1 }, (_, i) =>
    Math.exp(-(i * i) / (2 * cells * cells)));
}

// Along lines of `count` cells that are `stride` apart.
function blur(
  cells: Float64Array,
  weights: Float64Array,
  line: { count: number; stride: number; first: number },
  out: Float64Array,
): void {
  for (let i = 0; i < line.count; i++) {
    let sum = 0;
    const from = Math.max(0, i - weights.length + 1);
    const to = Math.min(line.count - 1, i + weights.length - 1);
    for (let k = from; k <= to; k++)
      sum += cells[line.first + k * line.stride] * weights[Math.abs(i - k)];
    out[line.first + i * line.stride] = sum;
  }
}

function blurBoth(cells: Float64Array, columns: number, rows: number, kernels: Float64Array[]) {
  const across = new Float64Array(cells.length);
  const both = new Float64Array(cells.length);
  for (let row = 0; row < rows; row++)
    blur(cells, kernels[0], { count: columns, stride: 1, first: row * columns }, across);
  for (let column = 0; column < columns; column++)
    blur(across, kernels[1], { count: rows, stride: columns, first: column }, both);
  return both;
}

// Of the rows of a cloud that pass the mask and have a value.
export function makeField(
  cloud: Cloud,
  scales: { x: Scale; y: Scale },
  mask: Uint8Array,
  valueOf: (row: number) => number,
): Field {
  const [columns, rows] = [cellsOf(scales.x), cellsOf(scales.y)];
  const sums = new Float64Array(columns * rows);
  const counts = new Float64Array(columns * rows);
  let known = 0;
  for (let i = 0; i < cloud.count; i++) {
    const [x, y, value] = [cloud.x[i], cloud.y[i], valueOf(cloud.rows[i])];
    if (mask[cloud.rows[i]] === 0 || !Number.isFinite(value)) continue;
    if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) continue;
    const column = Math.min(columns - 1, Math.floor(x * columns));
    const cell = Math.min(rows - 1, Math.floor(y * rows)) * columns + column;
    sums[cell] += value;
    counts[cell]++;
    known++;
  }
  const width = Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, WIDTH_OF_ONE / Math.max(1, known) ** 0.25));
  const kernels = [kernel(scales.x, width), kernel(scales.y, width)];
  const weight = blurBoth(counts, columns, rows, kernels);
  const values = blurBoth(sums, columns, rows, kernels);
  const weightMin = Math.exp(-(REACH * REACH) / 2);
  for (let cell = 0; cell < values.length; cell++)
    values[cell] = weight[cell] >= weightMin ? values[cell] / weight[cell] : NaN;
  return { columns, rows, values, known };
}

// The part of all places that is known.
export function coverage({ values }: Field): number {
  let known = 0;
  for (const value of values) if (!Number.isNaN(value)) known++;
  return known / values.length;
}

// Where it is lowest or highest, on the scales; null where nothing is known.
export function bestPlace(field: Field, isLess: boolean): { x: number; y: number; value: number } | null {
  let best = -1;
  field.values.forEach((value, cell) => {
    if (Number.isNaN(value)) return;
    if (best < 0 || (isLess ? value < field.values[best] : value > field.values[best])) best = cell;
  });
  if (best < 0) return null;
  return {
    x: ((best % field.columns) + 0.5) / field.columns,
    y: (Math.floor(best / field.columns) + 0.5) / field.rows,
    value: field.values[best],
  };
}
