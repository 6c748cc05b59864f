// SPDX-License-Identifier: GPL-3.0-or-later
// What the columns of a run's table are called, which are shown where nobody
// chose, and what their cells say.
import type { Cell } from "../charts/save";
import { cellText, IN_RUN } from "../data/columns";
import { formatTime } from "../data/format";
import { listOf } from "../data/lists";
import { columnTitle } from "../charts/rows";
import { isMetric } from "../model/metric_columns";
import { formatDuration } from "../shell/format";
import type { Column, RunModel, Table } from "../types";

const QUIET = new Set([
  "job",
  "created",
  "ended",
  "last_started",
  "last_duration",
  "last_used",
  "same_as",
  "violation",
  "nans",
]);
const DURATIONS = new Set(["duration", "last_duration"]);
// Those that many runs have nothing in: shown where something is.
const SELDOM = new Set([
  "resource",
  "reached",
  "used",
  "bracket",
  "rung",
  "parent",
  "step",
  "copy",
  "round",
  "cached",
]);
// Those behind values and parameters; all others stand before these.
const LAST = [
  "resource",
  "reached",
  "used",
  "bracket",
  "rung",
  "parent",
  "attempts",
  "cause",
  "started",
  "duration",
  "last_started",
  "last_duration",
  "last_used",
];

const about: Record<string, string> = {
  number: "number",
  state: "state",
  cause: "cause of the end of the last attempt",
  job: "id in the database",
  created: "time of the suggestion",
  started: "start of the first attempt",
  ended: "end of the last attempt",
  duration: "time of all attempts together",
  last_started: "start of the last attempt",
  last_duration: "time of the last attempt",
  attempts: "number of attempts",
  violation: "violation of the constraints on metrics",
  resource: "resource up to which it may run",
  reached: "resource reached",
  used: "resource used by all attempts together",
  last_used: "resource used by the last attempt",
  bracket: "bracket of the schedule",
  rung: "last rung reached",
  parent: "trial with the checkpoint that it started from",
  same_as: "earlier trial with the same setting",
  copy: "copy of the step",
  round: "round of the step",
  cached: "1: a cache hit",
};

export const isWorkflow = (run: RunModel) => run.document.peek().kind === "workflow";

// One of its rows, in words.
export const rowWord = (run: RunModel) => (isWorkflow(run) ? "job" : "trial");

// The same where a sentence begins.
export const rowTitle = (run: RunModel) => (isWorkflow(run) ? "Job" : "Trial");

// What is over a column: its name without "param:" and so on, where that is clear.
export function labelOf(run: RunModel, table: Table, name: string): string {
  if (name === "number") return table.byName.has(IN_RUN) ? "row" : rowWord(run);
  if (name === "resource") return run.document.peek().schedule?.resource ?? name;
  const label = columnTitle(name);
  const isClear = table.columns.filter((column) => columnTitle(column.name) === label).length < 2;
  return isClear ? label : name.replace(":", " ");
}

export function titleOf(name: string): string {
  if (name.startsWith("value:")) return `${columnTitle(name)}, value of the objective`;
  if (name.startsWith("outcome:")) return `${columnTitle(name)}, metric with a constraint`;
  if (isMetric(name))
    return `${columnTitle(name)}, ${name.startsWith("metric:") ? "last value of the" : "of the values of a"} metric`;
  return name.startsWith("param:") ? `${columnTitle(name)}, parameter` : (about[name] ?? name);
}

function hasAny(column: Column, rows: number): boolean {
  for (let row = 0; row < rows; row++) if (textOf(column, row) !== "") return true;
  return false;
}

const rankOf = (name: string) => {
  if (name === "number") return 0;
  if (name.startsWith("value:")) return 3;
  if (name.startsWith("outcome:")) return 4;
  if (name.startsWith("param:")) return 5;
  if (isMetric(name)) return 6 + LAST.length;
  const place = LAST.indexOf(name);
  return place < 0 ? 2 : 6 + place;
};

// All names, in the order that they are shown in where nobody chose another.
export const orderedNames = (table: Table): string[] =>
  table.columns
    .map(({ name }) => name)
    .filter((name) => name !== "nans")
    .toSorted((a, b) => rankOf(a) - rankOf(b));

export const defaultNames = (table: Table): string[] =>
  orderedNames(table).filter((name) => {
    if (QUIET.has(name) || isMetric(name)) return false;
    return !SELDOM.has(name) || hasAny(table.byName.get(name) as Column, table.rows);
  });

// The chosen ones that there are; the number always, and first.
export function namesOf(text: string, table: Table): string[] {
  return ["number", ...listOf(text).filter((name) => name !== "number" && table.byName.has(name))];
}

// What a cell says.
export function textOf(column: Column, row: number): string {
  const number = column.data[row];
  if (DURATIONS.has(column.name)) return Number.isNaN(number) ? "" : formatDuration(number);
  if (column.kind === "time") return formatTime(number);
  return cellText(column, row);
}

// What a cell is in a file: exact numbers, times as ISO 8601 in UTC.
export function exactCell(column: Column, row: number): Cell {
  const number = column.data[row];
  if (column.kind === "words") return column.words[number] ?? null;
  if (column.kind === "int") return number === column.none ? null : number;
  if (Number.isNaN(number)) return column.isNan?.(row) ? "nan" : null;
  return column.kind === "time" ? new Date(number).toISOString() : number;
}
