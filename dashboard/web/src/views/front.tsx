// SPDX-License-Identifier: GPL-3.0-or-later
// The Pareto front: the trials that no other one is better than in all
// objectives at once.
import { useMemo } from "preact/hooks";
import { cloudPoints, makeCloud, paintCloud, paintCloudMarks } from "../charts/cloud";
import type { Cloud, PanelPoints } from "../charts/cloud";
import { useColumnAxis } from "../charts/column_axis";
import { useDragging } from "../charts/controls";
import { paintDots } from "../charts/dots";
import { Legend } from "../charts/legend";
import { lineOf } from "../charts/lines";
import type { PlotLine } from "../charts/lines";
import type { PanelSpec } from "../charts/panel";
import { Panels } from "../charts/panels";
import { paretoRows } from "../charts/pareto";
import {
  counted,
  makeCounts,
  numberOf,
  rowText,
  selectedText,
  valueName,
  valuesOf,
  wordOf,
} from "../charts/rows";
import type { RowValue } from "../charts/rows";
import { valueText } from "../charts/scales";
import type { Scale } from "../charts/scales";
import { rowsOf } from "../charts/tables";
import { useTheme } from "../charts/theme";
import type { Objective, Table, ViewProps } from "../types";

const HEIGHT_PX = 440;
const PAIR_WIDTH_PX = 340;
const FRONT_RADIUS = 4;

interface Front {
  readonly rows: readonly number[]; // by the first objective, the best one first
  readonly isIn: Uint8Array; // [rows of the table]
  readonly candidates: number;
}

function frontOf(table: Table, mask: Uint8Array, objectives: readonly Objective[]): Front {
  const counts = makeCounts(table);
  const costs = objectives.map((objective) => {
    const of = valuesOf(table.byName.get(valueName(objective)));
    const sign = objective.goal === "minimize" ? 1 : -1;
    return Float64Array.from({ length: table.rows }, (_, row) => sign * of(row));
  });
  const candidates = rowsOf(mask).filter(
    (row) => counts(row) && costs.every((cost) => Number.isFinite(cost[row])),
  );
  const rows = paretoRows(costs, candidates);
  const isIn = new Uint8Array(table.rows);
  for (const row of rows) isIn[row] = 1;
  return { rows, isIn, candidates: candidates.length };
}

// Every two of them.
const pairs = (objectives: readonly Objective[]) =>
  objectives.flatMap((x, index) => objectives.slice(index + 1).map((y) => ({ x, y })));

// The line between what can be had and what cannot. The recorded trials are its
// corners: between two of them it goes along the worse one.
function frontLine(
  rows: readonly number[],
  goal: Objective["goal"],
  zoom: { x: Scale; y: Scale },
  of: { x: RowValue; y: RowValue },
  color: string,
): PlotLine {
  const sorted = rows.toSorted((a, b) => of.x(a) - of.x(b));
  const x = sorted.map(of.x);
  // From left to right each corner holds until the next where less is better;
  // where more is better the next one's holds already.
  const places = goal === "minimize" ? [...x, zoom.x.max] : [...x.slice(0, 1), ...x];
  const heights = [...sorted, ...sorted.slice(-1)].map(of.y);
  return lineOf(zoom, places, heights, { color, width: 1.5, isStepped: true });
}

// The front's trials first, then the others: those who look come for the front.
function frontPoints(
  cloud: Cloud,
  front: Front,
  mask: Uint8Array,
  text: (row: number) => string,
): PanelPoints {
  const all = cloudPoints(cloud, mask, text);
  const isFront = (index: number) => front.isIn[all.row?.(index) ?? 0] === 1;
  const indices = Array.from({ length: all.count }, (_, index) => index);
  const order = [...indices.filter(isFront), ...indices.filter((index) => !isFront(index))];
  const placeOf = new Uint32Array(all.count);
  order.forEach((index, place) => (placeOf[index] = place));
  return {
    count: all.count,
    x: (i) => all.x(order[i]),
    y: (i) => all.y(order[i]),
    row: (i) => all.row?.(order[i]) ?? -1,
    text: (i) => `${all.text(order[i])}${isFront(order[i]) ? "\non the front" : ""}`,
    nearest: (x, y, area) => {
      const index = all.nearest(x, y, area);
      return index < 0 ? -1 : placeOf[index];
    },
  };
}

