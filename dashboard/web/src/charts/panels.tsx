// SPDX-License-Identifier: GPL-3.0-or-later
// A chart of one or several plots side by side in one frame, with one cursor
// over the points of all.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { rowOf } from "../data/columns";
import type { RunModel } from "../types";
import type { Area } from "./axes";
import type { PanelPoints } from "./cloud";
import { Drawing } from "./drawing";
import { ChartFrame, useWidth } from "./frame";
import type { ChartPoints, DataTable } from "./frame";
import { areaOf, paintPanel } from "./panel";
import type { Marked, PanelSpec } from "./panel";
import { Plot } from "./plot";
import { useTheme } from "./theme";
import type { Theme } from "./theme";

export interface PanelsProps {
  run: RunModel;
  title: string;
  file: string;
  summary: string;
  notes?: readonly string[];
  controls?: ComponentChildren;
  table(): DataTable;
  panels: readonly PanelSpec[];
  height: number; // of a panel, in CSS pixels
  widthMin?: number; // of a panel, where there are several
  below?: ComponentChildren; // a legend
}

interface Spot {
  readonly panel: PanelSpec;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const GAP_PX = 16;

// As many in a row as have room.
function arrange(props: PanelsProps, width: number): Spot[] {
  const { panels, height, widthMin = 280 } = props;
  const fit = Math.max(1, Math.floor((width + GAP_PX) / (widthMin + GAP_PX)));
  const columns = Math.min(fit, Math.max(1, panels.length));
  const each = Math.floor((width - GAP_PX * (columns - 1)) / columns);
  return panels.map((panel, index) => ({
    panel,
    left: (index % columns) * (each + GAP_PX),
    top: Math.floor(index / columns) * (height + GAP_PX),
    width: each,
    height,
  }));
}

const heightOf = (spots: readonly Spot[]) =>
  spots.reduce((height, spot) => Math.max(height, spot.top + spot.height), 0);

// The points of all panels, one panel's behind the other's.
function pointsOf(run: RunModel, spots: readonly Spot[], theme: Theme): ChartPoints {
  const areas: (Area | undefined)[] = [];
  const areaAt = (at: number) =>
    (areas[at] ??= areaOf(spots[at].panel, spots[at].width, spots[at].height, theme));
  const all: (PanelPoints | undefined)[] = spots.map(({ panel }) => panel.points);
  const firsts: number[] = [];
  let count = 0;
  for (const points of all) {
    firsts.push(count);
    count += points?.count ?? 0;
  }
  const locate = (index: number) => {
    const at = firsts.findLastIndex((first, i) => first <= index && (all[i]?.count ?? 0) > 0);
    return { at, points: all[at] as PanelPoints, index: index - firsts[at] };
  };
  const rowAt = (wanted: number) => {
    const { points, index } = locate(wanted);
    return points.row?.(index) ?? -1;
  };
  const numbers = () => run.table.peek().byName.get("number")?.data;
  return {
    count,
    text: (wanted) => {
      const { points, index } = locate(wanted);
      return points.text(index);
    },
    place: (wanted) => {
      const { at, points, index } = locate(wanted);
      const area = areaAt(at);
      return {
        x: spots[at].left + area.left + points.x(index) * area.width,
        y: spots[at].top + area.top + (1 - points.y(index)) * area.height,
      };
    },
    step: (wanted, key) => {
      const { at, points, index } = locate(wanted);
      if (points.step !== undefined) return firsts[at] + points.step(index, key);
      return wanted + (key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1);
    },
    at: (x, y) => {
      const at = spots.findIndex(
        (spot) =>
          x >= spot.left &&
          x < spot.left + spot.width &&
          y >= spot.top &&
          y < spot.top + spot.height,
      );
      const points = all[at];
      if (points === undefined) return -1;
      const area = areaAt(at);
      const unitX = (x - spots[at].left - area.left) / area.width;
      const unitY = 1 - (y - spots[at].top - area.top) / area.height;
      const index = points.nearest(unitX, unitY, area);
      return index < 0 ? -1 : firsts[at] + index;
    },
    open: (index) => {
      const row = rowAt(index);
      if (row >= 0) run.focused.value = numbers()?.[row] ?? 0;
    },
    onPoint: (index) => (run.hovered.value = index < 0 ? -1 : rowAt(index)),
  };
}

// Which rows are marked now; reading follows it.
function markedOf(run: RunModel): Marked {
  const table = run.table.value;
  const compared = run.compared.value.map((number) => rowOf(table, number));
  return {
    hovered: run.hovered.value < table.rows ? run.hovered.value : -1,
    focused: run.focused.value > 0 ? rowOf(table, run.focused.value) : -1,
    compared: compared.filter((row) => row >= 0),
  };
}

// What is marked on one panel, over it: all that follows the pointer.
function MarkedRows({ run, spot }: { run: RunModel; spot: Spot }) {
  const theme = useTheme();
  const marked = markedOf(run);
  const { panel, width, height } = spot;
  const area = useMemo(() => areaOf(panel, width, height, theme), [panel, width, height, theme]);
  return (
    <div class="chart-marked">
      <Drawing
        width={width}
        height={height}
        paint={(painter) => {
          painter.beginPath();
          painter.rect(area.left - 8, area.top - 8, area.width + 16, area.height + 16);
          painter.clip();
          panel.paintMarked?.(painter, area, marked);
        }}
      />
    </div>
  );
}

export function Panels(props: PanelsProps) {
  const { run, title, file, summary, notes, controls, table, panels, height, below } = props;
  const theme = useTheme();
  const { ref, width } = useWidth<HTMLDivElement>();
  const spots = useMemo(() => arrange(props, width), [panels, width, height]);
  const points = useMemo(() => pointsOf(run, spots, theme), [spots, theme]);
  const fullHeight = heightOf(spots);
  const picture = () => ({
    width,
    height: fullHeight,
    paint: (painter: Parameters<typeof paintPanel>[0]) => {
      for (const spot of spots) {
        painter.save();
        painter.translate(spot.left, spot.top);
        paintPanel(painter, spot.panel, spot, theme, markedOf(run));
        painter.restore();
      }
    },
  });
  return (
    <ChartFrame
      title={title}
      file={file}
      summary={summary}
      notes={notes}
      controls={controls}
      table={table}
      picture={picture}
      points={points}
      below={below}
    >
      <div ref={ref} class="chart-panels" style={{ height: `${fullHeight}px` }}>
        {width > 0 &&
          spots.map((spot) => (
            <div
              key={spot.panel.id}
              class="chart-spot"
              style={{ left: `${spot.left}px`, top: `${spot.top}px` }}
            >
              <Plot
                panel={spot.panel}
                label={`${spot.panel.title ?? title}. ${summary}`}
                width={spot.width}
                height={spot.height}
              />
              {spot.panel.paintMarked && <MarkedRows run={run} spot={spot} />}
            </div>
          ))}
      </div>
    </ChartFrame>
  );
}
