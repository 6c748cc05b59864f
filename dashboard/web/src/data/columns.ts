// SPDX-License-Identifier: GPL-3.0-or-later
// The binary form of tables (dashboard/columns/columns.h), and how one that is there
// takes in another one's rows.
import type { Column, Numbers, Table } from "../types";

type NumberType = "u8" | "u16" | "u32" | "f64";

interface Header {
  run: number;
  since: number;
  seq: number;
  rows: number;
  next?: number;
  columns: { name: string; type: NumberType; words?: string[] }[];
}

// Of a table of several runs: the number of a trial in its run (compare/merge.ts).
export const IN_RUN = "trial in run";

export interface Block {
  readonly header: Header;
  readonly table: Table;
}

const ALIGNMENT_BYTES = 8;
const arrays = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };
const nones = { u8: 255, u16: 65535, u32: 0, f64: NaN };
// A copy's number counts from 0, so that 0 is one.
const noneOf = (name: string, type: NumberType) => (name === "copy" ? 0xffff_ffff : nones[type]);
const times = new Set(["created", "queued", "started", "last_started", "ended", "time"]);

const aligned = (bytes: number) => Math.ceil(bytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;

function kindOf(name: string, type: NumberType, hasWords: boolean): Column["kind"] {
  if (hasWords) return "words";
  if (type !== "f64") return "int";
  return times.has(name) ? "time" : "real";
}

const NAN_BITS = 32;

// One column has a bit for each of the first reals of a trial where a NaN is a
// value.
function withNans(columns: readonly Column[]): readonly Column[] {
  const bits = columns.find(({ name }) => name === "nans");
  let place = 0;
  return columns.map((column) => {
    if (!/^(value|outcome):/.test(column.name)) return column;
    const bit = place < NAN_BITS ? 1 << place : 0;
    place++;
    return { ...column, isNan: (row) => bits !== undefined && (bits.data[row] & bit) !== 0 };
  });
}

export function makeTable(
  columns: readonly Column[],
  rows: number,
  seq: number,
  rowSeqs: Float64Array = new Float64Array(rows).fill(seq),
): Table {
  columns = withNans(columns);
  const byName = new Map(columns.map((column) => [column.name, column]));
  return { rows, seq, rowSeqs, columns, byName };
}

// The rows that came or changed since a table had that seq; null: most of them.
export function rowsSince({ rows, rowSeqs }: Table, seq: number): Uint32Array | null {
  const list = new Uint32Array(rows);
  let count = 0;
  for (let row = 0; row < rows; row++) if (rowSeqs[row] > seq) list[count++] = row;
  return 2 * count > rows ? null : list.slice(0, count);
}

// Arrays of the result are views of `bytes`. Throws where it is no such block.
export function decodeBlock(bytes: ArrayBuffer): Block {
  const view = new DataView(bytes);
  const magic = new TextDecoder().decode(new Uint8Array(bytes, 0, 4));
  if (magic !== "SMTC" || view.getUint32(4, true) !== 1)
    throw new Error("unknown format of a table in the answer");
  const length = view.getUint32(8, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 12, length))) as Header;
  let offset = 12 + length;
  const columns = header.columns.map(({ name, type, words }) => {
    const data: Numbers = new arrays[type](bytes, offset, header.rows);
    offset += aligned(data.byteLength);
    const hasWords = words !== undefined;
    return {
      name,
      kind: kindOf(name, type, hasWords),
      data,
      words: words ?? [],
      none: noneOf(name, type),
    };
  });
  return { header, table: makeTable(withDuration(columns), header.rows, header.seq) };
}

// A column more where there are starts and ends, of attempts: how long each ran,
// in ms. Trials have it: it is that of all their attempts.
function withDuration(columns: Column[]): Column[] {
  const started = columns.find(({ name }) => name === "started")?.data;
  const ended = columns.find(({ name }) => name === "ended")?.data;
  if (started === undefined || ended === undefined) return columns;
  if (columns.some(({ name }) => name === "duration")) return columns;
  const data = new Float64Array(started.length);
  for (let row = 0; row < data.length; row++) data[row] = ended[row] - started[row];
  return [...columns, { name: "duration", kind: "real", data, words: [], none: NaN }];
}

