// SPDX-License-Identifier: GPL-3.0-or-later
// A chart's numbers from columns of the run's table.
import { columnTitle } from "./rows";
import type { Column, Table } from "../types";
import type { Cell, DataTable } from "./save";

export function rowsOf(mask: Uint8Array): Uint32Array {
  const rows = new Uint32Array(mask.length);
  let count = 0;
  for (let row = 0; row < mask.length; row++) if (mask[row] !== 0) rows[count++] = row;
  return rows.subarray(0, count);
}

export function cellOf(column: Column, row: number): Cell {
  const value = column.data[row];
  if (column.kind === "words") return column.words[value] ?? null;
  if (column.kind === "time") return Number.isNaN(value) ? null : new Date(value).toISOString();
  return column.kind === "int" && value === column.none ? null : value;
}

// The rows in the selection, with their trial's number and these columns.
export function rowsTable(table: Table, mask: Uint8Array, names: readonly string[]): DataTable {
  const rows = rowsOf(mask);
  const columns = ["number", ...new Set(names)]
    .map((name) => table.byName.get(name))
    .filter((column) => column !== undefined);
  return {
    columns: columns.map(({ name }) => (name === "number" ? "trial" : columnTitle(name))),
    rows: rows.length,
    cell: (index, column) => cellOf(columns[column], rows[index]),
  };
}
