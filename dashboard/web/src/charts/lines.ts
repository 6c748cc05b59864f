// SPDX-License-Identifier: GPL-3.0-or-later
// Lines and marks on a plot.
import type { Area } from "./axes";
import type { Painter } from "./svg";

export interface UnitPlace {
  readonly x: number; // on the scales
  readonly y: number;
}

export interface LineLook {
  readonly color: string;
  readonly width: number;
  readonly alpha?: number;
  readonly dash?: number[];
}

const pixelX = (area: Area, unit: number) => area.left + unit * area.width;
const pixelY = (area: Area, unit: number) => area.top + (1 - unit) * area.height;

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

export function paintLine(
  painter: Painter,
  area: Area,
  places: readonly UnitPlace[],
  look: LineLook,
): void {
  if (places.length < 2) return;
  stroked(painter, look, () => {
    let isDown = false;
    for (const { x, y } of places) {
      if (Number.isNaN(x) || Number.isNaN(y)) isDown = false;
      else if (isDown) painter.lineTo(pixelX(area, x), pixelY(area, y));
      else {
        painter.moveTo(pixelX(area, x), pixelY(area, y));
        isDown = true;
      }
    }
  });
}

// Each place's height holds until the next one's; the last until `end`.
export function paintSteps(
  painter: Painter,
  area: Area,
  places: readonly UnitPlace[],
  end: number,
  look: LineLook,
): void {
  if (places.length === 0) return;
  stroked(painter, look, () => {
    places.forEach(({ x, y }, index) => {
      const px = pixelX(area, x);
      if (index === 0) painter.moveTo(px, pixelY(area, y));
      else {
        painter.lineTo(px, pixelY(area, places[index - 1].y));
        painter.lineTo(px, pixelY(area, y));
      }
    });
    painter.lineTo(pixelX(area, end), pixelY(area, places[places.length - 1].y));
  });
}

export function paintVertical(painter: Painter, area: Area, unitX: number, look: LineLook): void {
  stroked(painter, look, () => {
    painter.moveTo(pixelX(area, unitX), area.top);
    painter.lineTo(pixelX(area, unitX), area.top + area.height);
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
  const pixels = new Set(inside.map((unit) => Math.round(pixelX(area, unit))));
  const y = area.top + area.height - LIFTS[look.sign];
  const isDense = pixels.size > area.width / (MARK_PX * 3);
  const mark = look.sign === "bar" || isDense ? bar : cross;
  const style = { color: look.color, width: isDense ? 1 : 1.5, alpha: isDense ? 0.5 : 1 };
  stroked(painter, style, () => pixels.forEach((x) => mark(painter, x + 0.5, y)));
}
