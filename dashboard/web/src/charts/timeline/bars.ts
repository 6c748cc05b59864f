// SPDX-License-Identifier: GPL-3.0-or-later
// Attempts as bars: when they waited and ran, what became of them, and in which
// lane each one lies.
import type { Column, Table } from "../../types";

export const looks = ["succeeded", "failed", "stopped", "interrupted", "running"] as const;
export type BarLook = (typeof looks)[number];

const lookOfCause: Record<string, BarLook> = {
  ok: "succeeded",
  cancelled: "stopped",
  node_fail: "interrupted",
  preempted: "interrupted",
  lost: "interrupted",
};

export interface Bars {
  readonly count: number;
  readonly waited: Float64Array; // when it began to wait, in ms since 1970; else as started
  readonly started: Float64Array; // NaN: it has not
  readonly ended: Float64Array; // NaN: it has not
  readonly look: Uint8Array; // an index into looks
  readonly number: Uint32Array; // the job's
  readonly attempt: Uint16Array; // 2: the first retry
  readonly cause: (bar: number) => string;
  readonly node: (bar: number) => string;
}

const lacksEngine = (runState: string) => runState === "interrupted" || runState === "unknown";

const wordOf = (column: Column | undefined) => (row: number) =>
  column === undefined ? "" : (column.words[column.data[row]] ?? "");

// open: of those that have not ended.
function looksOf(cause: Column | undefined, rows: number, open: BarLook): Uint8Array {
  const byWord = (cause?.words ?? []).map((word) => looks.indexOf(lookOfCause[word] ?? "failed"));
  const other = looks.indexOf(open);
  return Uint8Array.from({ length: rows }, (_, row) => byWord[cause?.data[row] ?? -1] ?? other);
}

// runState: of the run; without its engine nothing is known of what was running.
export function makeBars(table: Table, runState: string): Bars {
  const { rows, byName } = table;
  const times = (name: string) => byName.get(name)?.data;
  const [created, queued, started, ended] = ["created", "queued", "started", "ended"].map(times);
  const waited = new Float64Array(rows);
  const begun = new Float64Array(rows);
  const over = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    const since = queued?.[row] ?? NaN;
    waited[row] = Number.isNaN(since) ? (created?.[row] ?? NaN) : since;
    begun[row] = started?.[row] ?? NaN;
    over[row] = ended?.[row] ?? NaN;
  }
  const numbers = byName.get("number")?.data;
  const attempts = byName.get("attempt")?.data;
  const cause = byName.get("cause");
  return {
    count: rows, waited, started: begun, ended: over,
    look: looksOf(cause, rows, lacksEngine(runState) ? "interrupted" : "running"),
    number: Uint32Array.from({ length: rows }, (_, row) => numbers?.[row] ?? 0),
    attempt: Uint16Array.from({ length: rows }, (_, row) => attempts?.[row] ?? 1),
    cause: wordOf(cause), node: wordOf(byName.get("node")),
  };
}

// When a bar is over, or is still to be seen until.
export const endOf = (bars: Bars, bar: number, nowMs: number) =>
  Number.isNaN(bars.ended[bar]) ? nowMs : bars.ended[bar];
// When it began to run; one that never did has no length but its wait.
export const startOf = (bars: Bars, bar: number, nowMs: number) =>
  Number.isNaN(bars.started[bar]) ? endOf(bars, bar, nowMs) : bars.started[bar];

export function spanOf(bars: Bars, nowMs: number): [number, number] {
  let from = Infinity;
  let to = -Infinity;
  for (let bar = 0; bar < bars.count; bar++) {
    from = Math.min(from, bars.waited[bar]);
    to = Math.max(to, endOf(bars, bar, nowMs));
  }
  return from < to ? [from, to] : [nowMs - 60_000, nowMs];
}

// ---- lanes ----

export type LaneKind = "slot" | "trial" | "node" | "step";

export interface Lanes {
  readonly count: number;
  readonly of: Uint32Array; // [bars]
  label(lane: number): string;
}

