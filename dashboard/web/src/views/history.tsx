// SPDX-License-Identifier: GPL-3.0-or-later
// The optimisation history: every trial's value, and the best until then.
import { useMemo } from "preact/hooks";
import { useColumnAxis } from "../charts/column_axis";
import { Choose, useDragging, useHeldText } from "../charts/controls";
import { cloudPoints, makeCloud, paintCloud, paintCloudMarks } from "../charts/cloud";
import type { Cloud } from "../charts/cloud";
import { lineOf, paintEdgeMarks } from "../charts/lines";
import type { DataTable } from "../charts/frame";
import { Legend } from "../charts/legend";
import type { LegendItem } from "../charts/legend";
import { useObjective } from "../charts/objective";
import type { PanelSpec } from "../charts/panel";
import { Panels } from "../charts/panels";
import {
  counted,
  finiteValues,
  makeCounts,
  numberOf,
  rangeText,
  rowText,
  selectedText,
  valueName,
  valuesOf,
  wordOf,
} from "../charts/rows";
import { makeScale, valueText } from "../charts/scales";
import { useTheme } from "../charts/theme";
import type { Theme } from "../charts/theme";
import { sortedRows } from "../data/sort";
import type { Objective, RunModel, Table, ViewProps } from "../types";

const HEIGHT_PX = 420;

const orders = [
  { id: "number", text: "number" },
  { id: "ended", text: "end time" },
];

// ---- the best until then ----

interface Best {
  readonly rows: readonly number[]; // each better than those before it
  readonly values: readonly number[]; // theirs, or of their settings: the means
  readonly counted: number; // how many trials could have been it
}

// With repeats, a setting has a mean when all of its trials have a value.
export function bestSoFar(
  table: Table,
  objective: Objective,
  { order, mask, repeats }: { order: Uint32Array; mask: Uint8Array; repeats: number },
): Best {
  const of = valuesOf(table.byName.get(valueName(objective)));
  const counts = makeCounts(table);
  const sign = objective.goal === "minimize" ? 1 : -1;
  const rows: number[] = [];
  const values: number[] = [];
  const sums = new Map<number, { count: number; total: number }>();
  let best = Infinity;
  let all = 0;
  for (const row of order) {
    if (mask[row] === 0 || !counts(row) || !Number.isFinite(of(row))) continue;
    all++;
    const setting = Math.floor((numberOf(table, row) - 1) / repeats);
    const sum = sums.get(setting) ?? { count: 0, total: 0 };
    if (repeats > 1) sums.set(setting, sum);
    sum.count++;
    sum.total += of(row);
    const value = sum.total / sum.count;
    if (sum.count < repeats || sign * value >= best) continue;
    best = sign * value;
    rows.push(row);
    values.push(value);
  }
  return { rows, values, counted: all };
}

// Rows in the order of the x axis; without those that have no place on it.
export function orderedRows(table: Table, name: string): Uint32Array {
  const of = valuesOf(table.byName.get(name));
  const rows = new Uint32Array(table.rows);
  const known = new Uint8Array(table.rows);
  let count = 0;
  let last = -Infinity;
  let isOrdered = true;
  for (let row = 0; row < table.rows; row++) {
    const place = of(row);
    if (Number.isNaN(place)) continue;
    rows[count++] = row;
    known[row] = 1;
    isOrdered &&= place >= last;
    last = place;
  }
  if (isOrdered) return rows.subarray(0, count);
  return sortedRows(table, known, count, [{ name, isDescending: false }]);
}

