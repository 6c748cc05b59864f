// SPDX-License-Identifier: GPL-3.0-or-later
// Which parameters matter: what a model of all results says, and how the ranks
// go together among the trials of the selection.
import { useEffect, useMemo, useState } from "preact/hooks";
import { getJson } from "../api";
import { listPoints } from "../charts/cloud";
import type { PanelSpec } from "../charts/panel";
import { Panels } from "../charts/panels";
import { rankCorrelation, ranks } from "../charts/rank";
import { counted, makeCounts, selectedText, valueName, valuesOf } from "../charts/rows";
import type { RowValue } from "../charts/rows";
import { makeCategories, makeScale, valueText } from "../charts/scales";
import type { Painter } from "../charts/svg";
import { useTheme } from "../charts/theme";
import type { Theme } from "../charts/theme";
import type { Area } from "../charts/axes";
import type { Objective, RunModel, SpaceParam, Table, ViewProps } from "../types";

interface Answer {
  results: number; // on how many it rests
  needed: number; // from how many on it is known
  importance: { metric: string; param: string; importance: number }[];
}

interface Bar {
  readonly name: string;
  readonly value: number; // NaN: cannot be said
  readonly text: string;
}

const BAR_PX = 26;
const BAR_SHARE = 0.62;
const RESULTS_GROWTH = 1.1;

// ---- bars ----

const heightOf = (bars: number) => bars * BAR_PX + 70;

function paintBars(
  painter: Painter,
  area: Area,
  bars: readonly Bar[],
  look: { zero: number; toUnit(value: number): number; theme: Theme },
): void {
  const band = area.height / bars.length;
  const zero = area.left + look.zero * area.width;
  painter.textBaseline = "middle";
  painter.font = `400 11px ${look.theme.font}`;
  bars.forEach(({ value, text }, index) => {
    const middle = area.top + (index + 0.5) * band;
    const end = Number.isNaN(value) ? zero : area.left + look.toUnit(value) * area.width;
    painter.fillStyle = value < 0 ? look.theme.series[1] : look.theme.accent;
    painter.fillRect(
      Math.min(zero, end),
      middle - (band * BAR_SHARE) / 2,
      Math.abs(end - zero),
      band * BAR_SHARE,
    );
    painter.fillStyle = look.theme.muted;
    const isLeft = value < 0;
    const hasRoom = !isLeft && end + painter.measureText(text).width + 8 < area.left + area.width;
    painter.textAlign = isLeft || !hasRoom ? "right" : "left";
    const x = isLeft ? end - 6 : hasRoom ? end + 6 : end - 6;
    if (!isLeft && !hasRoom) painter.fillStyle = look.theme.surface;
    painter.fillText(text, x, middle);
  });
}

function barsPanel(
  id: string,
  bars: readonly Bar[],
  from: number,
  label: string,
  theme: Theme,
): PanelSpec {
  const scale = makeScale("linear", from, 1);
  // The first one lies on top.
  const words = bars.map(({ name }) => name).reverse();
  const y = makeCategories(words);
  return {
    id,
    title: id,
    x: { scale, label },
    y: { scale: y, label: "" },
    paint: (painter, area) =>
      paintBars(painter, area, bars, { zero: scale.toUnit(0), toUnit: scale.toUnit, theme }),
    points: listPoints(
      bars.map(({ name, value, text }, index) => ({
        x: scale.toUnit(Number.isNaN(value) ? 0 : value),
        y: y.toUnit(bars.length - 1 - index),
        text: `${name}\n${id}: ${text}`,
      })),
    ),
  };
}

// ---- what the model says ----

function countResults(table: Table, objectives: readonly Objective[]): number {
  const counts = makeCounts(table);
  const ofs = objectives.map((objective) => valuesOf(table.byName.get(valueName(objective))));
  let results = 0;
  for (let row = 0; row < table.rows; row++)
    if (counts(row) && ofs.every((of) => Number.isFinite(of(row)))) results++;
  return results;
}

// Asked again when there are a tenth more results.
function useAnswer(run: RunModel): { answer?: Answer; problem?: string } {
  const [state, setState] = useState<{ answer?: Answer; problem?: string }>({});
  const table = run.table.value;
  const results = useMemo(() => countResults(table, run.objectives), [table]);
  const stage = Math.floor(Math.log(Math.max(1, results)) / Math.log(RESULTS_GROWTH));
  const isOver = run.document.value.state !== "running";
  useEffect(() => {
    const stop = new AbortController();
    getJson<Answer>(`/runs/${run.id}/importance`, stop.signal).then(
      (answer) => setState({ answer }),
      (error: Error) => stop.signal.aborted || setState({ problem: error.message }),
    );
    return () => stop.abort();
  }, [run, stage, isOver]);
  return state;
}

const percentText = (share: number) =>
  share > 0 && share < 0.0005
    ? "under 0.1 %"
    : `${Number((share * 100).toFixed(share < 0.01 ? 1 : 0))} %`;

function sharesOf(answer: Answer, metric: string): Bar[] {
  return answer.importance
    .filter((one) => one.metric === metric)
    .sort((a, b) => b.importance - a.importance)
    .map(({ param, importance }) => ({
      name: param,
      value: importance,
      text: percentText(importance),
    }));
}

