// SPDX-License-Identifier: GPL-3.0-or-later
// The trials of several runs as one table, with their run as a column, and the
// search spaces of all as one.
import { cellText, IN_RUN } from "../data/columns";
import type { Column, Numbers, Objective, SpaceParam, Table } from "../types";

export interface Part {
  readonly name: string; // of the run
  readonly table: Table;
}

// What is of one run alone.
const LEFT_OUT = new Set(["job", "nans"]);
const NO_WORD = 65535;
const OTHERS = "(others)"; // as the server has it

const noneOf = ({ kind, none }: Column) => (kind === "words" ? NO_WORD : none);

// One array behind the other, what a run lacks as "none".
function numbersOf(columns: readonly (Column | undefined)[], parts: readonly Part[], rows: number) {
  const like = columns.find((column) => column !== undefined) as Column;
  const data: Numbers = like.kind === "int" ? new Uint32Array(rows) : new Float64Array(rows);
  data.fill(like.none);
  let first = 0;
  parts.forEach(({ table }, place) => {
    const from = columns[place]?.data;
    if (from !== undefined) data.set(from.subarray(0, table.rows), first);
    first += table.rows;
  });
  return { ...like, data, words: [] as string[] };
}

// As words, numbers among them by what is read of them.
function wordsOf(columns: readonly (Column | undefined)[], parts: readonly Part[], rows: number) {
  const { name } = columns.find((column) => column !== undefined) as Column;
  const words: string[] = [];
  const places = new Map<string, number>();
  const placeOf = (word: string): number => {
    const known = places.get(word);
    if (known !== undefined) return known;
    if (words.length >= NO_WORD - 1 && word !== OTHERS) return placeOf(OTHERS);
    places.set(word, words.length);
    return words.push(word) - 1;
  };
  const data = new Uint16Array(rows).fill(NO_WORD);
  let first = 0;
  parts.forEach(({ table }, place) => {
    const column = columns[place];
    const known = column?.kind === "words" ? column.words.map(placeOf) : [];
    for (let row = 0; column !== undefined && row < table.rows; row++) {
      if (column.kind === "words") data[first + row] = known[column.data[row]] ?? NO_WORD;
      else if (cellText(column, row) !== "") data[first + row] = placeOf(cellText(column, row));
    }
    first += table.rows;
  });
  return { name, kind: "words" as const, data, words, none: NO_WORD };
}

function merged(name: string, parts: readonly Part[], rows: number): Column {
  const columns = parts.map(({ table }) => table.byName.get(name));
  const kinds = new Set(columns.flatMap((column) => (column === undefined ? [] : [column.kind])));
  const isWords = kinds.has("words") || kinds.size > 1;
  const column = isWords ? wordsOf(columns, parts, rows) : numbersOf(columns, parts, rows);
  const firsts = parts.map((_, place) =>
    parts.slice(0, place).reduce((sum, { table }) => sum + table.rows, 0));
  const isNan = (row: number) => {
    const place = firsts.findLastIndex((first) => first <= row);
    return columns[place]?.isNan?.(row - firsts[place]) ?? false;
  };
  return { ...column, none: noneOf(column), isNan };
}

// `number` counts the rows of all, IN_RUN is a row's number in its run. seq: another
// one for each table that is made, because rows move when a run before them grows.
export function mergeRuns(parts: readonly Part[], seq: number): Table {
  const rows = parts.reduce((sum, { table }) => sum + table.rows, 0);
  const number = Uint32Array.from({ length: rows }, (_, row) => row + 1);
  const run = new Uint16Array(rows);
  let first = 0;
  parts.forEach(({ table }, place) => {
    run.fill(place, first, first + table.rows);
    first += table.rows;
  });
  const names = parts.flatMap(({ table }) => table.columns.map(({ name }) => name));
  const others = [...new Set(names)].filter((name) => name !== "number" && !LEFT_OUT.has(name));
  const trial = rows > 0 ? merged("number", parts, rows).data : new Uint32Array();
  const columns: Column[] = [
    { name: "number", kind: "int", data: number, words: [], none: 0 },
    { name: "run", kind: "words", data: run, words: parts.map(({ name }) => name), none: NO_WORD },
    { name: IN_RUN, kind: "int", data: trial, words: [], none: 0 },
    ...others.map((name) => merged(name, parts, rows)),
  ];
  const byName = new Map(columns.map((column) => [column.name, column]));
  return { rows, seq, rowSeqs: new Float64Array(rows).fill(seq), columns, byName };
}

// Where a row of that table is from.
export function originOf(table: Table, number: number): { run: number; trial: number } {
  const at = (name: string) => table.byName.get(name)?.data[number - 1] ?? 0;
  return { run: at("run"), trial: at(IN_RUN) };
}

// ---- what the runs are about ----

// Each metric once; where runs have it with different goals, the first one's counts.
export function unionOfObjectives(all: readonly (readonly Objective[])[]): Objective[] {
  const byMetric = new Map<string, Objective>();
  for (const objective of all.flat())
    if (!byMetric.has(objective.metric)) byMetric.set(objective.metric, objective);
  return [...byMetric.values()];
}

const isNumber = ({ kind }: SpaceParam) => kind === "float" || kind === "int";

const least = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? undefined : Math.min(a, b);
const most = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? undefined : Math.max(a, b);

function both(a: SpaceParam, b: SpaceParam): SpaceParam {
  const { name } = a;
  if (isNumber(a) && isNumber(b))
    return {
      name,
      kind: a.kind === b.kind ? a.kind : "float",
      scale: a.scale === b.scale ? a.scale : "linear",
      min: least(a.min, b.min),
      max: most(a.max, b.max),
    };
  if (a.kind === b.kind && a.kind !== "float" && a.kind !== "int")
    return { name, kind: a.kind, values: [...new Set([...(a.values ?? []), ...(b.values ?? [])])] };
  return { name, kind: "float" }; // what is seen of it decides
}

export function unionOfParams(all: readonly (readonly SpaceParam[])[]): SpaceParam[] {
  const byName = new Map<string, SpaceParam>();
  for (const param of all.flat()) {
    const known = byName.get(param.name);
    byName.set(param.name, known === undefined ? param : both(known, param));
  }
  return [...byName.values()];
}
