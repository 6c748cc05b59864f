// SPDX-License-Identifier: GPL-3.0-or-later
// Very many lines: where there are more than are drawn quickly, as how many of them
// go through each pixel.
import type { Area } from "./axes";
import { paintLine } from "./lines";
import type { LineLook, PlotLine } from "./lines";
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

const LINES_MAX = 1000; // that are drawn one by one
const POINTS_MAX = 60_000;

export const isDense = ({ count, starts }: Strands) =>
  count > LINES_MAX || starts[count] > POINTS_MAX;

export function strandLine(strands: Strands, line: number, look: LineLook): PlotLine {
  const [from, to] = [strands.starts[line], strands.starts[line + 1]];
  return { ...look, x: strands.x.subarray(from, to), y: strands.y.subarray(from, to) };
}

// The same lines by their colour.
export function partedStrands(
  { count, starts, x, y }: Strands,
  colorOf: (line: number) => string,
): { color: string; strands: Strands }[] {
  const byColor = new Map<string, number[]>();
  for (let line = 0; line < count; line++) {
    const color = colorOf(line);
    const lines = byColor.get(color);
    if (lines === undefined) byColor.set(color, [line]);
    else lines.push(line);
  }
  return [...byColor].map(([color, lines]) => {
    const points = lines.reduce((sum, line) => sum + starts[line + 1] - starts[line], 0);
    const part = {
      count: lines.length,
      starts: new Uint32Array(lines.length + 1),
      x: new Float32Array(points),
      y: new Float32Array(points),
    };
    lines.forEach((line, i) => {
      const at = part.starts[i];
      part.x.set(x.subarray(starts[line], starts[line + 1]), at);
      part.y.set(y.subarray(starts[line], starts[line + 1]), at);
      part.starts[i + 1] = at + starts[line + 1] - starts[line];
    });
    return { color, strands: part };
  });
}

export const strandLines = (strands: Strands, look: LineLook): PlotLine[] =>
  Array.from({ length: strands.count }, (_, line) => strandLine(strands, line, look));

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
  look: { color: string; alpha: number },
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

// In a file as lines.
export function paintDense(
  painter: Painter,
  area: Area,
  strands: Strands,
  look: LineLook & { alpha: number }, // of one line
): void {
  if (!isVector(painter) && painter instanceof CanvasRenderingContext2D)
    paintDensity(painter, area, strands, look);
  else for (const line of strandLines(strands, look)) paintLine(painter, area, line);
}
