// SPDX-License-Identifier: GPL-3.0-or-later
// Which runs the list shows, in which order, and which are below another.
import { timeOf } from "../shell/format";
import type { RunRow } from "../types";

export interface Placed {
  row: RunRow;
  level: number; // 0; 1: below a run
}

interface Column {
  key: string;
  title: string;
  isNumber?: boolean;
  of: (row: RunRow) => number | string;
}

export const columns: readonly Column[] = [
  { key: "name", title: "Name", of: (row) => row.name.toLowerCase() },
  { key: "state", title: "State", of: (row) => row.state },
  { key: "trials", title: "Trials", of: (row) => row.trials.all },
  { key: "best", title: "Best", isNumber: true, of: (row) => row.best?.value ?? NaN },
  { key: "duration", title: "Duration", isNumber: true, of: (row) => row.duration_ms ?? NaN },
  {
    key: "started",
    title: "Started",
    isNumber: true,
    of: (row) => timeOf(row.started ?? row.created),
  },
];

export interface Wanted {
  text: string;
  state: string;
  tag: string;
}

export function matches(row: RunRow, { text, state, tag }: Wanted): boolean {
  const words = [row.name, ...row.tags, row.note ?? ""].join("\n").toLowerCase();
  return (
    words.includes(text.toLowerCase()) &&
    (state === "" || row.state === state) &&
    (tag === "" || row.tags.includes(tag))
  );
}

// What is not known comes last either way.
function compare(a: number | string, b: number | string, direction: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -direction : a > b ? direction : 0;
}

// order: a column's key, "-" before it: the largest first. A run stands below
// the one that made it, as long as that one is shown.
export function arrange(
  all: readonly RunRow[],
  isWanted: (row: RunRow) => boolean,
  order: string,
): Placed[] {
  const direction = order.startsWith("-") ? -1 : 1;
  const column = columns.find(({ key }) => key === order.replace("-", "")) ?? columns[0];
  const sorted = all
    .filter(isWanted)
    .sort((a, b) => compare(column.of(a), column.of(b), direction) || b.id - a.id);
  const shown = new Set(sorted.map((row) => row.id));
  const below = new Map<number, RunRow[]>();
  for (const row of sorted) {
    const parent = row.parent !== null && shown.has(row.parent) ? row.parent : 0;
    const rows = below.get(parent);
    if (rows === undefined) below.set(parent, [row]);
    else rows.push(row);
  }
  const place = (parent: number, level: number): Placed[] =>
    (below.get(parent) ?? []).flatMap((row) => [{ row, level }, ...place(row.id, level + 1)]);
  return place(0, 0);
}
