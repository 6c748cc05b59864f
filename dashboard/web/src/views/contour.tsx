// SPDX-License-Identifier: GPL-3.0-or-later
// Two parameters against what came out: a surface from the trials that there are,
// and nothing where there are none near; and small ones of the pairs that matter.
import { useEffect, useMemo, useState } from "preact/hooks";
import { getJson } from "../api";
import { cloudPoints, makeCloud, paintCloud } from "../charts/cloud";
import type { Cloud } from "../charts/cloud";
import { Check, Choose, useDragging, useHeldText } from "../charts/controls";
import { bestPlace, coverage, makeField } from "../charts/contour/field";
import type { Field } from "../charts/contour/field";
import { paintField } from "../charts/contour/paint";
import type { PanelSpec } from "../charts/panel";
import { Panels } from "../charts/panels";
import {
  counted, finiteValues, isBetterAsLog, missingNotes, rowText, selectedText, valueName, valuesOf,
} from "../charts/rows";
import { makeScale, scaleNote, scaleOfColumn, valueText } from "../charts/scales";
import type { Scale } from "../charts/scales";
import { Shades } from "../charts/shades_legend";
import { shades } from "../charts/shades";
import { useTheme } from "../charts/theme";
import type { Theme } from "../charts/theme";
import type { Objective, RunModel, SpaceParam, Table, ViewProps } from "../types";

const HEIGHT_PX = 460;
const SMALL_PX = 190;
const LEVELS = 14;
const CLOUD_MAX = 3000; // more would hide the surface
const TAIL = 0.02; // of the values at each end: beyond the colours' ends
const PAIRS_OF = 4; // the parameters that matter most
const NEAR = 0.006; // of a scale: places that the surface can hardly tell apart

interface Importance {
  importance: { metric: string; param: string; importance: number }[];
}

// ---- values and their colours ----

interface Surface {
  readonly objective: Objective;
  readonly of: (row: number) => number; // where their scale is even
  readonly level: (even: number) => number; // 0 worst, 1 best
  readonly even: Scale;
  readonly isLog: boolean;
}

// Colours span all but the tails: one trial that went astray leaves the others theirs.
function makeSurface(table: Table, objective: Objective): Surface {
  const raw = valuesOf(table.byName.get(valueName(objective)));
  const values = finiteValues(table, new Uint8Array(table.rows).fill(1), raw).slice().sort();
  const isLog = isBetterAsLog(values);
  const at = (share: number) => values[Math.floor(share * (values.length - 1))] ?? NaN;
  const even = makeScale(isLog ? "log" : "linear", at(TAIL), at(1 - TAIL));
  const isLess = objective.goal === "minimize";
  return {
    objective, even, isLog,
    of: (row) => even.toUnit(raw(row)),
    level: (unit) => (isLess ? 1 - unit : unit),
  };
}

// ---- one plot ----

interface Pair {
  readonly x: SpaceParam;
  readonly y: SpaceParam;
}

function wholeScale(table: Table, param: SpaceParam): Scale | null {
  const column = table.byName.get(`param:${param.name}`);
  return column === undefined ? null : scaleOfColumn(column, table.rows, param);
}

interface Plot {
  readonly panel: PanelSpec;
  readonly field: Field;
  readonly cloud: Cloud;
  readonly x: Scale;
  readonly y: Scale;
}

interface PlotOptions {
  readonly theme: Theme;
  readonly surface: Surface;
  readonly mask: Uint8Array;
  readonly hasCloud: boolean;
  readonly title?: string;
  readonly drag?: Pick<PanelSpec, "onDrag" | "onReset">;
}

function makePlot(table: Table, pair: Pair, x: Scale, y: Scale, options: PlotOptions): Plot {
  const { theme, surface, mask, hasCloud } = options;
  const [columnX, columnY] = [`param:${pair.x.name}`, `param:${pair.y.name}`];
  const cloud = makeCloud(
    table.rows,
    { scale: x, of: valuesOf(table.byName.get(columnX)) },
    { scale: y, of: valuesOf(table.byName.get(columnY)) },
  );
  const field = makeField(cloud, { x, y }, mask, (row) => {
    const unit = surface.of(row);
    return Math.min(1, Math.max(0, unit));
  });
  const look = {
    scales: { x, y }, colors: shades(theme, LEVELS), line: theme.surface, level: surface.level,
  };
  const colors = { palette: [theme.ink], of: () => 0 };
  const names = [valueName(surface.objective), columnX, columnY];
  const panel: PanelSpec = {
    id: `${columnX} ${columnY}`,
    title: options.title,
    x: { scale: x, label: pair.x.name + scaleNote(x) },
    y: { scale: y, label: pair.y.name + scaleNote(y) },
    paint: (painter, area) => {
      paintField(painter, field, area, look);
      if (hasCloud) paintCloud(painter, cloud, area, { mask, colors, theme });
    },
    points: cloudPoints(cloud, mask, (row) => rowText(table, row, names)),
    ...options.drag,
  };
  return { panel, field, cloud, x, y };
}

