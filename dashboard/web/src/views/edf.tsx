// SPDX-License-Identifier: GPL-3.0-or-later
// The empirical distribution of an objective: which share of trials is at most
// so large.
import { useMemo } from "preact/hooks";
import { listPoints } from "../charts/cloud";
import { useColumnAxis } from "../charts/column_axis";
import { Choose, filterTo, useHeldText } from "../charts/controls";
import type { Choice } from "../charts/controls";
import { Legend } from "../charts/legend";
import { lineOf } from "../charts/lines";
import { useObjective } from "../charts/objective";
import type { PanelSpec } from "../charts/panel";
import { Panels } from "../charts/panels";
import { columnTitle, counted, median, rangeText, selectedText, valueName } from "../charts/rows";
import { makeScale, padded, valueText } from "../charts/scales";
import type { Scale } from "../charts/scales";
import { useTheme } from "../charts/theme";
import { lowerBound } from "../data/columns";
import type { Column, RunModel, Table, ViewProps } from "../types";

const HEIGHT_PX = 420;
const GROUPS_MAX = 8;
const CURSOR_STEPS = 20; // every 5 %
const EXACT_MAX = 4000; // more steps than that are more than there are pixels

interface Group {
  readonly name: string;
  readonly values: Float64Array; // finite, rising
}

function valuesWhere(table: Table, of: (row: number) => number, test: (row: number) => boolean) {
  const values = new Float64Array(table.rows);
  let count = 0;
  for (let row = 0; row < table.rows; row++)
    if (test(row) && Number.isFinite(of(row))) values[count++] = of(row);
  return values.slice(0, count).sort();
}

// All trials, and (with a filter) those of the selection; or those of the
// selection by the words of a column, the most frequent ones first.
function groupsOf(run: RunModel, of: (row: number) => number, by: Column | undefined): Group[] {
  const table = run.table.peek();
  const { mask, count } = run.selection.peek();
  if (by !== undefined)
    return [...by.words, ""]
      .map((word, index) => {
        const wanted = word === "" ? by.none : index;
        const name = word === "" ? "none" : word;
        const isIn = (row: number) => mask[row] !== 0 && by.data[row] === wanted;
        return { name, values: valuesWhere(table, of, isIn) };
      })
      .filter(({ values }) => values.length > 0)
      .sort((a, b) => b.values.length - a.values.length);
  const all = { name: "all", values: valuesWhere(table, of, () => true) };
  if (count === table.rows) return [all];
  return [{ name: "selection", values: valuesWhere(table, of, (row) => mask[row] !== 0) }, all];
}

// Of very many steps those that can be told apart at this many places; the last
// one holds until the scale's end.
function stepsOf({ values }: Group, scale: Scale): { x: number[]; y: number[] } {
  const count = values.length;
  if (count <= EXACT_MAX)
    return {
      x: [...values, scale.max],
      y: Array.from({ length: count + 1 }, (_, index) => Math.min(1, (index + 1) / count)),
    };
  const x = Array.from({ length: EXACT_MAX + 1 }, (_, i) => scale.fromUnit(i / EXACT_MAX));
  return { x, y: x.map((value) => lowerBound(values, count, value) / count) };
}

function pointsOf(groups: readonly Group[], scale: Scale, metric: string) {
  return groups.flatMap(({ name, values }) =>
    values.length === 0
      ? []
      : Array.from({ length: CURSOR_STEPS + 1 }, (_, step) => {
          const share = step / CURSOR_STEPS;
          const value = values[Math.max(0, Math.ceil(share * values.length) - 1)];
          const reached = step === 0 ? "smallest value" : `${Math.round(share * 100)} % at most this`;
          return {
            x: scale.toUnit(value),
            y: step === 0 ? 1 / values.length : share,
            text:
              `${metric} ${valueText(value)}\n${name}: ${reached}\n` +
              `of ${counted(values.length, "trial")}`,
          };
        }),
  );
}

function tableOf(groups: readonly Group[], metric: string) {
  const firsts: number[] = [];
  let rows = 0;
  for (const { values } of groups) {
    firsts.push(rows);
    rows += values.length;
  }
  return {
    columns: ["of", metric, "share"],
    rows,
    cell: (row: number, column: number) => {
      const at = firsts.findLastIndex((first) => first <= row);
      const { name, values } = groups[at];
      const index = row - firsts[at];
      return [name, values[index], (index + 1) / values.length][column];
    },
  };
}

export function EdfView({ run }: ViewProps) {
  const theme = useTheme();
  const table = run.table.value;
  const { mask } = run.selection.value;
  const { objective, control } = useObjective(run, "edf.objective");
  const across = useColumnAxis(run, valueName(objective), "edf.x");
  const chosen = useHeldText("edf.by");
  const choices: Choice[] = [
    { id: "", text: "all and selection" },
    ...table.columns
      .filter(({ kind }) => kind === "words")
      .map(({ name }) => ({ id: name, text: columnTitle(name) })),
  ];
  const by = chosen.value === "" ? undefined : table.byName.get(chosen.value);
  const groups = useMemo(
    () => groupsOf(run, across.of, by?.kind === "words" ? by : undefined),
    [table, mask, across.of, by],
  );
  const shown = groups.slice(0, GROUPS_MAX);
  const panels = useMemo((): PanelSpec[] => {
    const x = padded(across.scale);
    const y = makeScale("linear", 0, 1);
    return [
      {
        id: "edf",
        x: { scale: x, label: across.label },
        y: { scale: y, label: "share of trials" },
        // The first one is drawn last.
        lines: shown
          .map((group, index) => {
            const isGround = group.name === "all" && shown.length > 1;
            const steps = stepsOf(group, x);
            return lineOf({ x, y }, steps.x, steps.y, {
              color: isGround ? theme.muted : theme.series[index],
              width: isGround ? 1.25 : 2,
              dash: isGround ? [4, 3] : undefined,
              isStepped: true,
            });
          })
          .reverse(),
        points: listPoints(pointsOf(shown, x, objective.metric)),
        onDrag: (box) => box.x && filterTo(run, valueName(objective), x, box.x),
      },
    ];
  }, [groups, across.scale, theme]);
  const first = groups[0];
  const summary =
    first === undefined || first.values.length === 0
      ? `${selectedText(run)}: no values yet.`
      : `${objective.metric} of ${counted(first.values.length, "trial")} (${first.name}): ` +
        `${rangeText(first.values)}.` +
        groups
          .slice(1, GROUPS_MAX)
          .map(
            ({ name, values }) =>
              ` ${name}: ${counted(values.length, "trial")}, median ${valueText(median(values))}.`,
          )
          .join("");
  const more = groups.length - shown.length;
  return (
    <Panels
      run={run}
      title={`Distribution of ${objective.metric}`}
      file={`${run.document.value.name}-edf`}
      summary={summary}
      notes={[
        ...across.notes,
        ...(more > 0 ? [`${counted(more, "smaller group")} not drawn (see the table)`] : []),
      ]}
      panels={panels}
      height={HEIGHT_PX}
      table={() => tableOf(groups, objective.metric)}
      controls={
        <>
          {control}
          <Choose
            label="By"
            value={by?.name ?? ""}
            choices={choices}
            onChoose={(id) => (chosen.value = id)}
          />
          {across.control}
        </>
      }
      below={
        <Legend
          items={shown.map(({ name }, index) =>
            name === "all" && shown.length > 1
              ? { sign: "dash" as const, color: theme.muted, text: name }
              : { sign: "line" as const, color: theme.series[index], text: name },
          )}
        />
      }
    />
  );
}
