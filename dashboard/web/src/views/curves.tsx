// SPDX-License-Identifier: GPL-3.0-or-later
// Learning curves: a metric over the steps of each trial, and the rungs where
// trials were stopped or promoted.
import { useEffect, useMemo, useState } from "preact/hooks";
import { getJson } from "../api";
import { useColors } from "../charts/colors";
import { Check, Choose, useDragging, useHeldText, useLog } from "../charts/controls";
import { bandsOf, groupChoices, groupOf, paintBand } from "../charts/curve_groups";
import type { Band } from "../charts/curve_groups";
import { acrossOf, useOver } from "../charts/curve_over";
import type { Over } from "../charts/curve_over";
import { curvePoints, flat, linesOf, strandsOf } from "../charts/curve_lines";
import type { Line, Lines } from "../charts/curve_lines";
import { Legend } from "../charts/legend";
import { lineOf, paintBeyond, paintLine } from "../charts/lines";
import type { PanelSpec } from "../charts/panel";
import { Panels } from "../charts/panels";
import type { Ended, Rung } from "../charts/rung_counts";
import { paintEnded, paintRungs, promotedText, useRungs } from "../charts/rungs";
import { counted, isBetterAsLog, numberOf, selectedText, wordOf } from "../charts/rows";
import type { DataTable } from "../charts/save";
import { extent, makeScale, scaleNote, valueText } from "../charts/scales";
import { isDense, paintDense, partedStrands, strandLine, strandLines } from "../charts/strands";
import { useTheme } from "../charts/theme";
import { useCurves } from "../charts/use_curves";
import type { Reading } from "../charts/use_curves";
import { rowOf } from "../data/columns";
import { formatCount } from "../shell/format";
import type { RunModel, Table, ViewProps } from "../types";

const HEIGHT_PX = 460;
const MARKED_PX = 2.5;

const smoothings = [
  { id: "0", text: "none" },
  { id: "0.6", text: "low" },
  { id: "0.9", text: "medium" },
  { id: "0.97", text: "high" },
];

// ---- words and numbers ----

function summaryOf(run: RunModel, metric: string, lines: Lines): string {
  const begin =
    `${selectedText(run)}: ${counted(lines.inside.length, "curve")} of ${metric}, ` +
    `${counted(lines.points, "point")}.`;
  const lasts = lines.inside
    .map(({ row, curve }) => ({ row, last: curve.values[curve.values.length - 1] }))
    .filter(({ last }) => Number.isFinite(last))
    .sort((a, b) => a.last - b.last);
  if (lasts.length === 0) return begin;
  const say = ({ row, last }: { row: number; last: number }) =>
    `${valueText(last)} (trial ${numberOf(run.table.peek(), row)})`;
  return `${begin} Last values from ${say(lasts[0])} to ${say(lasts[lasts.length - 1])}.`;
}

function rungsText(rungs: readonly Rung[]): string {
  const reached = rungs.filter((rung) => rung.reached > 0 && !rung.isLast);
  if (reached.length === 0) return "";
  const parts = reached.map((rung) => `at ${valueText(rung.resource)}, ${promotedText(rung)}`);
  return ` Rungs: ${parts.join("; ")}.`;
}

function bandTable(bands: readonly Band[], unit: string, metric: string): DataTable {
  const rows = bands.flatMap((band) => band.x.map((_, i) => ({ band, i })));
  return {
    columns: ["group", unit, `mean ${metric}`, "standard deviation", "trials"],
    rows: rows.length,
    cell: (row, column) => {
      const { band, i } = rows[row];
      return [band.name, band.x[i], band.mean[i], band.spread[i], band.count[i]][column];
    },
  };
}

