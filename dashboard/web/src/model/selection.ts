// SPDX-License-Identifier: GPL-3.0-or-later
// Which rows pass all filters.
import { cellText } from "../data/columns";
import type { Column, Filter, Filters, Selection, Table } from "../types";

function applyRange(column: Column, min: number, max: number, mask: Uint8Array): void {
  const { data } = column;
  const none = column.kind === "int" ? column.none : NaN;
  for (let row = 0; row < mask.length; row++)
    if (!(data[row] >= min && data[row] <= max) || data[row] === none) mask[row] = 0;
}

function applyWords(column: Column, words: readonly string[], mask: Uint8Array): void {
  const isIn = new Uint8Array(column.none + 1);
  const wanted = new Set(words);
  column.words.forEach((word, index) => (isIn[index] = wanted.has(word) ? 1 : 0));
  isIn[column.none] = wanted.has("") ? 1 : 0;
  for (let row = 0; row < mask.length; row++) mask[row] &= isIn[column.data[row]];
}

function applyText(column: Column, text: string, mask: Uint8Array): void {
  const wanted = text.toLowerCase();
  for (let row = 0; row < mask.length; row++)
    if (mask[row] && !cellText(column, row).toLowerCase().includes(wanted)) mask[row] = 0;
}

function apply(column: Column, filter: Filter, mask: Uint8Array): void {
  if (filter.kind === "range") applyRange(column, filter.min, filter.max, mask);
  else if (filter.kind === "words" && column.kind === "words")
    applyWords(column, filter.words, mask);
  else if (filter.kind === "text") applyText(column, filter.text, mask);
}

export function select(table: Table, filters: Filters): Selection {
  const mask = new Uint8Array(table.rows).fill(1);
  for (const [name, filter] of filters) {
    const column = table.byName.get(name);
    if (column !== undefined) apply(column, filter, mask);
  }
  if (filters.size === 0) return { mask, count: table.rows };
  let count = 0;
  for (let row = 0; row < mask.length; row++) count += mask[row];
  return { mask, count };
}

// The filters with one more, or (null) without that of a column.
export function withFilter(filters: Filters, name: string, filter: Filter | null): Filters {
  const result = new Map(filters);
  if (filter === null) result.delete(name);
  else result.set(name, filter);
  return result;
}
