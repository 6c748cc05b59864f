// SPDX-License-Identifier: GPL-3.0-or-later
// What charts ask of a run's table, and how they say it.
import { cellText, IN_RUN } from "../data/columns";
import { medianOf } from "../data/median";
import { formatCount, formatMany as counted } from "../shell/format";
import type { Column, Objective, RunModel, Table } from "../types";
import { extent, valueText } from "./scales";

export type RowValue = (row: number) => number;

const unknown: RowValue = () => NaN;

// A column's numbers, NaN where there is none (words stay indices).
export function valuesOf(column: Column | undefined): RowValue {
  if (column === undefined) return unknown;
  const { data, none } = column;
  return Number.isNaN(none) ? (row) => data[row] : (row) => (data[row] === none ? NaN : data[row]);
}

export const valueName = (objective: Objective) => `value:${objective.metric}`;

// How people call a column: without its kind in front, "max loss".
export const columnTitle = (name: string) =>
  name.replace(/^(?:value|outcome|param|metric(?:\.(\w+))?):/, (_, what) => (what ? `${what} ` : ""));

export const numberOf = (table: Table, row: number) =>
  table.byName.get("number")?.data[row] ?? row + 1;

export function wordOf(table: Table, name: string, row: number): string {
  const column = table.byName.get(name);
  return column === undefined ? "" : (column.words[column.data[row]] ?? "");
}

// What a row is called; of several runs with its run.
export function trialText(table: Table, row: number): string {
  const run = wordOf(table, "run", row);
  const what = table.byName.has("step") ? "job" : "trial";
  if (run === "") return `${what} ${numberOf(table, row)}`;
  return `${run}, trial ${table.byName.get(IN_RUN)?.data[row]}`;
}

// Those that count for the best: they succeeded, and satisfy the constraints.
export function makeCounts(table: Table): (row: number) => boolean {
  const state = table.byName.get("state");
  const succeeded = state?.words.indexOf("succeeded") ?? -1;
  const violation = table.byName.get("violation")?.data;
  return (row) =>
    state?.data[row] === succeeded && !(violation !== undefined && violation[row] > 0);
}

// ---- sentences ----

export { formatMany as counted } from "../shell/format";

// "1,000 trials", or "250 of 1,000 trials (filtered)".
export function selectedText(run: RunModel): string {
  const { rows } = run.table.value;
  const { count } = run.selection.value;
  if (count === rows) return counted(rows, "trial");
  const left = run.filters.value.size > 0 ? " (filtered)" : "";
  return `${formatCount(count)} of ${counted(rows, "trial")}${left}`;
}

// "300 failed, 12 running": of some rows.
export function statesText(table: Table, rows: Iterable<number>): string {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const state = wordOf(table, "state", row);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([state, count]) => `${formatCount(count)} ${state}`)
    .join(", ");
}

// Why rows are not on a chart: those of the selection without a value, with an
// infinite one, or with one that the scale has no place for.
export function missingNotes(
  table: Table,
  mask: Uint8Array,
  of: RowValue,
  about: {
    name: string;
    holds?: (value: number) => boolean;
    scale?: string;
    isNan?: (row: number) => boolean;
  },
): string[] {
  const missing: number[] = [];
  let nans = 0;
  let infinite = 0;
  let outside = 0;
  for (let row = 0; row < table.rows; row++) {
    if (mask[row] === 0) continue;
    const value = of(row);
    if (Number.isNaN(value) && about.isNan?.(row)) nans++;
    else if (Number.isNaN(value)) missing.push(row);
    else if (!Number.isFinite(value)) infinite++;
    else if (about.holds && !about.holds(value)) outside++;
  }
  const has = (count: number) => (count === 1 ? "has" : "have");
  const notes: string[] = [];
  if (missing.length > 0)
    notes.push(
      `${counted(missing.length, "trial")} ${has(missing.length)} no ${about.name} ` +
        `(${statesText(table, missing)})`,
    );
  if (nans > 0) notes.push(`${counted(nans, "trial")} ${has(nans)} nan for ${about.name}`);
  if (infinite > 0)
    notes.push(`${counted(infinite, "trial")} ${has(infinite)} an infinite ${about.name}`);
  if (outside > 0)
    notes.push(
      `${counted(outside, "trial")} ${has(outside)} a ${about.name} that a ` +
        `${about.scale ?? "log"} axis cannot show`,
    );
  return notes;
}

// What the cursor says of a row: its name, its state, and these columns.
export function rowText(table: Table, row: number, names: readonly string[]): string {
  const lines = names.flatMap((name) => {
    const column = table.byName.get(name);
    const text = column === undefined ? "" : cellText(column, row);
    return text === "" ? [] : [`${columnTitle(name)} ${text}`];
  });
  return [trialText(table, row), wordOf(table, "state", row), ...lines].join("\n");
}

// The middle one of finite numbers; NaN of none.
export const median = (values: Float64Array) => medianOf(values.slice());

// The finite values of the rows in a mask.
export function finiteValues(table: Table, mask: Uint8Array, of: RowValue): Float64Array {
  const result = new Float64Array(table.rows);
  let count = 0;
  for (let row = 0; row < table.rows; row++) {
    const value = mask[row] === 0 ? NaN : of(row);
    if (Number.isFinite(value)) result[count++] = value;
  }
  return result.subarray(0, count);
}

export function rangeText(values: Float64Array): string {
  if (values.length === 0) return "";
  const { min, max } = extent(values, values.length);
  return `from ${valueText(min)} to ${valueText(max)}, median ${valueText(median(values))}`;
}

const LOG_SPREAD = 100; // from the twentieth that is least to the one that is most
const LOG_CROWD = 0.02; // of the range in which half of all lie

const LOG_LOOKED_AT_MAX = 4096;

// Whether numbers are better seen as logarithms: all above 0, and spread over
// powers of ten, or crowded at one end where they are not. Of very many some are
// looked at.
export function isBetterAsLog(values: Float64Array): boolean {
  if (values.length < 3) return false;
  for (let i = 0; i < values.length; i++) if (values[i] <= 0) return false;
  const step = Math.ceil(values.length / LOG_LOOKED_AT_MAX);
  const looked = Math.ceil(values.length / step);
  const sorted = Float64Array.from({ length: looked }, (_, i) => values[i * step]).sort();
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))];
  const crowd = (at(0.5) - at(0)) / (at(1) - at(0));
  const isCrowded = crowd < LOG_CROWD && at(1) / at(0) > LOG_SPREAD;
  return isCrowded || at(0.95) / at(0.05) > LOG_SPREAD;
}