// With no more digits than the surface can tell, and still in the range.
function roughText(scale: Scale, unit: number): string {
  const value = scale.fromUnit(unit);
  if (scale.kind === "category") return scale.text(value);
  const near = scale.fromUnit(unit + NEAR) - scale.fromUnit(unit - NEAR);
  const step = scale.isWhole ? 1 : 10 ** Math.floor(Math.log10(near));
  return valueText(Math.min(scale.max, Math.max(scale.min, Math.round(value / step) * step)));
}

function summaryOf(run: RunModel, pair: Pair, plot: Plot, surface: Surface): string {
  const { metric, goal } = surface.objective;
  const begin =
    `${metric} (${goal}) over ${pair.x.name} and ${pair.y.name}: ${selectedText(run)}, ` +
    `${counted(plot.field.known, "value")}.`;
  const best = bestPlace(plot.field, goal === "minimize");
  if (best === null) return `${begin} Too few values for a surface.`;
  return (
    `${begin} The surface covers ${Math.round(coverage(plot.field) * 100)} % of the plane. Its best point ` +
    `is near ${pair.x.name} ${roughText(plot.x, best.x)}, ` +
    `${pair.y.name} ${roughText(plot.y, best.y)}, with a value of about ` +
    `${roughText(surface.even, best.value)}.`
  );
}

// ---- the pairs that matter ----

function useImportance(run: RunModel, metric: string): readonly string[] {
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    getJson<Importance>(`/runs/${run.id}/importance`, stop.signal).then(
      ({ importance }) => setNames(importance
        .filter((one) => one.metric === metric)
        .sort((a, b) => b.importance - a.importance)
        .map(({ param }) => param)),
      () => undefined, // too few results: then all count the same
    );
    return () => stop.abort();
  }, [run, metric]);
  return names;
}

function pairsOf(params: readonly SpaceParam[], names: readonly string[]): Pair[] {
  const rank = (param: SpaceParam) => {
    const place = names.indexOf(param.name);
    return place < 0 ? names.length : place;
  };
  const first = [...params].sort((a, b) => rank(a) - rank(b)).slice(0, PAIRS_OF);
  return first.flatMap((x, i) => first.slice(i + 1).map((y) => ({ x, y })));
}

function Pairs(props: { run: RunModel; pairs: readonly Pair[]; surface: Surface }) {
  const { run, pairs, surface } = props;
  const theme = useTheme();
  const table = run.table.value;
  const { mask } = run.selection.value;
  const plots = useMemo(
    () => pairs.flatMap((pair) => {
      const [x, y] = [wholeScale(table, pair.x), wholeScale(table, pair.y)];
      return x === null || y === null ? [] : [makePlot(table, pair, x, y, {
        theme, surface, mask, hasCloud: false, title: `${pair.x.name} and ${pair.y.name}`,
      })];
    }),
    [table, mask, theme, surface, pairs],
  );
  const panels = useMemo(() => plots.map(({ panel }) => panel), [plots]);
  return (
    <Panels run={run} title="Most important pairs" file={`${run.document.value.name}-pairs`}
      summary={`${surface.objective.metric} over ${counted(pairs.length, "pair")} of parameters: ` +
        `${pairs.map(({ x, y }) => `${x.name} and ${y.name}`).join("; ")}.`}
      table={() => ({
        columns: ["x", "y", `best ${surface.objective.metric}`, "covered share"],
        rows: plots.length,
        cell: (row, column) => {
          const best = bestPlace(plots[row].field, surface.objective.goal === "minimize");
          return [
            pairs[row].x.name, pairs[row].y.name,
            best === null ? null : surface.even.fromUnit(best.value), coverage(plots[row].field),
          ][column];
        },
      })}
      panels={panels} height={SMALL_PX} widthMin={250} />
  );
}

// ---- the view ----

