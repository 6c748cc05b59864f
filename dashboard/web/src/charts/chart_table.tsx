// SPDX-License-Identifier: GPL-3.0-or-later
// A chart's numbers, as a table in pages.
import { useState } from "preact/hooks";
import { formatCount, formatMany } from "../shell/format";
import type { Cell, DataTable } from "./save";
import { valueText } from "./scales";

const PAGE_ROWS = 50;

const cellText = (cell: Cell) =>
  cell === null || Number.isNaN(cell) ? "" : typeof cell === "number" ? valueText(cell) : cell;

export function ChartTable(props: { title: string; table: DataTable }) {
  const { title, table } = props;
  const [wanted, setWanted] = useState(0);
  const pages = Math.max(1, Math.ceil(table.rows / PAGE_ROWS));
  const page = Math.min(wanted, pages - 1);
  const first = page * PAGE_ROWS;
  const rows = Array.from({ length: Math.min(PAGE_ROWS, table.rows - first) }, (_, i) => first + i);
  const to = (text: string, next: number) => (
    <button
      type="button"
      class="btn btn-quiet btn-small"
      disabled={next < 0 || next >= pages || next === page}
      onClick={() => setWanted(next)}
    >
      {text}
    </button>
  );
  return (
    <div class="chart-table">
      <div class="chart-table-scroll" role="region" tabIndex={0} aria-label={`Numbers: ${title}`}>
        <table>
          <caption>
            {title}: {formatMany(table.rows, "row")}
          </caption>
          <thead>
            <tr>
              {table.columns.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row}>
                {table.columns.map((name, column) => {
                  const cell = table.cell(row, column);
                  return (
                    <td key={name} class={typeof cell === "number" ? "number" : undefined}>
                      {cellText(cell)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 && (
        <nav class="chart-pages" aria-label={`Pages: ${title}`}>
          {to("First", 0)}
          {to("Previous", page - 1)}
          <span>
            page {formatCount(page + 1)} of {formatCount(pages)}
          </span>
          {to("Next", page + 1)}
          {to("Last", pages - 1)}
        </nav>
      )}
    </div>
  );
}