function tableOf(
  table: Table,
  metric: string,
  lines: readonly Line[],
  unit: string,
  isSmooth: boolean,
): DataTable {
  const firsts: number[] = [];
  let rows = 0;
  for (const { x } of lines) {
    firsts.push(rows);
    rows += x.length;
  }
  return {
    columns: ["trial", "state", unit, metric, ...(isSmooth ? [`${metric}, smoothed`] : [])],
    rows,
    cell: (row, column) => {
      const at = firsts.findLastIndex((first) => first <= row);
      const { curve, x, shown, row: tableRow } = lines[at];
      const index = row - firsts[at];
      if (column === 0) return curve.trial;
      if (column === 1) return wordOf(table, "state", tableRow);
      return [x[index], curve.values[index], shown[index]][column - 2];
    },
  };
}

function notesOf(reading: Reading, missing: number, trialsWithout: number): string[] {
  const notes: string[] = [];
  if (reading.problem !== undefined) notes.push(`cannot read the curves: ${reading.problem}`);
  if (trialsWithout > 0 && !reading.isReading && !reading.isFull)
    notes.push(`${counted(trialsWithout, "trial")} reported no values of it`);
  if (missing > 0)
    notes.push(
      `${counted(missing, "point")} not drawn: nan, or not positive on a log axis`,
    );
  return notes;
}

function Progress({ reading }: { reading: Reading }) {
  const { readTrials, allTrials, isReading, isFull, store, readMore } = reading;
  if (!isReading && !isFull) return null;
  const text =
    `${formatCount(readTrials)} of ${counted(allTrials, "trial")} read, ` +
    `${counted(store.points, "point")}`;
  return (
    <span class="chart-progress" role="status">
      {isReading && <progress max={allTrials} value={readTrials} aria-label="Trials read" />}
      {text}
      {isFull && (
        <button type="button" class="btn btn-small" onClick={readMore}>
          Read more
        </button>
      )}
    </span>
  );
}

// ---- the chart ----

function useLines(run: RunModel, reading: Reading, share: number, over: Over) {
  const table = run.table.value;
  const { mask } = run.selection.value;
  const lines = useMemo(
    () => linesOf(table, mask, reading.store, share, acrossOf(table, over)),
    [table, mask, reading.version, reading.store, share, over],
  );
  const logX = useLog("curves.x");
  const logY = useLog("curves.y");
  const all = useMemo(() => [...lines.inside, ...lines.outside], [lines]);
  const steps = useMemo(() => flat(all, ({ x }) => x), [all]);
  const values = useMemo(() => flat(all, ({ shown }) => shown), [all]);
  const isLogY = logY.isLog(useMemo(() => isBetterAsLog(values.filter(Number.isFinite)), [values]));
  const isLogX = logX.isLog(false);
  const scales = useMemo(() => {
    const scaleOf = (data: Float64Array, isLog: boolean, isWhole = false) => {
      const kind = isLog ? "log" : "linear";
      const { min, max } = extent(data, data.length, kind);
      return makeScale(kind, min, max, isWhole);
    };
    return { x: scaleOf(steps, isLogX, over !== "time"), y: scaleOf(values, isLogY) };
  }, [steps, values, isLogX, isLogY, over]);
  const controls = (
    <>
      {logX.control(over === "time" ? "Log time" : "Log steps", isLogX)}
      {logY.control("Log values", isLogY)}
    </>
  );
  return { table, mask, lines, scales, controls };
}

const alphaOf = (curves: number) => Math.max(0.06, Math.min(0.75, 4 / Math.sqrt(curves + 1)));

