// SPDX-License-Identifier: GPL-3.0-or-later
// A run's attempts (GET /runs/{run}/attempts), read page by page and followed.
import { effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { getBlock } from "../../api";
import { makeTable, mergeTable } from "../../data/columns";
import type { RunModel, Table } from "../../types";

const PAGE_ROWS = 50_000;
const PAUSE_MS = 700; // between two questions
const KEY = "id";

export interface Attempts {
  readonly table: Table | null; // in the order of their ids
  readonly error: Error | null;
}

// The same rows with the words in the places that they have in another table.
function withWordsOf(known: Table, part: Table): Table {
  const columns = part.columns.map((column) => {
    const old = known.byName.get(column.name)?.words ?? column.words;
    if (column.kind !== "words" || column.words.every((word, i) => old[i] === word)) return column;
    const words = [...new Set([...old, ...column.words])];
    const places = column.words.map((word) => words.indexOf(word));
    const data = column.data.map((place) => places[place] ?? column.none) as typeof column.data;
    return { ...column, words, data };
  });
  return makeTable(columns, part.rows, part.seq);
}

// All that there are, or (since: a seq) that changed, onto those that are there.
async function readPages(
  run: number,
  known: Table | null,
  take: (table: Table) => void,
  stop: AbortSignal,
): Promise<void> {
  const changed = known === null ? "" : `&changed_since=${known.seq}`;
  let all = known;
  for (let after = 0; ;) {
    const path = `/runs/${run}/attempts?after=${after}&limit=${PAGE_ROWS}${changed}`;
    const { header, table } = await getBlock(path, stop);
    if (all === null) all = table;
    else if (table.rows > 0) all = mergeTable(all, withWordsOf(all, table), KEY);
    if (!header.next) break;
    after = header.next;
  }
  if (all !== null) take(all);
}

// Follows the run from when it is called until `stop` says so.
function follow(run: RunModel, take: (table: Table) => void, fail: (error: Error) => void): () => void {
  const stop = new AbortController();
  let known: Table | null = null;
  let isBusy = false;
  let isMore = false;
  const ask = async (): Promise<void> => {
    isMore = false;
    await readPages(run.id, known, (table) => take((known = table)), stop.signal);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (isMore && !stop.signal.aborted) await ask();
  };
  const news = () => {
    isMore = true;
    if (isBusy) return;
    isBusy = true;
    ask()
      .catch((error: Error) => stop.signal.aborted || fail(error))
      .finally(() => (isBusy = false));
  };
  const unsubscribe = effect(() => {
    void run.table.value.seq;
    news();
  });
  return () => {
    unsubscribe();
    stop.abort();
  };
}

export function useAttempts(run: RunModel): Attempts {
  const state = useSignal<Attempts>({ table: null, error: null });
  useEffect(() => follow(
    run,
    (table) => (state.value = { table, error: null }),
    (error) => (state.value = { table: state.peek().table, error }),
  ), [run]);
  return state.value;
}
