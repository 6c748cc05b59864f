// SPDX-License-Identifier: GPL-3.0-or-later
// The curves that a view shows, as far as they are read.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { makeCurveStore } from "../data/curves";
import type { CurveStore } from "../data/curves";
import type { RunModel, Table } from "../types";
import { rowsOf } from "./tables";

export interface Reading {
  readonly store: CurveStore;
  readonly version: number; // another one: there are others
  readonly readTrials: number; // of the selection
  readonly allTrials: number;
  readonly isReading: boolean;
  readonly problem?: string;
  readonly isFull: boolean; // no more is read until the reader says so
  readMore(): void;
}

const CHUNK_TRIALS = 1000;
const POINTS_MAX = 3_000_000;
const FOLLOW_MS = 1000;

interface State {
  version: number;
  isReading: boolean;
  isFull: boolean;
  problem?: string;
}

const fresh: State = { version: 0, isReading: true, isFull: false };

// What is in the selection, by number.
function selectedTrials(table: Table, mask: Uint8Array): number[] {
  const numbers = table.byName.get("number")?.data;
  return numbers === undefined ? [] : Array.from(rowsOf(mask), (row) => numbers[row]);
}

function runningTrials(run: RunModel): number[] {
  const table = run.table.peek();
  const { mask } = run.selection.peek();
  const state = table.byName.get("state");
  const numbers = table.byName.get("number")?.data;
  const running = state?.words.indexOf("running") ?? -1;
  const rows = Array.from(rowsOf(mask)).filter((row) => state?.data[row] === running);
  return rows.map((row) => numbers?.[row] ?? 0);
}

// Once a second, while somebody looks, what grows has grown; and those that
// have just ended, once more.
function useFollowing(run: RunModel, store: CurveStore, onMore: () => void): void {
  useEffect(() => {
    const stop = new AbortController();
    let before: number[] = [];
    let isAsking = false;
    const timer = setInterval(() => {
      if (isAsking || document.visibilityState !== "visible") return;
      const running = runningTrials(run);
      const asked = [...new Set([...before, ...running])].sort((a, b) => a - b);
      if (asked.length === 0) return;
      isAsking = true;
      store.follow(asked, stop.signal).then(
        (isMore) => {
          isAsking = false;
          before = running;
          if (isMore) onMore();
        },
        () => (isAsking = false), // the next second asks again
      );
    }, FOLLOW_MS);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [run, store]);
}

// Reads what is wanted, one question at a time, until nothing is missing of what
// is wanted by then.
async function readWanted(
  store: CurveStore,
  wanted: { trials: readonly number[]; pointsMax: number },
  change: (change: Partial<State>) => void,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const missing = store.missing(wanted.trials);
    const isFull = missing.length > 0 && store.points >= wanted.pointsMax;
    const isReading = missing.length > 0 && !isFull;
    change({ isReading, isFull, problem: undefined });
    if (!isReading) return;
    await store.read(missing.slice(0, CHUNK_TRIALS), () => change({}), signal);
  }
}

export function useCurves(run: RunModel, metric: string): Reading {
  const store = useMemo(() => makeCurveStore(run.id, metric), [run, metric]);
  const [state, setState] = useState<State>(fresh);
  const wanted = useRef<{ trials: readonly number[]; pointsMax: number }>({
    trials: [],
    pointsMax: POINTS_MAX,
  });
  const pump = useRef<() => void>(() => undefined);
  const table = run.table.value;
  const { mask } = run.selection.value;
  const trials = useMemo(() => selectedTrials(table, mask), [table, mask]);
  const change = (part: Partial<State>) =>
    setState((old) => ({ ...old, ...part, version: old.version + 1 }));

  useEffect(() => {
    const stop = new AbortController();
    const changeHere = (part: Partial<State>) => stop.signal.aborted || change(part);
    let isBusy = false;
    pump.current = () => {
      if (isBusy) return;
      isBusy = true;
      readWanted(store, wanted.current, changeHere, stop.signal)
        .catch((error: Error) => changeHere({ isReading: false, problem: error.message }))
        .finally(() => (isBusy = false));
    };
    return () => stop.abort();
  }, [store]);
  useEffect(() => {
    wanted.current.trials = trials;
    pump.current();
  }, [store, trials]);
  useFollowing(run, store, () => change({}));

  return {
    ...state,
    store,
    readTrials: trials.length - store.missing(trials).length,
    allTrials: trials.length,
    readMore: () => {
      wanted.current.pointsMax = store.points + POINTS_MAX;
      pump.current();
    },
  };
}
