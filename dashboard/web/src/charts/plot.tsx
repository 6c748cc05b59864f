// SPDX-License-Identifier: GPL-3.0-or-later
// A plot, by uPlot: it draws axes and lines, and follows the pointer and what is
// dragged over. It is given places on our scales, from 0 to 1: it has neither those of
// the search space nor ticks for them.
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { GAP_PX, paintInside, paintLabels, TEXT_PX, xTicks, yTicks } from "./axes";
import type { Area } from "./axes";
import { FILL_ALPHA } from "./lines";
import type { PlotLine } from "./lines";
import { areaOf } from "./panel";
import type { PanelSpec } from "./panel";
import { fontOf, useTheme } from "./theme";
import type { Theme } from "./theme";

export interface PlotProps {
  panel: PanelSpec;
  label: string;
  width: number;
  height: number;
}

interface Shown extends PlotProps {
  readonly area: Area;
  readonly theme: Theme;
}

type Now = () => Shown;

const DRAG_ONE_WAY_PX = 24;
const DRAG_MIN_PX = 4; // less is a click
const DOT_PX = 5; // of a line of one point
const NOTHING = { left: 0, top: 0, width: 0, height: 0 };

// ---- how it looks ----

const axes = {
  x: {
    size: ({ height, area }: Shown) => height - area.top - area.height,
    ticks: xTicks,
    hasGrid: ({ panel }: Shown) => panel.x.scale.kind !== "category",
  },
  y: { size: ({ area }: Shown) => area.left, ticks: yTicks, hasGrid: () => true },
};

function axisOf(side: "x" | "y", now: Now): uPlot.Axis {
  const axis = axes[side];
  const ticks = ({ ctx }: uPlot) => {
    const { panel, area, theme } = now();
    ctx.save();
    ctx.font = fontOf(theme, TEXT_PX);
    const placed = axis.ticks(ctx, panel, area);
    ctx.restore();
    return placed;
  };
  return {
    scale: side,
    font: fontOf(now().theme, TEXT_PX),
    stroke: () => now().theme.muted,
    gap: GAP_PX,
    size: () => axis.size(now()),
    ticks: { show: false },
    grid: {
      stroke: () => now().theme.grid,
      width: 1,
      filter: (_, splits) => (axis.hasGrid(now()) ? splits : []),
    },
    space: 1,
    splits: (plot) => ticks(plot).map(({ unit }) => unit),
    values: (plot) => ticks(plot).map(({ text }) => text),
  };
}

const lineAt = (now: Now, at: number): PlotLine | undefined => now().panel.lines?.[at - 1];

const fillOf = (line: PlotLine | undefined) =>
  line?.isFilled ? line.color + Math.round(FILL_ALPHA * 255).toString(16) : "";

function seriesOf(now: Now): uPlot.Series {
  const color = (_: uPlot, at: number) => lineAt(now, at)?.color ?? "";
  return {
    stroke: color,
    fill: (_, at) => fillOf(lineAt(now, at)),
    fillTo: 0,
    points: {
      show: false,
      size: DOT_PX,
      width: 0,
      fill: color,
      filter: (_, at) => (lineAt(now, at)?.x.length === 1 ? [0] : null),
    },
  };
}

const linear = uPlot.paths.linear?.();
const stepped = uPlot.paths.stepped?.({ align: 1 });

// A series is kept for the next line that comes.
const styleOf = (line: PlotLine | undefined): Partial<uPlot.Series> => ({
  show: line !== undefined,
  width: line?.width,
  alpha: line?.alpha ?? 1,
  dash: line?.dash?.map((length) => length * uPlot.pxRatio),
  paths: line?.isStepped ? stepped : linear,
});

// Each line has its own x. The types know one for all alone.
const dataOf = (lines: readonly PlotLine[], series: number) =>
  Array.from({ length: series }, (_, at) =>
    at === 0 ? null : [lines[at - 1]?.x ?? [], lines[at - 1]?.y ?? []],
  ) as unknown as uPlot.AlignedData;

