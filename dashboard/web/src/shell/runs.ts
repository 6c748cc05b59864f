// SPDX-License-Identifier: GPL-3.0-or-later
// The list of runs, kept up to date for the whole page.
import { signal } from "@preact/signals";
import { getJson } from "../api";
import { listen } from "../live";
import type { RunRow } from "../types";

// By their ids; null: not read yet.
export const runs = signal<ReadonlyMap<number, RunRow> | null>(null);
export const runsProblem = signal<Error | null>(null);

interface Page {
  runs: RunRow[];
  next?: number | null;
}

async function readAll(): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  let after: number | null | undefined;
  do {
    const page = await getJson<Page>(after ? `/runs?after=${after}` : "/runs");
    rows.push(...page.runs);
    after = page.next;
  } while (after);
  return rows;
}

async function readRuns(): Promise<void> {
  try {
    runs.value = new Map((await readAll()).map((row) => [row.id, row]));
    runsProblem.value = null;
  } catch (error) {
    runsProblem.value = error as Error;
  }
}

// From the page's beginning to its end.
export function startRuns(): void {
  void readRuns();
  listen(0, {
    runs: (news) => {
      const next = new Map(runs.peek() ?? []);
      for (const row of news.runs) next.set(row.id, row);
      runs.value = next;
    },
    gone: ({ run }) => {
      const next = new Map(runs.peek() ?? []);
      next.delete(run);
      runs.value = next;
    },
    back: () => void readRuns(),
  });
}
