// SPDX-License-Identifier: GPL-3.0-or-later
// What a chart shows, as files.
import { makeSvgPainter } from "./svg";
import type { Painter } from "./svg";
import type { Theme } from "./theme";

export type Cell = string | number | null; // NaN too where there is no number

export interface DataTable {
  readonly columns: readonly string[];
  readonly rows: number;
  cell(row: number, column: number): Cell;
}

export interface PictureSource {
  readonly title: string;
  readonly summary: string;
  readonly width: number; // CSS pixels
  readonly height: number;
  paint(painter: Painter, width: number, height: number): void;
}

const PNG_SCALE = 2;

export function saveBlob(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// A name that every file system takes.
export const fileName = (text: string, ending: string) =>
  `${text.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|-+$/g, "") || "chart"}.${ending}`;

// ---- data ----

const isMissing = (cell: Cell) => cell === null || Number.isNaN(cell);

// What a spreadsheet would run as a formula has an apostrophe in front, as in
// `smtune export` (cli/term/cell.c).
const FORMULA = /^'*[=+\-@\t\r]/;
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function csvCell(cell: Cell): string {
  if (isMissing(cell)) return "";
  const plain = cell === Infinity ? "inf" : cell === -Infinity ? "-inf" : String(cell);
  const isFormula = typeof cell === "string" && FORMULA.test(cell) && !DECIMAL.test(cell);
  const text = isFormula ? `'${cell}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function jsonCell(cell: Cell): Cell {
  if (isMissing(cell)) return null;
  return cell === Infinity ? "inf" : cell === -Infinity ? "-inf" : cell;
}

const cellsOf = (table: DataTable, row: number) =>
  table.columns.map((_, column) => table.cell(row, column));

// As RFC 4180 says; what is not known is empty.
export function csvOf(table: DataTable): string {
  const lines = [table.columns.map(csvCell).join(",")];
  for (let row = 0; row < table.rows; row++) lines.push(cellsOf(table, row).map(csvCell).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

// A list of objects, one a row; what is not known is null.
export function jsonOf(table: DataTable): string {
  const rows = Array.from({ length: table.rows }, (_, row) =>
    JSON.stringify(
      Object.fromEntries(
        cellsOf(table, row).map((cell, column) => [table.columns[column], jsonCell(cell)]),
      ),
    ),
  );
  return `[${rows.length > 0 ? "\n" : ""}${rows.join(",\n")}\n]\n`;
}

export const saveText = (text: string, type: string, name: string) =>
  saveBlob(new Blob([text], { type }), name);

// ---- pictures ----

export function svgOf(source: PictureSource, theme: Theme): string {
  const painter = makeSvgPainter(source.width, source.height, source);
  painter.fillStyle = theme.surface;
  painter.fillRect(0, 0, source.width, source.height);
  source.paint(painter, source.width, source.height);
  return painter.text();
}

export async function pngOf(source: PictureSource, theme: Theme): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = source.width * PNG_SCALE;
  canvas.height = source.height * PNG_SCALE;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("this browser does not support canvas");
  context.scale(PNG_SCALE, PNG_SCALE);
  context.fillStyle = theme.surface;
  context.fillRect(0, 0, source.width, source.height);
  source.paint(context, source.width, source.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) =>
      blob === null ? reject(new Error("the picture is too large for this browser")) : resolve(blob),
    ),
  );
}
