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

const TEXT_PX = 11;
const TITLE_PX = 12;
const LINE_PX = 16;
const GAP_PX = 6;
const Y_TICK_EVERY_PX = 42;
const X_TICK_EVERY_PX = 72;
const RIGHT_PX = 14;
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

const yTicks = (ground: Ground, height: number): readonly Tick[] =>
  ground.y.scale.ticks(
    Math.max(2, height / (ground.y.scale.kind === "category" ? 12 : Y_TICK_EVERY_PX)),
  );

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
    ...yTicks(ground, rows).map(({ text }) => painter.measureText(text).width),
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

function paintYAxis(painter: Painter, ground: Ground, area: Area, theme: Theme): void {
  painter.textAlign = "right";
  painter.textBaseline = "middle";
  for (const { value, text } of yTicks(ground, area.height)) {
    const y = Math.round(placeY(area, ground.y, value)) + 0.5;
    if (y < area.top - 1 || y > area.top + area.height + 1) continue;
    painter.globalAlpha = text === "" ? 0.45 : 1;
    line(painter, area.left, y, area.left + area.width, y);
    painter.globalAlpha = 1;
    painter.fillStyle = theme.muted;
    painter.fillText(fitted(painter, text, area.left - GAP_PX), area.left - GAP_PX, y);
  }
}

function paintXAxis(painter: Painter, ground: Ground, area: Area, theme: Theme): void {
  const { scale } = ground.x;
  const isCategory = scale.kind === "category";
  const ticks = scale.ticks(Math.max(2, area.width / (isCategory ? 36 : X_TICK_EVERY_PX)));
  const room = isCategory && ticks.length > 0 ? area.width / ticks.length - 4 : Infinity;
  const bottom = area.top + area.height;
  let takenTo = -Infinity;
  painter.textAlign = "center";
  painter.textBaseline = "top";
  for (const { value, text } of ticks) {
    const x = Math.round(placeX(area, ground.x, value)) + 0.5;
    if (x < area.left - 1 || x > area.left + area.width + 1) continue;
    const shown = fitted(painter, text, room);
    const half = painter.measureText(shown).width / 2;
    const hasText = shown !== "" && x - half > takenTo;
    painter.globalAlpha = hasText ? 1 : 0.45;
    if (!isCategory) line(painter, x, area.top, x, bottom);
    painter.globalAlpha = 1;
    if (!hasText) continue;
    painter.fillStyle = theme.muted;
    const center = Math.min(x, area.left + area.width + RIGHT_PX - half - 1);
    painter.fillText(shown, center, bottom + GAP_PX);
    takenTo = x + half + GAP_PX;
  }
}

function paintLabels(painter: Painter, ground: Ground, area: Area, theme: Theme): void {
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

// Grid, axes and texts; then the data, which cannot leave their area.
export function paintGround(
  painter: Painter,
  ground: Ground,
  area: Area,
  theme: Theme,
  paintData: () => void,
): void {
  painter.save();
  painter.font = fontOf(theme, TEXT_PX);
  painter.strokeStyle = theme.grid;
  painter.lineWidth = 1;
  paintYAxis(painter, ground, area, theme);
  paintXAxis(painter, ground, area, theme);
  paintLabels(painter, ground, area, theme);
  painter.restore();
  painter.save();
  painter.beginPath();
  // A dot on the edge is seen whole.
  painter.rect(area.left - 4, area.top - 4, area.width + 8, area.height + 8);
  painter.clip();
  paintData();
  painter.restore();
}