// What is no line, between the axes and the lines.
function paint({ ctx }: uPlot, now: Now): void {
  const { panel, area, theme } = now();
  ctx.save();
  ctx.scale(uPlot.pxRatio, uPlot.pxRatio);
  paintLabels(ctx, panel, area, theme);
  paintInside(ctx, area, () => panel.paint?.(ctx, area));
  ctx.restore();
}

// ---- the pointer ----

function onSelect(plot: uPlot, now: Now): void {
  const { left, top, width, height } = plot.select;
  const { panel, area } = now();
  plot.setSelect(NOTHING, false);
  panel.onDrag?.({
    x: width < area.width ? [left / area.width, (left + width) / area.width] : undefined,
    y: height < area.height ? [1 - (top + height) / area.height, 1 - top / area.height] : undefined,
    isShifted: plot.cursor.event?.shiftKey ?? false,
  });
}

const mouseOf = {
  pointerdown: "mousedown",
  pointermove: "mousemove",
  pointerup: "mouseup",
  pointercancel: "mouseup",
} as const;

// It knows the mouse alone: what a finger or a pen does is told to it as a mouse's.
function followTouch(plot: uPlot): void {
  for (const kind of Object.keys(mouseOf) as (keyof typeof mouseOf)[])
    plot.over.addEventListener(kind, (event) => {
      if (event.pointerType === "mouse") return;
      if (kind === "pointercancel") plot.setSelect(NOTHING, false);
      const { clientX, clientY, shiftKey } = event;
      const told = { clientX, clientY, shiftKey, movementX: 1, bubbles: true };
      plot.over.dispatchEvent(new MouseEvent(mouseOf[kind], told));
    });
}

// ---- the plot ----

function makePlot(now: Now, element: HTMLElement): uPlot {
  const { panel, width, height } = now();
  const drags = panel.onDrag !== undefined;
  const options: uPlot.Options = {
    mode: 2,
    width,
    height,
    padding: [() => now().area.top, () => now().width - now().area.left - now().area.width, 0, 0],
    legend: { show: false, live: false },
    cursor: {
      points: { show: false }, // the frame's cursor is on them
      dataIdx: () => null as unknown as number,
      drag: { x: drags, y: drags, dist: DRAG_MIN_PX, uni: DRAG_ONE_WAY_PX, setScale: false },
    },
    scales: { x: { time: false, range: [0, 1] }, y: { range: [0, 1] } },
    axes: [axisOf("x", now), axisOf("y", now)],
    series: [null as unknown as uPlot.Series, seriesOf(now)],
    hooks: { setSelect: [(plot) => onSelect(plot, now)], drawAxes: [(plot) => paint(plot, now)] },
  };
  const plot = new uPlot(options, dataOf([], 2), element);
  plot.over.classList.add("chart-over");
  plot.ctx.canvas.classList.add("chart-canvas");
  followTouch(plot);
  return plot;
}

function show(plot: uPlot, now: Now): void {
  const { panel, width, height } = now();
  const lines = panel.lines ?? [];
  while (plot.series.length <= lines.length) plot.addSeries(seriesOf(now), plot.series.length);
  plot.series.forEach((series, at) => at > 0 && Object.assign(series, styleOf(lines[at - 1])));
  plot.setData(dataOf(lines, plot.series.length));
  plot.setSize({ width, height });
}

export function Plot(props: PlotProps) {
  const { panel, label, width, height } = props;
  const theme = useTheme();
  const area = useMemo(() => areaOf(panel, width, height, theme), [panel, width, height, theme]);
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shown = useRef<Shown | null>(null);
  shown.current = { ...props, area, theme };
  const now = () => shown.current as Shown;
  useEffect(() => {
    if (element.current === null) return undefined;
    const made = makePlot(now, element.current);
    plot.current = made;
    return () => made.destroy();
  }, [panel.onDrag === undefined]);
  useEffect(() => {
    if (plot.current !== null) show(plot.current, now);
  }, [panel, area]);
  return <div ref={element} role="img" aria-label={label} onDblClick={panel.onReset} />;
}