function byStart(bars: Bars, nowMs: number): Uint32Array {
  const starts = Float64Array.from({ length: bars.count }, (_, bar) => startOf(bars, bar, nowMs));
  return Uint32Array.from(starts, (_, bar) => bar).sort((a, b) => starts[a] - starts[b] || a - b);
}

// Each into the lowest lane that is free when it starts; gives how many there are.
function pack(bars: Bars, order: Iterable<number>, nowMs: number, first: number, lanes: Uint32Array): number {
  const freeFrom: number[] = [];
  for (const bar of order) {
    const start = startOf(bars, bar, nowMs);
    let lane = 0;
    while (lane < freeFrom.length && freeFrom[lane] > start) lane++;
    freeFrom[lane] = endOf(bars, bar, nowMs);
    lanes[bar] = first + lane;
  }
  return freeFrom.length;
}

function slotLanes(bars: Bars, nowMs: number): Lanes {
  const of = new Uint32Array(bars.count);
  const count = pack(bars, byStart(bars, nowMs), nowMs, 0, of);
  return { count, of, label: (lane) => String(lane + 1) };
}

function trialLanes(bars: Bars): Lanes {
  const numbers = [...new Set(bars.number)].sort((a, b) => a - b);
  const place = new Map(numbers.map((number, lane) => [number, lane]));
  return {
    count: numbers.length,
    of: Uint32Array.from(bars.number, (number) => place.get(number) ?? 0),
    label: (lane) => String(numbers[lane] ?? ""),
  };
}

// As many lanes for each group as it takes; the groups in the order of their first
// start, or of their names.
function groupLanes(
  bars: Bars,
  nowMs: number,
  groupOf: (bar: number) => string,
  isByName: boolean,
): Lanes {
  const groups = new Map<string, number[]>();
  for (const bar of byStart(bars, nowMs)) {
    const name = groupOf(bar);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [bar]);
    else group.push(bar);
  }
  const of = new Uint32Array(bars.count);
  const labels: string[] = [];
  const sorted = isByName ? [...groups].sort(([a], [b]) => a.localeCompare(b)) : [...groups];
  for (const [name, group] of sorted) {
    const count = pack(bars, group, nowMs, labels.length, of);
    labels.push(name, ...Array.from({ length: count - 1 }, () => ""));
  }
  return { count: labels.length, of, label: (lane) => labels[lane] ?? "" };
}

// stepOf: of a job, by its number.
export function makeLanes(
  bars: Bars,
  kind: LaneKind,
  nowMs: number,
  stepOf: (number: number) => string = () => "",
): Lanes {
  if (kind === "trial") return trialLanes(bars);
  if (kind === "node") return groupLanes(bars, nowMs, (bar) => bars.node(bar) || "here", true);
  if (kind === "step") return groupLanes(bars, nowMs, (bar) => stepOf(bars.number[bar]), false);
  return slotLanes(bars, nowMs);
}

// ---- how many at once ----

// For each of `cells` equal parts of a time, how many of the spans there were, on
// the average.
export function meanCounts(
  count: number,
  span: (bar: number) => readonly [number, number],
  [from, to]: readonly [number, number],
  cells: number,
): Float64Array {
  const whole = new Float64Array(cells + 1);
  const part = new Float64Array(cells + 1);
  const scale = cells / (to - from);
  for (let bar = 0; bar < count; bar++) {
    const [start, end] = span(bar);
    const a = Math.min(cells, Math.max(0, (start - from) * scale));
    const b = Math.min(cells, Math.max(0, (end - from) * scale));
    if (!(b > a)) continue;
    const [first, last] = [Math.floor(a), Math.floor(b)];
    if (first === last) part[first] += b - a;
    else {
      part[first] += first + 1 - a;
      part[last] += b - last;
      whole[first + 1]++;
      whole[last]--;
    }
  }
  const means = new Float64Array(cells);
  let inside = 0;
  for (let cell = 0; cell < cells; cell++) {
    inside += whole[cell];
    means[cell] = inside + part[cell];
  }
  return means;
}