function CurvesChart(props: {
  run: RunModel;
  metric: string;
  metrics: readonly string[];
  choose(metric: string): void;
}) {
  const { run, metric, metrics, choose } = props;
  const theme = useTheme();
  const smooth = useHeldText("curves.smooth", "0");
  const share = Math.min(0.99, Math.max(0, Number(smooth.value) || 0));
  const reading = useCurves(run, metric);
  const { rungs, ended } = useRungs(run);
  // With a schedule, curves and rungs are over its resource, if nobody chose.
  const { over, unit, control: overControl } = useOver(run);
  const { table, mask, lines, scales, controls } = useLines(run, reading, share, over);
  const colors = useColors(run, "curves.colour", "one");
  const by = useHeldText("curves.by");
  const isGrey = useHeldText("curves.grey");
  const bands = useMemo(
    () => by.value === ""
      ? [] : bandsOf(lines.inside, groupOf(run, table, by.value), over !== "time"),
    [lines, table, by.value, over],
  );
  const shownBands = bands.slice(0, theme.series.length);
  const isBehind = bands.length > 0 || isGrey.value !== "";
  const dragging = useDragging(run, "curves", "zoom");
  const zoom = useMemo(
    () => dragging.use({ scale: scales.x, column: "" }, { scale: scales.y, column: "" }),
    [scales, dragging.zoomKey],
  );
  const inside = useMemo(() => strandsOf(lines.inside, zoom.x, zoom.y), [lines, zoom]);
  const outside = useMemo(() => strandsOf(lines.outside, zoom.x, zoom.y), [lines, zoom]);
  const looks = {
    outside: { color: theme.ghost, width: 1, alpha: 0.35 },
    inside: {
      color: isBehind ? theme.ghost : theme.accent,
      width: 1.25,
      alpha: alphaOf(inside.count),
    },
  };
  const isOneColor = colors.name === "" || isBehind;
  const colorOf = (row: number) =>
    isOneColor ? looks.inside.color : colors.colors.palette[colors.colors.of(row)];
  // What is known of a rung is the metric that decides there.
  const isDeciding = metric === run.objectives[0]?.metric && over === "resource";
  const shownRungs = over === "resource" ? rungs : [];
  const panels = useMemo((): PanelSpec[] => {
    const isShown = ({ number }: Ended) => mask[rowOf(table, number)] === 1;
    const lineOfRow = new Map(lines.inside.map(({ row }, line) => [row, line]));
    const layers = [
      { strands: outside, look: looks.outside },
      ...(isOneColor
        ? [{ strands: inside, look: looks.inside }]
        : partedStrands(inside, (line) => colorOf(lines.inside[line].row)).map(
            ({ strands, color }) => ({ strands, look: { ...looks.inside, color } }),
          )),
    ];
    const dense = layers.filter(({ strands }) => isDense(strands));
    const sparse = layers.filter(({ strands }) => !isDense(strands));
    const text = (line: number, index: number) => {
      const { row, curve } = lines.inside[line];
      return (
        `trial ${curve.trial}\n${wordOf(table, "state", row)}\n` +
        `${unit} ${valueText(zoom.x.fromUnit(inside.x[index]))}\n` +
        `${metric} ${valueText(zoom.y.fromUnit(inside.y[index]))}`
      );
    };
    return [
      {
        id: "curves",
        x: { scale: zoom.x, label: unit + scaleNote(zoom.x) },
        y: { scale: zoom.y, label: metric + scaleNote(zoom.y) },
        lines: [
          ...sparse.flatMap(({ strands, look }) => strandLines(strands, look)),
          ...shownBands.map((band, i) =>
            lineOf(zoom, band.x, band.mean, { color: theme.series[i], width: 2.5 })),
        ],
        paint: (painter, area) => {
          for (const { strands, look } of dense) paintDense(painter, area, strands, look);
          shownBands.forEach((band, i) => paintBand(painter, area, band, zoom, theme.series[i]));
          paintRungs(painter, area, shownRungs, zoom.x, theme);
          paintBeyond(painter, area, inside.beyond, () => true, () => looks.inside.color);
        },
        paintMarked: (painter, area, marked) => {
          if (isDeciding) paintEnded(painter, area, ended.filter(isShown), zoom, theme);
          const paint = (row: number, color: string) => {
            const line = lineOfRow.get(row);
            if (line !== undefined)
              paintLine(painter, area, strandLine(inside, line, { color, width: MARKED_PX }));
          };
          marked.compared.forEach((row, i) =>
            paint(row, theme.series[(i + 1) % theme.series.length]),
          );
          paint(marked.focused, theme.best);
          paint(marked.hovered, theme.ink);
        },
        points: curvePoints(inside, lines.inside, text),
        onDrag: zoom.onDrag,
        onReset: zoom.onReset,
      },
    ];
  }, [inside, outside, theme, rungs, ended, colors.colors, bands, isBehind]);
  const trialsWithout = reading.readTrials - lines.inside.length;
  return (
    <Panels
      run={run}
      title="Learning curves"
      file={`${run.document.value.name}-curves-${metric}`}
      summary={`${summaryOf(run, metric, lines)}${rungsText(shownRungs)}`}
      notes={[
        ...notesOf(reading, inside.missing, trialsWithout),
        ...(bands.length > shownBands.length
          ? [`${counted(bands.length - shownBands.length, "smaller group")} not drawn (see the table)`]
          : []),
      ]}
      panels={panels}
      height={HEIGHT_PX}
      table={() => bands.length > 0
        ? bandTable(bands, unit, metric)
        : tableOf(table, metric, lines.inside, unit, share > 0)}
      controls={
        <>
          <Choose
            label="Metric"
            value={metric}
            onChoose={choose}
            choices={metrics.map((name) => ({ id: name, text: name }))}
          />
          <Choose
            label="Smooth"
            value={smooth.value}
            choices={smoothings}
            onChoose={(id) => (smooth.value = id)}
          />
          {overControl}
          {controls}
          <Choose
            label="Mean of"
            value={by.value}
            choices={groupChoices(run)}
            onChoose={(id) => (by.value = id)}
          />
          {bands.length === 0 && colors.control}
          <Check
            label="Others in grey"
            isOn={isGrey.value !== ""}
            onChange={(isOn) => (isGrey.value = isOn ? "1" : "")}
          />
          {dragging.control}
          <Progress reading={reading} />
        </>
      }
      below={
        <>
          {!isOneColor && colors.legend}
          <Legend
            items={[
              ...(isOneColor
                ? [{ sign: "line" as const, color: looks.inside.color, text: "trial" }]
                : []),
              ...shownBands.map(({ name, trials }, i) => ({
                sign: "line" as const,
                color: theme.series[i],
                text: `${name}: mean of ${counted(trials, "trial")}, standard deviation`,
              })),
              ...(run.focused.value > 0
                ? [{ sign: "line" as const, color: theme.best, text: "open trial" }]
                : []),
              ...(outside.count > 0
                ? [{ sign: "line" as const, color: theme.ghost, text: "filtered out" }]
                : []),
              ...(shownRungs.length > 0
                ? [
                    { sign: "dash" as const, color: theme.stopped, text: "rung of the schedule" },
                    ...(isDeciding
                      ? [{ sign: "dot" as const, color: theme.stopped, text: "not promoted" }]
                      : []),
                  ]
                : []),
            ]}
          />
        </>
      }
    />
  );
}

export function CurvesView({ run }: ViewProps) {
  const [metrics, setMetrics] = useState<readonly string[]>();
  const [problem, setProblem] = useState("");
  const first = run.objectives[0]?.metric ?? "";
  const chosen = useHeldText("curves.metric", first);
  const hasTrials = run.table.value.rows > 0;
  useEffect(() => {
    const stop = new AbortController();
    getJson<string[]>(`/runs/${run.id}/metric_names`, stop.signal).then(
      setMetrics,
      (error: Error) => stop.signal.aborted || setProblem(error.message),
    );
    return () => stop.abort();
  }, [run, hasTrials]);
  if (problem !== "") return <p class="problem">Cannot read the metrics: {problem}</p>;
  if (metrics === undefined) return <p class="empty">Loading …</p>;
  if (metrics.length === 0)
    return <p class="empty">No trial has reported a metric with a step yet.</p>;
  const metric = metrics.includes(chosen.value) ? chosen.value : metrics[0];
  return (
    <CurvesChart
      key={metric}
      run={run}
      metric={metric}
      metrics={metrics}
      choose={(name) => (chosen.value = name)}
    />
  );
}