function grown<T extends Numbers>(data: T, length: number): T {
  if (data.length >= length) return data;
  const room = Math.max(length, Math.ceil(data.length * 1.5), 64);
  const result = new (data.constructor as { new (length: number): T })(room);
  result.set(data);
  return result;
}

// The words of both, and what an index into those of `column` is in them. Pages
// of a table (of attempts) have their words each in an order of its own.
function mergeWords(
  old: readonly string[],
  column: Column,
): { words: readonly string[]; placeOf: (index: number) => number } {
  const { words, none } = column;
  if (old.every((word, index) => words[index] === word)) return { words, placeOf: (index) => index };
  const merged = [...old];
  const places = new Map(old.map((word, index) => [word, index]));
  const newPlaces = words.map((word) => {
    const place = places.get(word) ?? merged.push(word) - 1;
    places.set(word, place);
    return place;
  });
  return { words: merged, placeOf: (index) => (index === none ? none : newPlaces[index]) };
}

// The table with the rows of another one in it, found by the column that both
// are ordered by: those that are there are replaced, others come behind. Takes
// over the arrays of `table`.
export function mergeTable(table: Table, changes: Table, key: string): Table {
  const keys = table.byName.get(key);
  const changedKeys = changes.byName.get(key);
  if (keys === undefined || changedKeys === undefined) return changes;
  let rows = table.rows;
  const places = new Uint32Array(changes.rows);
  for (let i = 0; i < changes.rows; i++) {
    const place = lowerBound(keys.data, table.rows, changedKeys.data[i]);
    const isThere = place < table.rows && keys.data[place] === changedKeys.data[i];
    places[i] = isThere ? place : rows++;
  }
  const columns = changes.columns.map((column) => {
    const old = table.byName.get(column.name);
    const data = grown(old?.data ?? column.data.slice(0, 0), rows);
    const { words, placeOf } = mergeWords(old?.words ?? [], column);
    for (let i = 0; i < changes.rows; i++) data[places[i]] = placeOf(column.data[i]);
    return { ...column, words, data };
  });
  const rowSeqs = grown(table.rowSeqs, rows);
  for (const place of places) rowSeqs[place] = changes.seq;
  return makeTable(columns, rows, changes.seq, rowSeqs);
}

// Where in numbers that rise it stands, or would.
export function lowerBound(data: Numbers, count: number, wanted: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (data[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The row with this number of a trial; -1: there is none.
export function rowOf(table: Table, number: number): number {
  const numbers = table.byName.get("number");
  if (numbers === undefined) return -1;
  const row = lowerBound(numbers.data, table.rows, number);
  return row < table.rows && numbers.data[row] === number ? row : -1;
}

// What a person reads in a cell; "" where there is nothing.
export function cellText(column: Column, row: number): string {
  const number = column.data[row];
  if (column.kind === "words") return column.words[number] ?? "";
  if (column.kind === "time") return Number.isNaN(number) ? "" : new Date(number).toLocaleString();
  if (column.kind === "int") return number === column.none ? "" : String(number);
  if (Number.isNaN(number)) return column.isNan?.(row) ? "nan" : "";
  return formatNumber(number);
}

// At most six digits that matter, as the commands print them.
export function formatNumber(number: number): string {
  if (!Number.isFinite(number)) return Number.isNaN(number) ? "" : number > 0 ? "inf" : "-inf";
  if (Number.isInteger(number) && Math.abs(number) < 1e15) return String(number);
  const rounded = Number(number.toPrecision(6));
  return Math.abs(rounded) < 1e-4 ? rounded.toExponential() : String(rounded);
}

// The table's states as commands show them: what the record has as running is
// "interrupted", like its run, once the engine is not there. The record itself
// changes only when the run is resumed.
export function withStates(table: Table, runState: string): Table {
  const state = table.byName.get("state");
  if (state === undefined || (runState !== "interrupted" && runState !== "unknown")) return table;
  const words = state.words.map((word) => (word === "running" ? runState : word));
  const columns = table.columns.map((column) =>
    column.name === "state" ? { ...column, words } : column);
  return { ...table, columns, byName: new Map(columns.map((column) => [column.name, column])) };
}