export function ModelImportance({ run }: ViewProps) {
  const theme = useTheme();
  const { answer, problem } = useAnswer(run);
  const shares = useMemo(
    () =>
      run.objectives.map(({ metric }) => ({
        metric,
        bars: answer ? sharesOf(answer, metric) : [],
      })),
    [answer],
  );
  const panels = useMemo(
    () =>
      shares
        .filter(({ bars }) => bars.length > 0)
        .map(({ metric, bars }) => barsPanel(metric, bars, 0, "share of the variation", theme)),
    [shares, theme],
  );
  const said = shares
    .filter(({ bars }) => bars.length > 0)
    .map(
      ({ metric, bars }) =>
        `For ${metric}: ${bars
          .slice(0, 3)
          .map(({ name, text }) => `${name} ${text}`)
          .join(", ")}.`,
    );
  const summary = (() => {
    if (problem !== undefined) return `Cannot read the importance: ${problem}`;
    if (answer === undefined) return "Loading …";
    if (answer.results < answer.needed)
      return `Importance needs ${counted(answer.needed, "result")}; this run has ${answer.results}.`;
    if (said.length === 0)
      return `No important parameter found in ${counted(answer.results, "result")}.`;
    return (
      `The share of the variation of an objective that each parameter explains, in a model of ` +
      `${counted(answer.results, "result")} of the whole run. ${said.join(" ")}`
    );
  })();
  const rows = answer?.importance ?? [];
  return (
    <Panels
      run={run}
      title="Importance"
      file={`${run.document.value.name}-importance`}
      summary={summary}
      panels={panels}
      widthMin={320}
      height={Math.max(
        0,
        ...shares.map(({ bars }) => (bars.length > 0 ? heightOf(bars.length) : 0)),
      )}
      table={() => ({
        columns: ["metric", "param", "importance"],
        rows: rows.length,
        cell: (row, column) => [rows[row].metric, rows[row].param, rows[row].importance][column],
      })}
    />
  );
}

// ---- ranks, in the selection ----

const isOrdered = ({ kind, values }: SpaceParam) =>
  kind !== "categorical" || (values ?? []).length <= 2;

interface Ranked extends Bar {
  readonly metric: string;
  readonly pairs: number; // trials that have both
}

function rowsWith(table: Table, mask: Uint8Array, of: RowValue): Uint32Array {
  const rows = new Uint32Array(table.rows);
  let count = 0;
  for (let row = 0; row < table.rows; row++)
    if (mask[row] !== 0 && Number.isFinite(of(row))) rows[count++] = row;
  return rows.subarray(0, count);
}

function ranksAt(rows: Uint32Array, of: RowValue): Float64Array {
  const values = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) values[i] = of(rows[i]);
  return ranks(values);
}

function rankBars(run: RunModel, objective: Objective): Ranked[] {
  const table = run.table.peek();
  const yOf = valuesOf(table.byName.get(valueName(objective)));
  const valued = rowsWith(table, run.selection.peek().mask, yOf);
  const yRanks = ranksAt(valued, yOf);
  return run.params
    .filter((param) => isOrdered(param) && table.byName.has(`param:${param.name}`))
    .map(({ name }) => {
      const xOf = valuesOf(table.byName.get(`param:${name}`));
      const rows = valued.filter((row) => Number.isFinite(xOf(row)));
      const pairs = rows.length;
      const y = pairs === valued.length ? yRanks : ranksAt(rows, yOf);
      const value = rankCorrelation(ranksAt(rows, xOf), y);
      const text = Number.isNaN(value) ? "does not vary" : valueText(Number(value.toFixed(2)));
      return { name, value, text, pairs, metric: objective.metric };
    })
    .sort((a, b) => (Math.abs(b.value) || 0) - (Math.abs(a.value) || 0));
}

function RankChart({ run }: ViewProps) {
  const theme = useTheme();
  const table = run.table.value;
  const { mask } = run.selection.value;
  const all = useMemo(
    () => run.objectives.map((objective) => rankBars(run, objective)),
    [table, mask],
  );
  const panels = useMemo(
    () =>
      all
        .filter((bars) => bars.length > 0)
        .map((bars) => barsPanel(bars[0].metric, bars, -1, "rank correlation", theme)),
    [all, theme],
  );
  const unordered = run.params.filter((param) => !isOrdered(param)).map(({ name }) => name);
  const notes =
    unordered.length === 0
      ? []
      : [
          `${unordered.join(", ")} ${unordered.length === 1 ? "has" : "have"} no order and no ranks`,
        ];
  const said = all
    .filter((bars) => bars.length > 0 && !Number.isNaN(bars[0].value))
    .map(
      (bars) =>
        `Strongest for ${bars[0].metric}: ${bars[0].name} ${bars[0].text} ` +
        `(${counted(bars[0].pairs, "trial")}).`,
    );
  const rows = all.flat();
  return (
    <Panels
      run={run}
      title="Rank correlation in the selection"
      widthMin={320}
      file={`${run.document.value.name}-rank-correlation`}
      summary={
        `${selectedText(run)}: Spearman's rank correlation of each parameter with an objective. ` +
        `1 or -1: one always rises or falls with the other. ${said.join(" ")}`
      }
      notes={notes}
      panels={panels}
      height={Math.max(0, ...all.map((bars) => (bars.length > 0 ? heightOf(bars.length) : 0)))}
      table={() => ({
        columns: ["metric", "param", "correlation", "trials"],
        rows: rows.length,
        cell: (row, column) => {
          const { metric, name, value, pairs } = rows[row];
          return [metric, name, value, pairs][column];
        },
      })}
    />
  );
}

export function ImportanceView({ run }: ViewProps) {
  return (
    <div class="chart-stack">
      <ModelImportance run={run} />
      <RankChart run={run} />
    </div>
  );
}
