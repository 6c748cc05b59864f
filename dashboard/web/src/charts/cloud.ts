// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a table as points of a plot: where they are, which of them are in the
// selection, and which one is the nearest to a place.
import { lowerBound } from "../data/columns";
import type { Area } from "./axes";
import type { Marked } from "./panel";
import type { CursorKey } from "./frame";
import { dotStyle, paintDots } from "./dots";
import { paintBeyond } from "./lines";
import type { Scale } from "./scales";
import type { Painter } from "./svg";
import type { Theme } from "./theme";

export interface Cloud {
  readonly count: number;
  readonly rows: Uint32Array; // of the table, rising
  readonly x: Float32Array; // on its scale
  readonly y: Float32Array;
}

// Points of a plot that a cursor can go over, in its order.
export interface PanelPoints {
  readonly count: number;
  x(index: number): number; // on its scale
  y(index: number): number;
  text(index: number): string;
  nearest(x: number, y: number, area: Area): number; // -1: none is near
  row?(index: number): number; // of the table
  // Where a key leads; without it to the next one, or the one before.
  step?(index: number, key: CursorKey): number;
}

// What is far away, or infinite, is beyond the edge.
const bounded = (unit: number) => Math.max(-9, Math.min(10, unit));

// Of the rows that have a place on both scales.
export function makeCloud(
  rows: number,
  x: { scale: Scale; of(row: number): number },
  y: { scale: Scale; of(row: number): number },
): Cloud {
  const cloud = {
    rows: new Uint32Array(rows),
    x: new Float32Array(rows),
    y: new Float32Array(rows),
  };
  let count = 0;
  for (let row = 0; row < rows; row++) {
    const unitX = bounded(x.scale.toUnit(x.of(row)));
    const unitY = bounded(y.scale.toUnit(y.of(row)));
    if (Number.isNaN(unitX) || Number.isNaN(unitY)) continue;
    cloud.rows[count] = row;
    cloud.x[count] = unitX;
    cloud.y[count++] = unitY;
  }
  return { count, ...cloud };
}

export function indexOfRow(cloud: Cloud, row: number): number {
  const index = lowerBound(cloud.rows, cloud.count, row);
  return index < cloud.count && cloud.rows[index] === row ? index : -1;
}

const isInside = (cloud: Cloud, index: number) =>
  cloud.x[index] >= 0 && cloud.x[index] <= 1 && cloud.y[index] >= 0 && cloud.y[index] <= 1;

// ---- drawing ----

export interface CloudColors {
  readonly palette: readonly string[];
  of(row: number): number; // an index into the palette
}

const GHOST_RADIUS = 0.75; // of what a dot among so many has

// Those that the mask has so, in CSS pixels.
function placed(cloud: Cloud, area: Area, mask: Uint8Array, wanted: 0 | 1, colors?: CloudColors) {
  const x = new Float32Array(cloud.count);
  const y = new Float32Array(cloud.count);
  const color = colors && new Uint8Array(cloud.count);
  let count = 0;
  for (let index = 0; index < cloud.count; index++) {
    const row = cloud.rows[index];
    if (mask[row] !== wanted) continue;
    x[count] = area.left + cloud.x[index] * area.width;
    y[count] = area.top + (1 - cloud.y[index]) * area.height;
    if (color && colors) color[count] = colors.of(row);
    count++;
  }
  return { count, x, y, color };
}

// What is filtered out lies in grey under the others.
export function paintCloud(
  painter: Painter,
  cloud: Cloud,
  area: Area,
  look: { mask: Uint8Array; colors: CloudColors; theme: Theme },
): void {
  const { mask, colors, theme } = look;
  const ghosts = placed(cloud, area, mask, 0);
  const { radius, alpha } = dotStyle(ghosts.count, area.width * area.height);
  const style = { radius: radius * GHOST_RADIUS, alpha, palette: [theme.ghost] };
  paintDots(painter, { ...ghosts, ...style });
  const shown = placed(cloud, area, mask, 1, colors);
  const dots = dotStyle(shown.count, area.width * area.height);
  paintDots(painter, { ...shown, ...dots, palette: colors.palette });
  const isShown = (index: number) => mask[cloud.rows[index]] === 1;
  paintBeyond(painter, area, cloud, isShown, (index) => colors.palette[colors.of(cloud.rows[index])]);
}

const RINGS = { hovered: 5.5, focused: 6.5, compared: 5.5 }; // radius in CSS pixels

