// SPDX-License-Identifier: GPL-3.0-or-later
// Very many lines: on a canvas, where there are more than it draws quickly, as
// how many of them go through each pixel; few of them, and all in a file, as lines.
import type { Area } from "./axes";
import { isVector } from "./svg";
import type { Painter } from "./svg";
import { bytesOf } from "./theme";

// Points of all lines, one line's behind the other's, on the scales.
export interface Strands {
  readonly count: number; // of lines
  readonly starts: Uint32Array; // [count + 1], into x and y
  readonly x: Float32Array;
  readonly y: Float32Array;
}

export interface StrandLook {
  readonly color: string; // #rrggbb
  readonly width: number;
  readonly alpha: number;
}

const LINES_MAX = 60_000; // segments that a canvas is given

const placeX = (area: Area, strands: Strands, i: number) => area.left + strands.x[i] * area.width;
const placeY = (area: Area, strands: Strands, i: number) =>
  area.top + (1 - strands.y[i]) * area.height;

// A line of one point is a dot.
export function paintStrand(
  painter: Painter,
  area: Area,
  strands: Strands,
  line: number,
  look: StrandLook,
): void {
  const [from, to] = [strands.starts[line], strands.starts[line + 1]];
  if (from === to) return;
  painter.save();
  painter.strokeStyle = painter.fillStyle = look.color;
  painter.lineWidth = look.width;
  painter.globalAlpha = look.alpha;
  painter.lineJoin = "round";
  painter.beginPath();
  if (to - from === 1) {
    painter.arc(
      placeX(area, strands, from),
      placeY(area, strands, from),
      look.width * 1.5,
      0,
      2 * Math.PI,
    );
    painter.fill();
  } else {
    painter.moveTo(placeX(area, strands, from), placeY(area, strands, from));
    for (let i = from + 1; i < to; i++)
      painter.lineTo(placeX(area, strands, i), placeY(area, strands, i));
    painter.stroke();
  }
  painter.restore();
}

interface Counts {
  readonly of: Float32Array; // [height * width]
  readonly width: number;
  readonly height: number;
}

// Adds one to each pixel that a segment goes through: a pixel a column, or a
// pixel a row where it is steep.
function addSegment(counts: Counts, x1: number, y1: number, x2: number, y2: number): void {
  const steps = Math.max(1, Math.ceil(Math.max(Math.abs(x2 - x1), Math.abs(y2 - y1))));
  const [dx, dy] = [(x2 - x1) / steps, (y2 - y1) / steps];
  for (let step = 0; step < steps; step++) {
    const x = Math.floor(x1 + dx * step);
    const y = Math.floor(y1 + dy * step);
    if (x >= 0 && y >= 0 && x < counts.width && y < counts.height)
      counts.of[y * counts.width + x]++;
  }
}

function addStrands(counts: Counts, strands: Strands): void {
  const x = (i: number) => strands.x[i] * counts.width;
  const y = (i: number) => (1 - strands.y[i]) * counts.height;
  // What is far outside would take steps for nothing.
  const isNear = (i: number) => Math.abs(strands.x[i]) < 4 && Math.abs(strands.y[i]) < 4;
  for (let line = 0; line < strands.count; line++) {
    const last = strands.starts[line + 1] - 1;
    for (let i = strands.starts[line]; i <= last; i++) {
      const next = Math.min(i + 1, last);
      if (isNear(i) && isNear(next)) addSegment(counts, x(i), y(i), x(next), y(next));
    }
  }
}

function paintDensity(
  context: CanvasRenderingContext2D,
  area: Area,
  strands: Strands,
  look: StrandLook,
): void {
  const ratio = context.getTransform().a;
  const [width, height] = [Math.ceil(area.width * ratio), Math.ceil(area.height * ratio)];
  const counts = { of: new Float32Array(width * height), width, height };
  addStrands(counts, strands);
  const image = new ImageData(width, height);
  const [red, green, blue] = bytesOf(look.color);
  for (let i = 0; i < counts.of.length; i++) {
    if (counts.of[i] === 0) continue;
    image.data.set([red, green, blue, 255 * (1 - (1 - look.alpha) ** counts.of[i])], i * 4);
  }
  const scratch = new OffscreenCanvas(width, height);
  scratch.getContext("2d")?.putImageData(image, 0, 0);
  context.drawImage(scratch, area.left, area.top, width / ratio, height / ratio);
}

export function paintStrands(
  painter: Painter,
  area: Area,
  strands: Strands,
  look: StrandLook,
): void {
  const isMany = strands.starts[strands.count] > LINES_MAX;
  if (isMany && !isVector(painter) && painter instanceof CanvasRenderingContext2D)
    return paintDensity(painter, area, strands, look);
  for (let line = 0; line < strands.count; line++) paintStrand(painter, area, strands, line, look);
}
