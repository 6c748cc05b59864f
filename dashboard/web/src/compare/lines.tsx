// SPDX-License-Identifier: GPL-3.0-or-later
// A chart with a line for each run.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { curvePoints, strandsOf } from "../charts/curve_lines";
import { useDragging, useLog } from "../charts/controls";
import { Legend } from "../charts/legend";
import type { PanelSpec } from "../charts/panel";
import { Panels } from "../charts/panels";
import { isBetterAsLog } from "../charts/rows";
import type { DataTable } from "../charts/save";
import { extent, makeScale, scaleNote, valueText } from "../charts/scales";
import type { Scale } from "../charts/scales";
import { strandLine } from "../charts/strands";
import { useTheme } from "../charts/theme";
import type { RunModel } from "../types";

const HEIGHT_PX = 440;
const DASHES = [undefined, [6, 3], [2, 3], [9, 3, 2, 3], [1, 2]];

export interface Series {
  readonly place: number; // of its run among those compared: its colour
  readonly name: string;
  readonly x: readonly number[]; // rising
  readonly y: readonly number[];
  readonly row?: number; // of the table of all trials: what a click opens
}

export interface LinesProps {
  readonly run: RunModel; // of all trials
  readonly id: string; // begins its keys in the URL
  readonly title: string;
  readonly summary: string;
  readonly notes: readonly string[];
  readonly series: readonly Series[];
  readonly x: { readonly label: string; readonly isWhole?: boolean };
  readonly y: { readonly label: string; readonly isShare?: boolean };
  readonly isStepped?: boolean;
  readonly controls?: ComponentChildren;
}

export const colorPlace = (place: number, colors: number) => place % colors;

// A place among very many has its colour, and a dash.
export const dashOf = (place: number, colors: number) =>
  DASHES[Math.floor(place / colors) % DASHES.length];

function tableOf(series: readonly Series[], x: string, y: string): DataTable {
  const firsts: number[] = [];
  let rows = 0;
  for (const one of series) {
    firsts.push(rows);
    rows += one.x.length;
  }
  return {
    columns: ["run", x, y],
    rows,
    cell: (row, column) => {
      const at = firsts.findLastIndex((first) => first <= row);
      const { name, x: across, y: up } = series[at];
      return [name, across[row - firsts[at]], up[row - firsts[at]]][column];
    },
  };
}

const flat = (series: readonly Series[], of: (one: Series) => readonly number[]) =>
  Float64Array.from(series.flatMap((one) => [...of(one)]));

// A step holds until the next one.
function stepped({ x, y }: Series): { x: number[]; y: number[] } {
  const made = { x: [] as number[], y: [] as number[] };
  x.forEach((at, i) => {
    if (i > 0) {
      made.x.push(at);
      made.y.push(y[i - 1]);
    }
    made.x.push(at);
    made.y.push(y[i]);
  });
  return made;
}

export function RunLines(props: LinesProps) {
  const { run, id, title, summary, notes, series, isStepped, controls } = props;
  const theme = useTheme();
  const logX = useLog(`${id}.x`);
  const logY = useLog(`${id}.y`);
  const xs = useMemo(() => flat(series, ({ x }) => x), [series]);
  const ys = useMemo(() => flat(series, ({ y }) => y), [series]);
  const isLogX = logX.isLog(false);
  const isLogY = logY.isLog(useMemo(() => isBetterAsLog(ys.filter(Number.isFinite)), [ys]));
  const scales = useMemo(() => {
    const scaleOf = (data: Float64Array, isLog: boolean, isWhole = false): Scale => {
      const kind = isLog ? "log" : "linear";
      const { min, max } = extent(data, data.length, kind);
      return makeScale(kind, min, max, isWhole);
    };
    const y = props.y.isShare ? makeScale("linear", 0, 1) : scaleOf(ys, isLogY);
    return { x: scaleOf(xs, isLogX, props.x.isWhole), y };
  }, [xs, ys, isLogX, isLogY, props.y.isShare]);
  const dragging = useDragging(run, id, "zoom");
  const zoom = useMemo(
    () => dragging.use({ scale: scales.x, column: "" }, { scale: scales.y, column: "" }),
    [scales, dragging.zoomKey],
  );
  const panels = useMemo((): PanelSpec[] => {
    const lines = series.map((one) => {
      const { x, y } = isStepped ? stepped(one) : one;
      const curve = { trial: 0, steps: x, values: y, raw: x, times: x };
      return { row: one.row ?? -1, curve, x, shown: y };
    });
    const strands = strandsOf(lines, zoom.x, zoom.y);
    return [
      {
        id,
        x: { scale: zoom.x, label: props.x.label + scaleNote(zoom.x) },
        y: { scale: zoom.y, label: props.y.label + scaleNote(zoom.y) },
        lines: series.map(({ place }, line) =>
          strandLine(strands, line, {
            color: theme.series[colorPlace(place, theme.series.length)],
            width: 2,
            dash: dashOf(place, theme.series.length),
          }),
        ),
        points: curvePoints(
          strands,
          lines,
          (line, index) =>
            `${series[line].name}\n` +
            `${props.x.label} ${valueText(zoom.x.fromUnit(strands.x[index]))}\n` +
            `${props.y.label} ${valueText(zoom.y.fromUnit(strands.y[index]))}`,
        ),
        onDrag: zoom.onDrag,
        onReset: zoom.onReset,
      },
    ];
  }, [series, zoom, theme]);
  return (
    <Panels
      run={run}
      title={title}
      file={`comparison-${id}`}
      summary={summary}
      notes={notes}
      panels={panels}
      height={HEIGHT_PX}
      table={() => tableOf(series, props.x.label, props.y.label)}
      controls={
        <>
          {controls}
          {logX.control(`Log ${props.x.label}`, isLogX)}
          {!props.y.isShare && logY.control(`Log ${props.y.label}`, isLogY)}
          {dragging.control}
        </>
      }
      below={
        <Legend
          items={series.map(({ place, name }) => ({
            sign: dashOf(place, theme.series.length) === undefined ? "line" : "dash",
            color: theme.series[colorPlace(place, theme.series.length)],
            text: name,
          }))}
        />
      }
    />
  );
}