// Rings around those that are marked, the compared ones in their colours.
export function paintCloudMarks(
  painter: Painter,
  cloud: Cloud,
  area: Area,
  marked: Marked,
  theme: Theme,
): void {
  const ring = (row: number, radius: number, color: string) => {
    const index = row < 0 ? -1 : indexOfRow(cloud, row);
    if (index < 0) return;
    painter.beginPath();
    const x = area.left + cloud.x[index] * area.width;
    const y = area.top + (1 - cloud.y[index]) * area.height;
    painter.arc(x, y, radius, 0, 2 * Math.PI);
    painter.strokeStyle = color;
    painter.stroke();
  };
  painter.save();
  painter.lineWidth = 2.5;
  marked.compared.forEach((row, index) =>
    ring(row, RINGS.compared, theme.series[index % theme.series.length]),
  );
  ring(marked.focused, RINGS.focused, theme.ink);
  painter.lineWidth = 2;
  ring(marked.hovered, RINGS.hovered, theme.ink);
  painter.restore();
}

// ---- finding ----

const CELLS = 96; // along each side
const NEAR_PX = 16;

interface Grid {
  readonly starts: Uint32Array; // [CELLS * CELLS + 1], into items
  readonly items: Uint32Array; // indices into `order`
}

const cellOf = (unit: number) => Math.min(CELLS - 1, Math.max(0, Math.floor(unit * CELLS)));

function makeGrid(count: number, x: (i: number) => number, y: (i: number) => number): Grid {
  const cells = new Uint32Array(count);
  const starts = new Uint32Array(CELLS * CELLS + 1);
  for (let i = 0; i < count; i++) {
    cells[i] = cellOf(y(i)) * CELLS + cellOf(x(i));
    starts[cells[i] + 1]++;
  }
  for (let cell = 0; cell < CELLS * CELLS; cell++) starts[cell + 1] += starts[cell];
  const next = starts.slice();
  const items = new Uint32Array(count);
  for (let i = 0; i < count; i++) items[next[cells[i]]++] = i;
  return { starts, items };
}

// Finds the nearest of points that stay where they are.
export function makeFinder(count: number, xOf: (i: number) => number, yOf: (i: number) => number) {
  let grid: Grid | undefined;
  return (x: number, y: number, area: Area): number => {
    grid ??= makeGrid(count, xOf, yOf);
    const [reachX, reachY] = [NEAR_PX / area.width, NEAR_PX / area.height];
    let best = -1;
    let bestPx2 = NEAR_PX * NEAR_PX;
    for (let row = cellOf(y - reachY); row <= cellOf(y + reachY); row++)
      for (let column = cellOf(x - reachX); column <= cellOf(x + reachX); column++) {
        const cell = row * CELLS + column;
        for (let k = grid.starts[cell]; k < grid.starts[cell + 1]; k++) {
          const i = grid.items[k];
          const px2 = ((xOf(i) - x) * area.width) ** 2 + ((yOf(i) - y) * area.height) ** 2;
          if (px2 < bestPx2) [best, bestPx2] = [i, px2];
        }
      }
    return best;
  };
}

const KEYS = 1 << 16;

// Indices by where they lie from left to right; those that lie at the same place
// keep their order.
function fromLeft(indices: Uint32Array, x: Float32Array): Uint32Array {
  const keyOf = (index: number) => Math.floor(x[index] * (KEYS - 1));
  const starts = new Uint32Array(KEYS + 1);
  for (const index of indices) starts[keyOf(index) + 1]++;
  for (let key = 0; key < KEYS; key++) starts[key + 1] += starts[key];
  const sorted = new Uint32Array(indices.length);
  for (const index of indices) sorted[starts[keyOf(index)]++] = index;
  return sorted;
}

// Of those in the selection that are to be seen, from left to right.
export function cloudPoints(
  cloud: Cloud,
  mask: Uint8Array,
  text: (row: number) => string,
): PanelPoints {
  const inside = new Uint32Array(cloud.count);
  let count = 0;
  for (let index = 0; index < cloud.count; index++)
    if (mask[cloud.rows[index]] !== 0 && isInside(cloud, index)) inside[count++] = index;
  // Made when somebody looks for one, which is not with every news.
  let ordered: Uint32Array | undefined;
  const shown = () => (ordered ??= fromLeft(inside.subarray(0, count), cloud.x));
  const x = (i: number) => cloud.x[shown()[i]];
  const y = (i: number) => cloud.y[shown()[i]];
  const row = (i: number) => cloud.rows[shown()[i]];
  return { count, x, y, row, text: (i) => text(row(i)), nearest: makeFinder(count, x, y) };
}

// Of a few points that are given one by one, in the order that they are given in.
export function listPoints(
  points: readonly { x: number; y: number; text: string; row?: number }[],
): PanelPoints {
  const x = (i: number) => points[i].x;
  const y = (i: number) => points[i].y;
  return {
    count: points.length,
    x,
    y,
    text: (i) => points[i].text,
    row: (i) => points[i].row ?? -1,
    nearest: makeFinder(points.length, x, y),
  };
}
