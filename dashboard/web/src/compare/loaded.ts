// SPDX-License-Identifier: GPL-3.0-or-later
// The runs that are compared, as far as they are read; read again as they go on.
import { useEffect, useRef, useState } from "preact/hooks";
import { getBlock, getJson } from "../api";
import { mergeTable, withStates } from "../data/columns";
import { runs } from "../shell/runs";
import type { RunDocument, RunRow, Table } from "../types";

export interface LoadedRun {
  readonly id: number;
  readonly document: RunDocument;
  readonly table: Table;
}

export interface Loading {
  readonly loaded: readonly LoadedRun[]; // in the order of the ids
  readonly left: number; // that are still read
  readonly problems: readonly string[];
}

const AGAIN_MS = 2000;
const ROWS_MAX = 3_000_000; // of all runs together

interface Entry {
  row: RunRow | undefined; // of the list, when it was read
  run?: LoadedRun;
  problem?: string;
}

async function read(id: number, old: LoadedRun | undefined, signal: AbortSignal) {
  const since = old?.table.seq ?? 0;
  const [document, block] = await Promise.all([
    getJson<RunDocument>(`/runs/${id}`, signal),
    getBlock(`/runs/${id}/columns${since > 0 ? `?since=${since}` : ""}`, signal),
  ]);
  const table = old === undefined || block.header.since === 0
    ? block.table : mergeTable(old.table, block.table, "number");
  return { id, document, table: withStates(table, document.state) };
}

const rowsOf = (entries: ReadonlyMap<number, Entry>) =>
  [...entries.values()].reduce((sum, { run }) => sum + (run?.table.rows ?? 0), 0);

// Those that were not read come first; then, now and then, those that have changed.
export function useLoaded(ids: readonly number[]): Loading {
  const entries = useRef(new Map<number, Entry>());
  const [, setVersion] = useState(0);
  const hasList = runs.value !== null;
  useEffect(() => {
    const held = entries.current;
    for (const id of [...held.keys()]) if (!ids.includes(id)) held.delete(id);
    const stop = new AbortController();
    const readAll = async () => {
      for (const isNew of [true, false]) {
        for (const id of ids) {
          const entry = held.get(id);
          const row = runs.peek()?.get(id);
          if ((entry === undefined) !== isNew || (!isNew && entry?.row === row)) continue;
          held.set(id, await take(id, row, entry, stop.signal, rowsOf(held)));
          setVersion((version) => version + 1);
        }
      }
    };
    const follow = async () => {
      while (!stop.signal.aborted) {
        await readAll();
        await new Promise((done) => setTimeout(done, AGAIN_MS));
      }
    };
    if (hasList) follow().catch(() => undefined); // it was stopped
    return () => stop.abort();
  }, [ids.join(), hasList]);
  const known = ids.map((id) => entries.current.get(id));
  return {
    loaded: known.flatMap((entry) => (entry?.run === undefined ? [] : [entry.run])),
    left: known.filter((entry) => entry === undefined).length,
    problems: known.flatMap((entry) => (entry?.problem === undefined ? [] : [entry.problem])),
  };
}

async function take(
  id: number,
  row: RunRow | undefined,
  old: Entry | undefined,
  signal: AbortSignal,
  rows: number,
): Promise<Entry> {
  const name = row?.name ?? `run ${id}`;
  if (old?.run === undefined && rows > ROWS_MAX)
    return { row, problem: `${name}: the other runs have too many trials` };
  try {
    return { row, run: await read(id, old?.run, signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { row, run: old?.run, problem: `${name}: ${(error as Error).message}` };
  }
}
