// SPDX-License-Identifier: GPL-3.0-or-later
// One plot: what is on it is drawn by the same functions that draw it into a file;
// parts of its axes can be dragged over.
import { layout, paintGround, paintInside } from "./axes";
import type { Area, Ground } from "./axes";
import type { PanelPoints } from "./cloud";
import { paintLine } from "./lines";
import type { PlotLine } from "./lines";
import type { Painter } from "./svg";
import type { Theme } from "./theme";

// What was dragged over, on the scales; undefined: all along that one.
export interface DragBox {
  readonly x?: readonly [number, number];
  readonly y?: readonly [number, number];
  readonly isShifted: boolean;
}

// Rows of the table that are to stand out; -1: none.
export interface Marked {
  readonly hovered: number;
  readonly focused: number;
  readonly compared: readonly number[];
}

export interface PanelSpec extends Ground {
  readonly id: string;
  // Drawn over what is painted.
  readonly lines?: readonly PlotLine[];
  // Draws what is no line.
  paint?(painter: Painter, area: Area): void;
  // Draws what is marked over them: cheap, as it follows the pointer.
  paintMarked?(painter: Painter, area: Area, marked: Marked): void;
  readonly points?: PanelPoints;
  onDrag?(box: DragBox): void;
  onReset?(): void; // a double click
}

export function paintPanel(
  painter: Painter,
  panel: PanelSpec,
  size: { width: number; height: number },
  theme: Theme,
  marked: Marked,
): void {
  const area = layout(painter, panel, size.width, size.height, theme);
  paintGround(painter, panel, area, theme);
  paintInside(painter, area, () => {
    panel.paint?.(painter, area);
    panel.lines?.forEach((line) => paintLine(painter, area, line));
    panel.paintMarked?.(painter, area, marked);
  });
}

const ruler = () => document.createElement("canvas").getContext("2d") as Painter;

export const areaOf = (panel: PanelSpec, width: number, height: number, theme: Theme) =>
  layout(ruler(), panel, width, height, theme);