function summaryOf(run: RunModel, objective: Objective, best: Best, values: Float64Array): string {
  const table = run.table.peek();
  const begin = `${selectedText(run)}, ${objective.metric} (${objective.goal}).`;
  if (values.length === 0) return `${begin} No values yet.`;
  const range = `${counted(values.length, "trial")} with a value: ${rangeText(values)}.`;
  const last = best.rows.at(-1);
  if (last === undefined) return `${begin} ${range} No feasible trial has succeeded yet.`;
  const value = best.values.at(-1) ?? NaN;
  const word = run.repeats > 1 ? "best mean" : "best";
  const number = numberOf(table, last);
  const first = number - ((number - 1) % run.repeats); // of its setting
  return (
    `${begin} ${range} The ${word} is ${valueText(value)}, trial ${first}, ` +
    `after ${counted(best.rows.length, "improvement")}.`
  );
}

function tableOf(
  table: Table,
  objective: Objective,
  order: Uint32Array,
  mask: Uint8Array,
  best: Best,
): DataTable {
  const rows = order.filter((row) => mask[row] !== 0);
  const of = valuesOf(table.byName.get(valueName(objective)));
  const ended = valuesOf(table.byName.get("ended"));
  const bests = new Float64Array(rows.length);
  let next = 0;
  rows.forEach((row, index) => {
    while (next < best.rows.length && best.rows[next] === row) next++;
    bests[index] = next === 0 ? NaN : best.values[next - 1];
  });
  const time = (row: number) =>
    Number.isNaN(ended(row)) ? null : new Date(ended(row)).toISOString();
  return {
    columns: ["trial", "state", "ended", objective.metric, "best"],
    rows: rows.length,
    cell: (index, column) => {
      const row = rows[index];
      const cells = [
        () => numberOf(table, row),
        () => wordOf(table, "state", row),
        () => time(row),
        () => of(row),
        () => bests[index],
      ];
      return cells[column]();
    },
  };
}

// ---- what is drawn ----

// Trials that ended without a value lie at the lower edge.
function edgeRows(
  table: Table,
  mask: Uint8Array,
  of: (row: number) => number,
  state: string,
): number[] {
  const column = table.byName.get("state");
  const wanted = column?.words.indexOf(state) ?? -1;
  const rows: number[] = [];
  for (let row = 0; row < table.rows; row++)
    if (mask[row] !== 0 && column?.data[row] === wanted && !Number.isFinite(of(row)))
      rows.push(row);
  return rows;
}

function useHistory(run: RunModel, objective: Objective, xName: string) {
  const table = run.table.value;
  const { mask } = run.selection.value;
  // What filters do not change.
  const whole = useMemo(() => {
    const y = valuesOf(table.byName.get(valueName(objective)));
    const x = valuesOf(table.byName.get(xName));
    const order = orderedRows(table, xName);
    const xAt = (index: number) => (order.length === 0 ? NaN : x(order[index]));
    const wholeX = { min: xAt(0), max: xAt(order.length - 1) };
    return { x, y, order, wholeX };
  }, [table, objective, xName]);
  const chosen = useMemo(
    () => ({
      values: finiteValues(table, mask, whole.y),
      best: bestSoFar(table, objective, { order: whole.order, mask, repeats: run.repeats }),
      edge: {
        nan: edgeRows(table, mask, whole.y, "nonfinite").filter((row) => Number.isNaN(whole.y(row))),
        failed: edgeRows(table, mask, whole.y, "failed"),
        stopped: edgeRows(table, mask, whole.y, "stopped"),
      },
    }),
    [whole, mask],
  );
  return { table, mask, ...whole, ...chosen };
}

const scaleOfX = (xName: string, { min, max }: { min: number; max: number }) =>
  makeScale(xName === "number" ? "linear" : "time", min, max, xName === "number");

function legendOf(
  theme: Theme,
  is: { isFiltered: boolean; hasOthers: boolean; hasFailed: boolean; hasStopped: boolean; hasNan: boolean },
): LegendItem[] {
  const items: [boolean, LegendItem][] = [
    [true, { sign: "dot", color: theme.accent, text: "succeeded" }],
    [is.hasOthers, { sign: "dot", color: theme.stopped, text: "failed, stopped or infeasible" }],
    [true, { sign: "line", color: theme.best, text: "best so far" }],
    [is.hasFailed, { sign: "cross", color: theme.failed, text: "failed, no value" }],
    [is.hasNan, { sign: "cross", color: theme.stopped, text: "nan" }],
    [is.hasStopped, { sign: "bar", color: theme.stopped, text: "stopped, no value" }],
    [is.isFiltered, { sign: "dot", color: theme.ghost, text: "filtered out" }],
  ];
  return items.filter(([isThere]) => isThere).map(([, item]) => item);
}

