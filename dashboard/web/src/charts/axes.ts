// SPDX-License-Identifier: GPL-3.0-or-later
// The ground of a plot: where its data go, its grid, its axes and their texts.
import type { Scale, Tick } from "./scales";
import type { Painter } from "./svg";
import { fontOf } from "./theme";
import type { Theme } from "./theme";

export interface Axis {
  readonly scale: Scale;
  readonly label: string;
}

// Where the data go, in CSS pixels.
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Ground {
  readonly title?: string;
  readonly x: Axis;
  readonly y: Axis;
}

export const TEXT_PX = 11;
const TITLE_PX = 12;
const LINE_PX = 16;
export const GAP_PX = 6;
const Y_TICK_EVERY_PX = 42;
const X_TICK_EVERY_PX = 72;
const RIGHT_PX = 18;
const LEFT_SHARE_MAX = 0.42;

export const placeX = (area: Area, axis: Axis, value: number) =>
  area.left + axis.scale.toUnit(value) * area.width;
export const placeY = (area: Area, axis: Axis, value: number) =>
  area.top + (1 - axis.scale.toUnit(value)) * area.height;

// As much of a text as has room.
export function fitted(painter: Painter, text: string, room: number): string {
  if (painter.measureText(text).width <= room) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (painter.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? "" : `${text.slice(0, low)}…`;
}

const yTicksOf = ({ y: { scale } }: Ground, height: number): readonly Tick[] =>
  scale.ticks(Math.max(2, height / (scale.kind === "category" ? 12 : Y_TICK_EVERY_PX)));

// The room that is left for the data.
export function layout(
  painter: Painter,
  ground: Ground,
  width: number,
  height: number,
  theme: Theme,
): Area {
  painter.font = fontOf(theme, TEXT_PX);
  const top =
    (ground.title === undefined ? 4 : LINE_PX + 4) + (ground.y.label === "" ? 4 : LINE_PX + GAP_PX);
  const bottom = LINE_PX + GAP_PX + (ground.x.label === "" ? 0 : LINE_PX);
  const rows = Math.max(20, height - top - bottom);
  const widest = Math.max(
    12,
    ...yTicksOf(ground, rows).map(({ text }) => painter.measureText(text).width),
  );
  const left = Math.ceil(Math.min(widest + GAP_PX + 2, width * LEFT_SHARE_MAX));
  return { left, top, width: Math.max(20, width - left - RIGHT_PX), height: rows };
}

function line(painter: Painter, x1: number, y1: number, x2: number, y2: number): void {
  painter.beginPath();
  painter.moveTo(x1, y1);
  painter.lineTo(x2, y2);
  painter.stroke();
}

// A tick at its place on the scale, with as much of its text as has room.
interface PlacedTick {
  readonly unit: number;
  readonly text: string;
}

function placed(scale: Scale, ticks: readonly Tick[]): PlacedTick[] {
  return ticks
    .map(({ value, text }) => ({ unit: scale.toUnit(value), text }))
    .filter(({ unit }) => unit > -0.001 && unit < 1.001);
}

export function yTicks(painter: Painter, ground: Ground, area: Area): PlacedTick[] {
  const ticks = placed(ground.y.scale, yTicksOf(ground, area.height));
  return ticks.map(({ unit, text }) => ({
    unit,
    text: fitted(painter, text, area.left - GAP_PX),
  }));
}

export function xTicks(painter: Painter, ground: Ground, area: Area): PlacedTick[] {
  const { scale } = ground.x;
  const isCategory = scale.kind === "category";
  const every = isCategory ? 36 : X_TICK_EVERY_PX;
  const ticks = placed(scale, scale.ticks(Math.max(2, area.width / every)));
  const room = isCategory ? area.width / ticks.length - 4 : Infinity;
  let takenTo = -Infinity;
  return ticks.map(({ unit, text }) => {
    const shown = fitted(painter, text, room);
    const half = painter.measureText(shown).width / 2;
    const x = unit * area.width;
    const hasRoom = x - half > takenTo && x + half <= area.width + RIGHT_PX;
    if (hasRoom && shown !== "") takenTo = x + half + GAP_PX;
    return { unit, text: hasRoom ? shown : "" };
  });
}

// As uPlot draws them (plot.tsx), where it is not there: in a file.
function paintAxes(painter: Painter, ground: Ground, area: Area, theme: Theme): void {
  const { left, top, width, height } = area;
  painter.strokeStyle = theme.grid;
  painter.fillStyle = theme.muted;
  painter.lineWidth = 1;
  painter.textAlign = "right";
  painter.textBaseline = "middle";
  for (const { unit, text } of yTicks(painter, ground, area)) {
    const y = Math.round(top + (1 - unit) * height) + 0.5;
    line(painter, left, y, left + width, y);
    painter.fillText(text, left - GAP_PX, y);
  }
  painter.textAlign = "center";
  painter.textBaseline = "top";
  for (const { unit, text } of xTicks(painter, ground, area)) {
    const x = Math.round(left + unit * width) + 0.5;
    if (ground.x.scale.kind !== "category") line(painter, x, top, x, top + height);
    painter.fillText(text, x, top + height + GAP_PX);
  }
}

export function paintLabels(painter: Painter, ground: Ground, area: Area, theme: Theme): void {
  const right = area.left + area.width;
  if (ground.title !== undefined) {
    painter.font = fontOf(theme, TITLE_PX, 600);
    painter.fillStyle = theme.ink;
    painter.textAlign = "left";
    painter.textBaseline = "top";
    painter.fillText(fitted(painter, ground.title, right), 0, 2);
  }
  painter.font = fontOf(theme, TEXT_PX);
  painter.fillStyle = theme.muted;
  painter.textBaseline = "alphabetic";
  painter.textAlign = "left";
  painter.fillText(fitted(painter, ground.y.label, right), 0, area.top - 2 * GAP_PX);
  painter.textAlign = "right";
  const below = area.top + area.height + GAP_PX + TEXT_PX + LINE_PX;
  painter.fillText(fitted(painter, ground.x.label, right), right, below);
}

// What is painted cannot leave the area.
export function paintInside(painter: Painter, area: Area, paint: () => void): void {
  painter.save();
  painter.beginPath();
  // A dot on the edge is seen whole.
  painter.rect(area.left - 4, area.top - 4, area.width + 8, area.height + 8);
  painter.clip();
  paint();
  painter.restore();
}

// Grid, axes and texts.
export function paintGround(painter: Painter, ground: Ground, area: Area, theme: Theme): void {
  painter.save();
  painter.font = fontOf(theme, TEXT_PX);
  paintAxes(painter, ground, area, theme);
  paintLabels(painter, ground, area, theme);
  painter.restore();
}
