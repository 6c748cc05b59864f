// SPDX-License-Identifier: GPL-3.0-or-later
// Learning curves of groups of trials: their mean, and a band of one standard
// deviation around it.
import type { Column, RunModel, Table } from "../types";
import type { Area } from "./axes";
import type { Line } from "./curve_lines";
import type { Choice } from "./controls";
import { columnTitle, numberOf } from "./rows";
import type { Scale } from "./scales";
import type { Painter } from "./svg";

export interface Band {
  readonly name: string;
  readonly trials: number;
  readonly x: readonly number[]; // rising
  readonly mean: readonly number[];
  readonly spread: readonly number[]; // the standard deviation; 0 of one value
  readonly count: readonly number[]; // of values at that place
}

const GRID = 120; // places of an axis on which curves have no places in common
const BAND_ALPHA = 0.16;

export const groupChoices = (run: RunModel): readonly Choice[] => [
  { id: "", text: "none" },
  { id: "*", text: "all trials" },
  ...(run.repeats > 1 ? [{ id: "setting", text: "setting" }] : []),
  ...run.table.value.columns
    .filter(({ kind }) => kind === "words")
    .map(({ name }) => ({ id: name, text: columnTitle(name) })),
];

// What a row's group is called; `by` is one of those choices.
export function groupOf(run: RunModel, table: Table, by: string): (row: number) => string {
  if (by === "*") return () => "all trials";
  if (by === "setting")
    return (row) => `setting ${Math.ceil(numberOf(table, row) / run.repeats)}`;
  const column: Column | undefined = table.byName.get(by);
  return (row) => column?.words[column.data[row]] ?? "none";
}

// The curve at the places of a grid from its first place to its last: what it was
// then is what it had reported last.
function onGrid({ x, shown }: Line, grid: readonly number[]): [number, number][] {
  const points: [number, number][] = [];
  let at = -1;
  for (const place of grid) {
    while (at + 1 < x.length && x[at + 1] <= place) at++;
    if (at >= 0 && place <= x[x.length - 1]) points.push([place, shown[at]]);
  }
  return points;
}

const gridOf = (lines: readonly Line[]) => {
  const last = lines.reduce((most, { x }) => Math.max(most, x[x.length - 1] ?? 0), 0);
  return Array.from({ length: GRID + 1 }, (_, i) => (i / GRID) * last);
};

// Numbers are added as their differences from the mean so far (Welford 1962).
interface Sum {
  count: number;
  mean: number;
  squares: number;
}

function add(sums: Map<number, Sum>, place: number, value: number): void {
  if (!Number.isFinite(value)) return;
  const sum = sums.get(place) ?? { count: 0, mean: 0, squares: 0 };
  const off = value - sum.mean;
  sum.count++;
  sum.mean += off / sum.count;
  sum.squares += off * (value - sum.mean);
  sums.set(place, sum);
}

// The groups with the most trials come first.
export function bandsOf(
  lines: readonly Line[],
  group: (row: number) => string,
  isAligned: boolean, // curves have their places in common
): Band[] {
  const grid = isAligned ? [] : gridOf(lines);
  const groups = new Map<string, { trials: number; sums: Map<number, Sum> }>();
  for (const line of lines) {
    const name = group(line.row);
    const one = groups.get(name) ?? { trials: 0, sums: new Map() };
    groups.set(name, one);
    one.trials++;
    if (isAligned) line.x.forEach((place, i) => add(one.sums, place, line.shown[i]));
    else for (const [place, value] of onGrid(line, grid)) add(one.sums, place, value);
  }
  return [...groups]
    .map(([name, { trials, sums }]) => {
      const points = [...sums].sort(([a], [b]) => a - b);
      return {
        name,
        trials,
        x: points.map(([place]) => place),
        mean: points.map(([, { mean }]) => mean),
        spread: points.map(([, { count, squares }]) =>
          count > 1 ? Math.sqrt(squares / (count - 1)) : 0),
        count: points.map(([, { count }]) => count),
      };
    })
    .filter(({ x }) => x.length > 0)
    .sort((a, b) => b.trials - a.trials);
}

export function paintBand(
  painter: Painter,
  area: Area,
  { x, mean, spread }: Band,
  scales: { x: Scale; y: Scale },
  color: string,
): void {
  const pixelX = (i: number) => area.left + scales.x.toUnit(x[i]) * area.width;
  const pixelY = (i: number, sign: number) => {
    const unit = scales.y.toUnit(mean[i] + sign * spread[i]);
    const floor = Number.isFinite(unit) ? Math.max(-1, Math.min(2, unit)) : -1; // log of 0
    return area.top + (1 - floor) * area.height;
  };
  const shown = x.map((_, i) => i).filter((i) => Number.isFinite(scales.x.toUnit(x[i])));
  if (shown.length === 0) return;
  painter.save();
  painter.fillStyle = color;
  painter.globalAlpha = BAND_ALPHA;
  painter.beginPath();
  for (const i of shown) painter.lineTo(pixelX(i), pixelY(i, 1));
  for (const i of shown.toReversed()) painter.lineTo(pixelX(i), pixelY(i, -1));
  painter.fill();
  painter.restore();
}
