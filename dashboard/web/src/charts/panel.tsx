// SPDX-License-Identifier: GPL-3.0-or-later
// One plot on a canvas: what is on it is drawn by the same function that draws
// it into a file; parts of its axes can be dragged over.
import { useCallback, useMemo, useRef } from "preact/hooks";
import type { TargetedPointerEvent } from "preact";
import { layout, paintGround } from "./axes";
import type { Area, Ground } from "./axes";
import type { PanelPoints } from "./cloud";
import { Drawing } from "./drawing";
import type { Painter } from "./svg";
import { useTheme } from "./theme";
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
  // Draws the data; another function: they are drawn anew.
  paint(painter: Painter, area: Area): void;
  // Draws what is marked over them: cheap, as it follows the pointer.
  paintMarked?(painter: Painter, area: Area, marked: Marked): void;
  readonly points?: PanelPoints;
  onDrag?(box: DragBox): void;
  onReset?(): void; // a double click
}

const DRAG_ONE_WAY_PX = 24;
const DRAG_MIN_PX = 4; // less is a click

export function paintPanel(
  painter: Painter,
  panel: PanelSpec,
  size: { width: number; height: number },
  theme: Theme,
  marked: Marked,
): void {
  const area = layout(painter, panel, size.width, size.height, theme);
  paintGround(painter, panel, area, theme, () => {
    panel.paint(painter, area);
    panel.paintMarked?.(painter, area, marked);
  });
}

const ruler = () => document.createElement("canvas").getContext("2d") as Painter;

export const areaOf = (panel: PanelSpec, width: number, height: number, theme: Theme) =>
  layout(ruler(), panel, width, height, theme);

// ---- dragging ----

interface Point {
  readonly x: number; // CSS pixels in the area
  readonly y: number;
}

interface Part {
  readonly from: number;
  readonly to: number;
  readonly isWhole: boolean;
}

// Along one side: all of it where the drag went only along the other.
function partOf(from: number, to: number, length: number, isWhole: boolean): Part {
  if (isWhole) return { from: 0, to: length, isWhole };
  const inside = (at: number) => Math.min(length, Math.max(0, at));
  return { from: inside(Math.min(from, to)), to: inside(Math.max(from, to)), isWhole };
}

function partsOf(start: Point, end: Point, area: Area): { x: Part; y: Part } {
  const [wide, high] = [Math.abs(end.x - start.x), Math.abs(end.y - start.y)];
  return {
    x: partOf(start.x, end.x, area.width, wide < DRAG_ONE_WAY_PX && high > wide),
    y: partOf(start.y, end.y, area.height, high < DRAG_ONE_WAY_PX && wide >= high),
  };
}

function boxOf({ x, y }: { x: Part; y: Part }, area: Area, isShifted: boolean): DragBox {
  return {
    x: x.isWhole ? undefined : [x.from / area.width, x.to / area.width],
    y: y.isWhole ? undefined : [1 - y.to / area.height, 1 - y.from / area.height],
    isShifted,
  };
}

// The lines through the pointer and what is dragged over follow it without a
// new drawing of anything else.
function Over({ panel, area }: { panel: PanelSpec; area: Area }) {
  const across = useRef<HTMLDivElement>(null);
  const up = useRef<HTMLDivElement>(null);
  const chosen = useRef<HTMLDivElement>(null);
  const start = useRef<Point | null>(null);

  const pointOf = (event: TargetedPointerEvent<HTMLDivElement>): Point => {
    const box = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const show = (element: HTMLDivElement | null, style: Record<string, string>) =>
    element !== null && Object.assign(element.style, style);
  const hideChosen = () => show(chosen.current, { display: "none" });
  const onPointerDown = (event: TargetedPointerEvent<HTMLDivElement>) => {
    if (event.button !== 0 || panel.onDrag === undefined) return;
    start.current = pointOf(event);
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: TargetedPointerEvent<HTMLDivElement>) => {
    const point = pointOf(event);
    show(across.current, { transform: `translateY(${point.y}px)` });
    show(up.current, { transform: `translateX(${point.x}px)` });
    if (start.current === null) return;
    const { x, y } = partsOf(start.current, point, area);
    show(chosen.current, {
      display: "block",
      left: `${x.from}px`,
      top: `${y.from}px`,
      width: `${x.to - x.from}px`,
      height: `${y.to - y.from}px`,
    });
  };
  const onPointerUp = (event: TargetedPointerEvent<HTMLDivElement>) => {
    const [from, to] = [start.current, pointOf(event)];
    start.current = null;
    hideChosen();
    if (from === null || Math.hypot(to.x - from.x, to.y - from.y) < DRAG_MIN_PX) return;
    panel.onDrag?.(boxOf(partsOf(from, to, area), area, event.shiftKey));
  };
  const onPointerCancel = () => {
    start.current = null;
    hideChosen();
  };
  const { left, top, width, height } = area;
  const style = { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` };
  return (
    <div
      class="chart-over"
      style={style}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={onPointerCancel}
      onDblClick={panel.onReset}
    >
      <div ref={across} class="chart-hair chart-hair-across" />
      <div ref={up} class="chart-hair chart-hair-up" />
      <div ref={chosen} class="chart-chosen" />
    </div>
  );
}

export interface PanelProps {
  panel: PanelSpec;
  label: string;
  width: number;
  height: number;
}

export function Panel({ panel, label, width, height }: PanelProps) {
  const theme = useTheme();
  const area = useMemo(() => areaOf(panel, width, height, theme), [panel, width, height, theme]);
  const paint = useCallback(
    (painter: Painter) =>
      paintGround(painter, panel, area, theme, () => panel.paint(painter, area)),
    [panel, area, theme],
  );
  return (
    <>
      <Drawing label={label} width={width} height={height} paint={paint} />
      <Over panel={panel} area={area} />
    </>
  );
}