export function HistoryView({ run }: ViewProps) {
  const theme = useTheme();
  const { objective, control: objectiveControl } = useObjective(run, "history.objective");
  const xChoice = useHeldText("history.x", "number");
  const xName = xChoice.value === "ended" ? "ended" : "number";
  const data = useHistory(run, objective, xName);
  const { table, mask, x, y, order, values, best, wholeX } = data;
  const up = useColumnAxis(run, valueName(objective), "history.y");
  const dragging = useDragging(run, "history");
  const zoom = useMemo(
    () => dragging.use({ scale: scaleOfX(xName, wholeX), column: xName }, up),
    [wholeX, up.scale, xName, dragging.zoomKey, dragging.mode],
  );
  const cloud: Cloud = useMemo(
    () => makeCloud(table.rows, { scale: zoom.x, of: x }, { scale: zoom.y, of: y }),
    [table, zoom],
  );
  const panel = useMemo((): PanelSpec => {
    const counts = makeCounts(table);
    const colors = {
      palette: [theme.accent, theme.stopped],
      of: (row: number) => (counts(row) ? 0 : 1),
    };
    const names = [valueName(objective), ...run.params.map(({ name }) => `param:${name}`)];
    return {
      id: "history",
      x: { scale: zoom.x, label: xName === "number" ? "trial" : "ended" },
      y: { scale: zoom.y, label: up.label },
      lines: [
        lineOf(
          zoom,
          [...best.rows.map(x), wholeX.max],
          [...best.values, ...best.values.slice(-1)],
          { color: theme.best, width: 2, isStepped: true },
        ),
      ],
      paint: (painter, area) => {
        paintCloud(painter, cloud, area, { mask, colors, theme });
        const places = (rows: readonly number[]) => rows.map((row) => zoom.x.toUnit(x(row)));
        const { failed, stopped, nan } = data.edge;
        paintEdgeMarks(painter, area, places(nan), { sign: "cross", color: theme.stopped });
        paintEdgeMarks(painter, area, places(failed), { sign: "cross", color: theme.failed });
        paintEdgeMarks(painter, area, places(stopped), { sign: "bar", color: theme.stopped });
      },
      paintMarked: (painter, area, marked) => paintCloudMarks(painter, cloud, area, marked, theme),
      points: cloudPoints(cloud, mask, (row) => rowText(table, row, names)),
      onDrag: zoom.onDrag,
      onReset: zoom.onReset,
    };
  }, [cloud, mask, zoom, theme, best]);
  return (
    <Panels
      run={run}
      title="Optimisation history"
      file={`${run.document.value.name}-history`}
      summary={summaryOf(run, objective, best, values)}
      notes={up.notes}
      height={HEIGHT_PX}
      table={() => tableOf(table, objective, order, mask, best)}
      panels={useMemo(() => [panel], [panel])}
      controls={
        <>
          {objectiveControl}
          <Choose
            label="Over"
            value={xName}
            choices={orders}
            onChoose={(id) => (xChoice.value = id)}
          />
          {up.control}
          {dragging.control}
        </>
      }
      below={
        <Legend
          items={legendOf(theme, {
            isFiltered: run.selection.value.count < table.rows,
            hasOthers: values.length > best.counted,
            hasFailed: data.edge.failed.length > 0,
            hasStopped: data.edge.stopped.length > 0,
            hasNan: data.edge.nan.length > 0,
          })}
        />
      }
    />
  );
}
