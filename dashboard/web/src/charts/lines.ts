// SPDX-License-Identifier: GPL-3.0-or-later
// Lines and marks on a plot.
import type { Area } from "./axes";
import type { Scale } from "./scales";
import type { Painter } from "./svg";

export interface LineLook {
  readonly color: string; // #rrggbb
  readonly width: number;
  readonly alpha?: number;
  readonly dash?: number[];
}

// A line of a plot: its points from left to right, on the scales.
export interface PlotLine extends LineLook {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>; // as many
  readonly isStepped?: boolean; // each height holds until the next one's
  readonly isFilled?: boolean; // to the lower edge
}

export const FILL_ALPHA = 0.18;

// What has no place on the scales is left out.
export function lineOf(
  scales: { x: Scale; y: Scale },
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  look: Omit<PlotLine, "x" | "y">,
): PlotLine {
  const places: { x: number[]; y: number[] } = { x: [], y: [] };
  for (let i = 0; i < x.length; i++) {
    const [unitX, unitY] = [scales.x.toUnit(x[i]), scales.y.toUnit(y[i])];
    if (!Number.isFinite(unitX) || !Number.isFinite(unitY)) continue;
    places.x.push(unitX);
    places.y.push(unitY);
  }
  return { ...look, ...places };
}

function stroked(painter: Painter, look: LineLook, path: () => void): void {
  painter.save();
  painter.strokeStyle = look.color;
  painter.lineWidth = look.width;
  painter.globalAlpha = look.alpha ?? 1;
  painter.lineJoin = "round";
  painter.setLineDash(look.dash ?? []);
  painter.beginPath();
  path();
  painter.stroke();
  painter.restore();
}

const pixelX = (area: Area, unit: number) => area.left + unit * area.width;
const pixelY = (area: Area, unit: number) => area.top + (1 - unit) * area.height;

// As uPlot draws it (plot.tsx), where it is not there: in a file, and over others.
// A line of one point is a dot.
export function paintLine(painter: Painter, area: Area, line: PlotLine): void {
  const x = (i: number) => pixelX(area, line.x[i]);
  const y = (i: number) => pixelY(area, line.y[i]);
  const last = line.x.length - 1;
  if (last < 0) return;
  const trace = () => {
    painter.moveTo(x(0), y(0));
    for (let i = 1; i <= last; i++) {
      if (line.isStepped) painter.lineTo(x(i), y(i - 1));
      painter.lineTo(x(i), y(i));
    }
  };
  if (line.isFilled) {
    painter.save();
    painter.fillStyle = line.color;
    painter.globalAlpha = FILL_ALPHA;
    painter.beginPath();
    trace();
    painter.lineTo(x(last), pixelY(area, 0));
    painter.lineTo(x(0), pixelY(area, 0));
    painter.fill();
    painter.restore();
  }
  const dot = () => painter.arc(x(0), y(0), line.width / 2, 0, 2 * Math.PI);
  stroked(painter, line, last === 0 ? dot : trace);
}

export function paintVertical(painter: Painter, area: Area, unitX: number, look: LineLook): void {
  stroked(painter, look, () => {
    painter.moveTo(area.left + unitX * area.width, area.top);
    painter.lineTo(area.left + unitX * area.width, area.top + area.height);
  });
}

export type EdgeSign = "cross" | "bar";

const MARK_PX = 3.5;
const LIFTS: Record<EdgeSign, number> = { cross: 6, bar: 15 };

function cross(painter: Painter, x: number, y: number): void {
  painter.moveTo(x - MARK_PX, y - MARK_PX);
  painter.lineTo(x + MARK_PX, y + MARK_PX);
  painter.moveTo(x - MARK_PX, y + MARK_PX);
  painter.lineTo(x + MARK_PX, y - MARK_PX);
}

function bar(painter: Painter, x: number, y: number): void {
  painter.moveTo(x, y - MARK_PX);
  painter.lineTo(x, y + MARK_PX);
}

// At the lower edge; those at the same pixel are one. Where there are too many
// for their sign they are bars.
export function paintEdgeMarks(
  painter: Painter,
  area: Area,
  unitXs: readonly number[],
  look: { sign: EdgeSign; color: string },
): void {
  const inside = unitXs.filter((unit) => unit >= 0 && unit <= 1);
  const pixels = new Set(inside.map((unit) => Math.round(area.left + unit * area.width)));
  const y = area.top + area.height - LIFTS[look.sign];
  const isDense = pixels.size > area.width / (MARK_PX * 3);
  const mark = look.sign === "bar" || isDense ? bar : cross;
  const style = { color: look.color, width: isDense ? 1 : 1.5, alpha: isDense ? 0.5 : 1 };
  stroked(painter, style, () => pixels.forEach((x) => mark(painter, x + 0.5, y)));
}

// ---- values beyond the edge ----

const BEYOND_PX = 5;

// Points by their units on both scales.
export interface UnitPoints {
  readonly count: number;
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
}

const clamped = (unit: number) => Math.max(0, Math.min(1, unit));

// A triangle at the edge, towards the point; those at the same pixel are one.
function triangle(painter: Painter, x: number, y: number, [toX, toY]: readonly [number, number]) {
  const [sideX, sideY] = [toY * BEYOND_PX * 0.6, toX * BEYOND_PX * 0.6];
  painter.beginPath();
  painter.moveTo(x, y);
  painter.lineTo(x - toX * BEYOND_PX + sideX, y - toY * BEYOND_PX + sideY);
  painter.lineTo(x - toX * BEYOND_PX - sideX, y - toY * BEYOND_PX - sideY);
  painter.fill();
}

// A mark at the edge for each point that has no room in the area.
export function paintBeyond(
  painter: Painter,
  area: Area,
  points: UnitPoints,
  isShown: (index: number) => boolean,
  color: (index: number) => string,
): void {
  const taken = new Set<string>();
  painter.save();
  for (let i = 0; i < points.count; i++) {
    const [unitX, unitY] = [points.x[i], points.y[i]];
    const [inX, inY] = [clamped(unitX), clamped(unitY)];
    if ((inX === unitX && inY === unitY) || !isShown(i)) continue;
    const [x, y] = [Math.round(pixelX(area, inX)), Math.round(pixelY(area, inY))];
    const to = inY !== unitY ? [0, unitY < 0 ? 1 : -1] as const : [unitX < 0 ? -1 : 1, 0] as const;
    const key = `${x} ${y} ${to[0]}`;
    if (taken.has(key)) continue;
    taken.add(key);
    painter.fillStyle = color(i);
    triangle(painter, x, y, to);
  }
  painter.restore();
}