export function ContourView({ run }: ViewProps) {
  const theme = useTheme();
  const table = run.table.value;
  const { mask, count } = run.selection.value;
  const chosen = useHeldText("contour.objective", run.objectives[0].metric);
  const objective =
    run.objectives.find(({ metric }) => metric === chosen.value) ?? run.objectives[0];
  const importance = useImportance(run, objective.metric);
  const pairs = useMemo(() => pairsOf(run.params, importance), [run, importance]);
  const heldX = useHeldText("contour.x");
  const heldY = useHeldText("contour.y");
  const byName = (name: string) => run.params.find((param) => param.name === name);
  const x = byName(heldX.value) ?? pairs[0].x;
  const y = byName(heldY.value) ?? [pairs[0].y, pairs[0].x].find((param) => param !== x) ?? pairs[0].y;
  const trials = useHeldText("contour.trials");
  const hasCloud = trials.value === "" ? count <= CLOUD_MAX : trials.value === "yes";
  const surface = useMemo(() => makeSurface(table, objective), [table, objective]);
  const dragging = useDragging(run, "contour");
  const plot = useMemo(() => {
    const [scaleX, scaleY] = [wholeScale(table, x), wholeScale(table, y)];
    if (scaleX === null || scaleY === null) return null;
    const zoom = dragging.use(
      { scale: scaleX, column: `param:${x.name}` }, { scale: scaleY, column: `param:${y.name}` }, true,
    );
    return makePlot(table, { x, y }, zoom.x, zoom.y, {
      theme, surface, mask, hasCloud, drag: { onDrag: zoom.onDrag, onReset: zoom.onReset },
    });
  }, [table, mask, x, y, theme, surface, hasCloud, dragging.zoomKey, dragging.mode]);
  const panels = useMemo(() => (plot === null ? [] : [plot.panel]), [plot]);
  const notes = useMemo(
    () => [x, y].flatMap((param) =>
      missingNotes(table, mask, valuesOf(table.byName.get(`param:${param.name}`)), { name: param.name }))
      .concat(missingNotes(table, mask, valuesOf(table.byName.get(valueName(objective))), { name: objective.metric })),
    [table, mask, x, y, objective],
  );
  if (plot === null) return <p class="muted">No trial has these parameters yet.</p>;
  const choices = run.params.map(({ name }) => ({ id: name, text: name }));
  const ends = surface.objective.goal === "minimize"
    ? [surface.even.max, surface.even.min] : [surface.even.min, surface.even.max];
  const cloud = plot.cloud;
  const rough = (value: number) => valueText(Number(value.toPrecision(3)));
  return (
    <div class="chart-stack">
      <Panels run={run} title="Contour" file={`${run.document.value.name}-contour`}
        summary={summaryOf(run, { x, y }, plot, surface)}
        notes={hasCloud ? notes : [...notes, "trials are hidden: turn on “Trials” above"]}
        table={() => {
          const rows = cloud.rows.slice(0, cloud.count).filter((row) => mask[row] !== 0);
          const columns = [`param:${x.name}`, `param:${y.name}`, valueName(objective)]
            .map((name) => table.byName.get(name));
          const numbers = table.byName.get("number")?.data;
          return {
            columns: ["trial", x.name, y.name, objective.metric],
            rows: rows.length,
            cell: (row, index) => {
              if (index === 0) return numbers?.[rows[row]] ?? null;
              const column = columns[index - 1];
              const value = column?.data[rows[row]] ?? NaN;
              return column?.kind === "words" ? (column.words[value] ?? null) : value;
            },
          };
        }}
        panels={panels} height={HEIGHT_PX}
        controls={
          <>
            <Choose label="Across" value={x.name} choices={choices}
              onChoose={(name) => (heldX.value = name)} />
            <Choose label="Up" value={y.name} choices={choices.filter(({ id }) => id !== x.name)}
              onChoose={(name) => (heldY.value = name)} />
            {run.objectives.length > 1 && (
              <Choose label="Objective" value={objective.metric}
                choices={run.objectives.map(({ metric }) => ({ id: metric, text: metric }))}
                onChoose={(metric) => (chosen.value = metric)} />
            )}
            <Check label="Trials" isOn={hasCloud}
              onChange={(isOn) => (trials.value = isOn ? "yes" : "no")} />
            {dragging.control}
          </>
        }
        below={<Shades levels={LEVELS} from={`${rough(ends[0])} and worse`}
          to={`${rough(ends[1])} and better (${objective.metric})`} />} />
      {pairs.length > 1 && <Pairs run={run} pairs={pairs} surface={surface} />}
    </div>
  );
}
