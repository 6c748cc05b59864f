// SPDX-License-Identifier: GPL-3.0-or-later
// The order of a table's rows by some of its columns. A radix sort over typed
// arrays, from the last key to the first (each pass is stable, so all is): a
// million rows by a column of reals are four passes of 16 bits.
import type { Column, Numbers, Table } from "../types";
import { listOf, listText } from "./lists";

export interface SortKey {
  readonly name: string;
  readonly isDescending: boolean;
}

const DIGIT_BITS = 16;
const BUCKETS = 1 << DIGIT_BITS;
const LAST = 0xffff_ffff; // what is not known comes last in both directions

// A number per row that is ordered as the rows are to be: its high and its low
// half; low is null where the high half says all.
interface Ranks {
  readonly high: Uint32Array;
  readonly low: Uint32Array | null;
}

// The bits of reals order as unsigned numbers once negative ones are turned
// over and the others' sign bit is set.
function ranksOfReals(data: Numbers, rows: number, isDescending: boolean): Ranks {
  const values = new Float64Array(rows);
  for (let row = 0; row < rows; row++) values[row] = data[row] + 0; // no -0
  const bits = new Uint32Array(values.buffer);
  const high = new Uint32Array(rows);
  const low = new Uint32Array(rows);
  const turn = isDescending ? LAST : 0;
  for (let row = 0; row < rows; row++) {
    const flip = bits[2 * row + 1] >>> 31 ? LAST : 0;
    const isKnown = values[row] === values[row];
    high[row] = isKnown ? bits[2 * row + 1] ^ (flip | 0x8000_0000) ^ turn : LAST;
    low[row] = isKnown ? bits[2 * row] ^ flip ^ turn : LAST;
  }
  return { high, low };
}

function ranksOfInts(column: Column, rows: number, isDescending: boolean): Ranks {
  const high = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) {
    const number = column.data[row];
    high[row] = number === column.none ? LAST : isDescending ? LAST - 1 - number : number;
  }
  return { high, low: null };
}

const collator = new Intl.Collator("en", { numeric: true });

// Words in the order of a dictionary, numbers in them as numbers.
function ranksOfWords(column: Column, rows: number, isDescending: boolean): Ranks {
  const order = column.words.map((_, index) => index);
  order.sort((a, b) => collator.compare(column.words[a], column.words[b]));
  const rank = new Uint32Array(column.none + 1).fill(LAST);
  order.forEach((word, place) => (rank[word] = isDescending ? order.length - place : place));
  const high = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) high[row] = rank[column.data[row]];
  return { high, low: null };
}

function ranksOf(column: Column, rows: number, isDescending: boolean): Ranks {
  if (column.kind === "words") return ranksOfWords(column, rows, isDescending);
  if (column.kind === "int") return ranksOfInts(column, rows, isDescending);
  return ranksOfReals(column.data, rows, isDescending);
}

// One pass: `from` in the order of 16 bits of its rows' ranks, into `to`. False
// where all have the same bits there, and nothing is written.
function pass(from: Uint32Array, to: Uint32Array, ranks: Uint32Array, shift: number): boolean {
  const starts = new Uint32Array(BUCKETS);
  for (let i = 0; i < from.length; i++) starts[(ranks[from[i]] >>> shift) & (BUCKETS - 1)]++;
  if (from.length === 0 || starts[(ranks[from[0]] >>> shift) & (BUCKETS - 1)] === from.length)
    return false;
  for (let digit = 0, start = 0; digit < BUCKETS; digit++) {
    const count = starts[digit];
    starts[digit] = start;
    start += count;
  }
  for (let i = 0; i < from.length; i++)
    to[starts[(ranks[from[i]] >>> shift) & (BUCKETS - 1)]++] = from[i];
  return true;
}

interface Order {
  rows: Uint32Array;
  spare: Uint32Array; // as long
}

// Puts its rows in the order of the ranks.
function arrange(order: Order, { high, low }: Ranks): void {
  for (const ranks of low === null ? [high] : [low, high])
    for (let shift = 0; shift < 32; shift += DIGIT_BITS)
      if (pass(order.rows, order.spare, ranks, shift))
        [order.rows, order.spare] = [order.spare, order.rows];
}

// Where numbers stand, from the least of them to NaN.
export function orderOf(values: Float64Array): Uint32Array {
  const rows = new Uint32Array(values.length);
  for (let row = 0; row < rows.length; row++) rows[row] = row;
  const order = { rows, spare: new Uint32Array(values.length) };
  arrange(order, ranksOfReals(values, values.length, false));
  return order.rows;
}

// The rows that the mask lets through, in the order of the keys, those that are
// equal in all of them as they stand in the table.
export function sortedRows(
  table: Table,
  mask: Uint8Array,
  count: number,
  keys: readonly SortKey[],
): Uint32Array {
  const rows = new Uint32Array(count);
  for (let row = 0, place = 0; row < table.rows && place < count; row++)
    if (mask[row]) rows[place++] = row;
  const order = { rows, spare: new Uint32Array(count) };
  for (const { name, isDescending } of keys.toReversed()) {
    const column = table.byName.get(name);
    if (column !== undefined) arrange(order, ranksOf(column, table.rows, isDescending));
  }
  return order.rows;
}

// ---- as text: "-value:loss,param:lr" ----

export const sortText = (keys: readonly SortKey[]) =>
  listText(keys.map(({ name, isDescending }) => (isDescending ? "-" : "") + name));

export const sortOf = (text: string): SortKey[] =>
  listOf(text).map((word) => ({
    name: word.replace(/^-/, ""),
    isDescending: word.startsWith("-"),
  }));

// A click on a column's head: up, down, and no longer; added to the others with
// shift, in their place without.
export function withSort(keys: readonly SortKey[], name: string, isAdded: boolean): SortKey[] {
  const old = keys.find((key) => key.name === name);
  const next =
    old === undefined
      ? [{ name, isDescending: false }]
      : old.isDescending
        ? []
        : [{ name, isDescending: true }];
  if (!isAdded) return next;
  return old === undefined
    ? [...keys, ...next]
    : keys.flatMap((key) => (key === old ? next : [key]));
}
