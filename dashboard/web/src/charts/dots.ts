// SPDX-License-Identifier: GPL-3.0-or-later
// Very many dots: on a canvas as pixels that we mix ourselves, which is quick
// for a hundred thousand; few of them, and all in a file, as circles.
import { drawPixels } from "./dot_pixels";
import { isVector } from "./svg";
import type { Painter } from "./svg";

export interface Dots {
  readonly count: number;
  readonly x: Float32Array; // CSS pixels
  readonly y: Float32Array;
  readonly radius: number;
  readonly alpha: number;
  readonly palette: readonly string[]; // #rrggbb
  readonly color?: Uint8Array; // of each, an index into the palette; else 0
}

const CIRCLES_MAX = 1500;

const DEPTH = 1.6; // how often a place is covered where they lie evenly
const ALPHA_MIN = 0.08;

// How large and how dense they are drawn when there are so many in an area.
export function dotStyle(count: number, areaPx2: number): { radius: number; alpha: number } {
  const radius = count <= 300 ? 3.5 : count <= 3000 ? 2.6 : count <= 30000 ? 1.8 : 1.3;
  const densest = count <= 300 ? 0.85 : count <= 3000 ? 0.7 : count <= 30000 ? 0.5 : 0.4;
  const cover = (count * Math.PI * radius * radius) / areaPx2;
  return { radius, alpha: Math.max(ALPHA_MIN, Math.min(densest, DEPTH / cover)) };
}

// One path a colour: lines without a length that have round ends.
function drawPaths(painter: Painter, dots: Dots): void {
  painter.save();
  painter.lineCap = "round";
  painter.lineWidth = dots.radius * 2;
  painter.globalAlpha = dots.alpha;
  dots.palette.forEach((color, index) => {
    let isEmpty = true;
    painter.beginPath();
    for (let i = 0; i < dots.count; i++) {
      if ((dots.color?.[i] ?? 0) !== index) continue;
      painter.moveTo(dots.x[i], dots.y[i]);
      painter.lineTo(dots.x[i], dots.y[i]);
      isEmpty = false;
    }
    painter.strokeStyle = color;
    if (!isEmpty) painter.stroke();
  });
  painter.restore();
}

function drawCircles(painter: Painter, dots: Dots): void {
  painter.save();
  painter.globalAlpha = dots.alpha;
  for (let i = 0; i < dots.count; i++) {
    painter.fillStyle = dots.palette[dots.color?.[i] ?? 0];
    painter.beginPath();
    painter.arc(dots.x[i], dots.y[i], dots.radius, 0, 2 * Math.PI);
    painter.fill();
  }
  painter.restore();
}

export function paintDots(painter: Painter, dots: Dots): void {
  if (dots.count === 0) return;
  if (isVector(painter)) drawPaths(painter, dots);
  else if (dots.count > CIRCLES_MAX && painter instanceof CanvasRenderingContext2D)
    drawPixels(painter, dots);
  else drawCircles(painter, dots);
}
