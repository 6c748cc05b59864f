// SPDX-License-Identifier: GPL-3.0-or-later
// The curves of a metric, read in pages for those trials that are wanted and not
// there yet, and followed while they grow.
import { getBlock } from "../api";
import type { Block } from "./columns";

export interface Curve {
  readonly trial: number;
  readonly steps: readonly number[]; // rising; with a schedule: of its resource
  readonly values: readonly number[];
  readonly raw: readonly number[]; // steps as they were reported
  readonly times: readonly number[]; // in ms since 1970
}

export interface CurveStore {
  readonly curves: ReadonlyMap<number, Curve>; // by trial
  readonly points: number; // of all
  // Those of these trials that were not read yet.
  missing(trials: readonly number[]): number[];
  // Reads all of these trials (numbers, rising); calls back after each page.
  // Throws what getBlock throws.
  read(trials: readonly number[], onPage: () => void, signal: AbortSignal): Promise<void>;
  // Reads again what these trials have more; true where there was something.
  follow(trials: readonly number[], signal: AbortSignal): Promise<boolean>;
}

const PAGE_POINTS = 100_000;
const RANGES_MAX = 150; // of one question: an address has its limit

// Ranges that hold the numbers; where there were too many, and others with them.
export function rangesOf(numbers: readonly number[], rangesMax = RANGES_MAX): [number, number][] {
  for (let gap = 1; ; gap *= 2) {
    const ranges: [number, number][] = [];
    for (const number of numbers) {
      const last = ranges[ranges.length - 1];
      if (last !== undefined && number - last[1] <= gap) last[1] = number;
      else ranges.push([number, number]);
    }
    if (ranges.length <= rangesMax) return ranges;
  }
}

export const rangesText = (ranges: readonly [number, number][]) =>
  ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(",");

interface Growing {
  trial: number;
  steps: number[];
  values: number[];
  raw: number[];
  times: number[];
}

// A later report of the same step (a retry's) takes the place of the earlier one.
function add(curve: Growing, step: number, value: number, raw: number, time: number): number {
  const { steps, values } = curve;
  let at = steps.length;
  while (at > 0 && steps[at - 1] > step) at--;
  const isNew = at === 0 || steps[at - 1] !== step;
  const from = isNew ? at : at - 1;
  const gone = isNew ? 0 : 1;
  steps.splice(from, gone, step);
  values.splice(from, gone, value);
  curve.raw.splice(from, gone, raw);
  curve.times.splice(from, gone, time);
  return isNew ? 1 : 0;
}

export function makeCurveStore(run: number, metric: string): CurveStore {
  const curves = new Map<number, Growing>();
  const isRead = new Set<number>(); // trials that were asked for to the end
  let points = 0;

  const take = ({ table }: Block): void => {
    const numbers = table.byName.get("number")?.data;
    const raw = table.byName.get("step")?.data;
    const steps = table.byName.get("resource")?.data ?? raw;
    const values = table.byName.get("value")?.data;
    const times = table.byName.get("time")?.data;
    if (!numbers || !raw || !steps || !values || !times) return;
    for (let row = 0; row < table.rows; row++) {
      const trial = numbers[row];
      const curve = curves.get(trial) ?? { trial, steps: [], values: [], raw: [], times: [] };
      curves.set(trial, curve);
      points += add(curve, steps[row], values[row], raw[row], times[row]);
    }
  };
  const ask = async (trials: string, signal: AbortSignal, onPage: () => void) => {
    let after: number | undefined = 0;
    while (after !== undefined) {
      const block: Block = await getBlock(
        `/runs/${run}/metrics?name=${encodeURIComponent(metric)}&trials=${trials}` +
          `&after=${after}&limit=${PAGE_POINTS}`,
        signal,
      );
      take(block);
      after = block.header.next;
      onPage();
    }
  };
  return {
    curves,
    get points() {
      return points;
    },
    missing: (trials) => trials.filter((trial) => !isRead.has(trial)),
    read: async (trials, onPage, signal) => {
      const ranges = rangesOf(trials);
      await ask(rangesText(ranges), signal, onPage);
      for (const [from, to] of ranges)
        for (let trial = from; trial <= to; trial++) isRead.add(trial);
    },
    follow: async (trials, signal) => {
      if (trials.length === 0) return false;
      const before = points;
      await ask(rangesText(rangesOf(trials)), signal, () => undefined);
      return points !== before;
    },
  };
}