function FrontChart({
  run,
  x,
  y,
  front,
}: ViewProps & { x: Objective; y: Objective; front: Front }) {
  const theme = useTheme();
  const { mask } = run.selection.value;
  const table = run.table.value;
  const across = useColumnAxis(run, valueName(x), `front.${x.metric}`, `Log ${x.metric}`);
  const up = useColumnAxis(run, valueName(y), `front.${y.metric}`, `Log ${y.metric}`);
  const dragging = useDragging(run, `front.${x.metric}.${y.metric}`);
  const zoom = useMemo(
    () => dragging.use(across, up),
    [across.scale, up.scale, dragging.zoomKey, dragging.mode],
  );
  const cloud = useMemo(
    () => makeCloud(table.rows, { scale: zoom.x, of: across.of }, { scale: zoom.y, of: up.of }),
    [table, zoom],
  );
  const isPair = run.objectives.length === 2;
  const panels = useMemo((): PanelSpec[] => {
    const names = run.objectives.map(valueName);
    const unit = (row: number) => ({
      x: zoom.x.toUnit(across.of(row)),
      y: zoom.y.toUnit(up.of(row)),
    });
    const line = frontLine(front.rows, x.goal, zoom, { x: across.of, y: up.of }, theme.best);
    return [
      {
        id: "front",
        x: { scale: zoom.x, label: `${across.label}, ${x.goal}` },
        y: { scale: zoom.y, label: `${up.label}, ${y.goal}` },
        lines: isPair ? [line] : [],
        paint: (painter, area) => {
          const colors = { palette: [theme.muted], of: () => 0 };
          paintCloud(painter, cloud, area, { mask, colors, theme });
          const places = front.rows.map(unit);
          paintDots(painter, {
            count: places.length,
            x: Float32Array.from(places, (place) => area.left + place.x * area.width),
            y: Float32Array.from(places, (place) => area.top + (1 - place.y) * area.height),
            radius: FRONT_RADIUS,
            alpha: 1,
            palette: [theme.best],
          });
        },
        paintMarked: (painter, area, marked) =>
          paintCloudMarks(painter, cloud, area, marked, theme),
        points: frontPoints(cloud, front, mask, (row) => rowText(table, row, names)),
        onDrag: zoom.onDrag,
        onReset: zoom.onReset,
      },
    ];
  }, [cloud, front, mask, theme]);
  const rest = front.candidates - front.rows.length;
  const ends =
    front.rows.length === 0
      ? ""
      : ` Best ${run.objectives[0].metric}: ` +
        `${valueText(valuesOf(table.byName.get(valueName(run.objectives[0])))(front.rows[0]))}, ` +
        `trial ${numberOf(table, front.rows[0])}.`;
  return (
    <Panels
      run={run}
      title={isPair ? "Pareto front" : `Pareto front: ${y.metric} over ${x.metric}`}
      file={`${run.document.value.name}-front-${x.metric}-${y.metric}`}
      summary={
        `${selectedText(run)}: ${counted(front.rows.length, "trial")} on the front of ` +
        `${run.objectives.map(({ metric }) => metric).join(" and ")}, ${counted(rest, "other")} ` +
        `dominated or equal.${ends}`
      }
      notes={[...across.notes, ...up.notes]}
      panels={panels}
      height={isPair ? HEIGHT_PX : PAIR_WIDTH_PX}
      table={() => frontTable(table, run.objectives, mask, front)}
      controls={
        <>
          {across.control}
          {up.control}
          {dragging.control}
        </>
      }
      below={
        <Legend
          items={[
            { sign: "dot", color: theme.best, text: "on the front" },
            { sign: "dot", color: theme.muted, text: "dominated or infeasible" },
            ...(run.selection.value.count < table.rows
              ? [{ sign: "dot" as const, color: theme.ghost, text: "filtered out" }]
              : []),
          ]}
        />
      }
    />
  );
}

function frontTable(
  table: Table,
  objectives: readonly Objective[],
  mask: Uint8Array,
  front: Front,
) {
  const rows = [...front.rows, ...rowsOf(mask).filter((row) => front.isIn[row] === 0)];
  const ofs = objectives.map((objective) => valuesOf(table.byName.get(valueName(objective))));
  return {
    columns: ["trial", "state", "front", ...objectives.map(({ metric }) => metric)],
    rows: rows.length,
    cell: (index: number, column: number) => {
      const row = rows[index];
      if (column === 0) return numberOf(table, row);
      if (column === 1) return wordOf(table, "state", row);
      if (column === 2) return front.isIn[row] === 1 ? "yes" : "no";
      return ofs[column - 3](row);
    },
  };
}

export function FrontView({ run }: ViewProps) {
  const table = run.table.value;
  const { mask } = run.selection.value;
  const front = useMemo(() => frontOf(table, mask, run.objectives), [table, mask]);
  return (
    <div class="chart-pairs">
      {pairs(run.objectives).map(({ x, y }) => (
        <FrontChart key={`${x.metric} ${y.metric}`} run={run} x={x} y={y} front={front} />
      ))}
    </div>
  );
}
