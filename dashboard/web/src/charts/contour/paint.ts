// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a field: areas between contours, or bands of cells where an axis is of
// words.
import type { Area } from "../axes";
import type { Scale } from "../scales";
import type { Painter } from "../svg";
import type { Field } from "./field";

export interface FieldLook {
  readonly scales: { x: Scale; y: Scale };
  readonly colors: readonly string[]; // a level each, from the lowest value
  readonly line: string;
  // 0 where the colours begin, 1 where they end.
  level(value: number): number;
}

const BAND_FILLED = 0.86;

function paintCells(painter: Painter, field: Field, area: Area, look: FieldLook): void {
  const [width, height] = [area.width / field.columns, area.height / field.rows];
  const inset = (scale: Scale) => (scale.kind === "category" ? (1 - BAND_FILLED) / 2 : 0);
  const [insetX, insetY] = [inset(look.scales.x) * width, inset(look.scales.y) * height];
  const last = look.colors.length - 1;
  field.values.forEach((value, cell) => {
    if (Number.isNaN(value)) return;
    const [column, row] = [cell % field.columns, Math.floor(cell / field.columns)];
    // Whole pixels: cells of a band leave no seam.
    const [left, right] = [column * width + insetX, (column + 1) * width - insetX].map(Math.round);
    const [low, high] = [row * height + insetY, (row + 1) * height - insetY].map(Math.round);
    painter.fillStyle = look.colors[Math.round(Math.min(1, Math.max(0, look.level(value))) * last)];
    painter.fillRect(Math.round(area.left) + left, Math.round(area.top + area.height) - high,
      right - left, high - low);
  });
}

// ---- contours ----

// Mixes the four cells around a place; those that are not known have no say. NaN
// where they weigh more than the others.
function between(field: Field, x: number, y: number): number {
  const { columns, rows, values } = field;
  const left = Math.min(columns - 2, Math.max(0, Math.floor(x)));
  const below = Math.min(rows - 2, Math.max(0, Math.floor(y)));
  const [partX, partY] = [Math.min(1, Math.max(0, x - left)), Math.min(1, Math.max(0, y - below))];
  let sum = 0;
  let known = 0;
  for (let corner = 0; corner < 4; corner++) {
    const [dx, dy] = [corner & 1, corner >> 1];
    const value = values[(below + dy) * columns + left + dx];
    if (Number.isNaN(value)) continue;
    const weight = (dx ? partX : 1 - partX) * (dy ? partY : 1 - partY);
    sum += weight * value;
    known += weight;
  }
  return known >= 0.5 ? sum / known : NaN;
}

function areasImage(field: Field, area: Area, look: FieldLook): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(area.width);
  canvas.height = Math.round(area.height);
  const image = new ImageData(canvas.width, canvas.height);
  const inks = look.colors.map((color) => (color.match(/\d+/g) ?? []).map(Number));
  for (let y = 0, at = 0; y < canvas.height; y++) {
    const row = (1 - (y + 0.5) / canvas.height) * field.rows - 0.5;
    for (let x = 0; x < canvas.width; x++, at += 4) {
      const value = between(field, ((x + 0.5) / canvas.width) * field.columns - 0.5, row);
      if (Number.isNaN(value)) continue;
      const band = Math.floor(look.level(value) * inks.length);
      image.data.set(inks[Math.min(inks.length - 1, Math.max(0, band))], at);
      image.data[at + 3] = 255;
    }
  }
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

// Where lines of a level cross the sides of the cells (marching squares): pairs
// of places on them.
function crossings(corners: readonly number[], level: number): [number, number][] {
  const places: [number, number][] = [];
  for (let side = 0; side < 4; side++) {
    const [from, to] = [corners[side], corners[(side + 1) % 4]];
    if (from >= level === to >= level) continue;
    const part = (level - from) / (to - from);
    places.push([[part, 0], [1, part], [1 - part, 1], [0, 1 - part]][side] as [number, number]);
  }
  return places;
}

function paintLines(painter: Painter, field: Field, area: Area, look: FieldLook): void {
  const { columns, rows } = field;
  const count = look.colors.length;
  const levels = Float64Array.from(field.values, (value) => look.level(value) * count);
  painter.beginPath();
  for (let row = 0; row + 1 < rows; row++) {
    for (let column = 0; column + 1 < columns; column++) {
      const at = row * columns + column;
      const corners = [levels[at], levels[at + 1], levels[at + columns + 1], levels[at + columns]];
      const [low, high] = [Math.min(...corners), Math.max(...corners)];
      if (Number.isNaN(low)) continue;
      for (let level = Math.max(1, Math.ceil(low)); level <= Math.min(high, count - 1); level++)
        crossings(corners, level).forEach(([dx, dy], i) => {
          const x = area.left + ((column + 0.5 + dx) / columns) * area.width;
          const y = area.top + (1 - (row + 0.5 + dy) / rows) * area.height;
          if (i % 2 === 0) painter.moveTo(x, y);
          else painter.lineTo(x, y);
        });
    }
  }
  painter.lineWidth = 0.75;
  painter.strokeStyle = look.line;
  painter.globalAlpha = 0.5;
  painter.stroke();
  painter.globalAlpha = 1;
}

export function paintField(painter: Painter, field: Field, area: Area, look: FieldLook): void {
  const hasBands = look.scales.x.kind === "category" || look.scales.y.kind === "category";
  if (hasBands) paintCells(painter, field, area, look);
  else {
    painter.drawImage(areasImage(field, area, look), area.left, area.top, area.width, area.height);
    paintLines(painter, field, area, look);
  }
}
