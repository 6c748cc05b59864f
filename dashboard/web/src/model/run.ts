// SPDX-License-Identifier: GPL-3.0-or-later
// A run that is looked at: its document and its table, kept up to date.
import { computed, signal } from "@preact/signals";
import { getBlock, getJson } from "../api";
import { decodeBlock, mergeTable, withStates } from "../data/columns";
import type { Block } from "../data/columns";
import { listen } from "../live";
import type { Rows } from "../live";
import type { RunDocument, RunModel, RunRow, SpaceParam, Table } from "../types";
import { heldFilters, heldNumber, heldNumbers } from "../url";
import { withMetrics } from "./metric_columns";
import { makePaced } from "./paced";
import { select } from "./selection";

export interface OpenRun {
  readonly model: RunModel;
  close(): void;
}

// Where the run's file cannot be read any more, what can be told from its trials.
function paramsOfColumns(table: Table): SpaceParam[] {
  return table.columns
    .filter(({ name }) => name.startsWith("param:"))
    .map(({ name, kind, words }) => ({
      name: name.slice("param:".length),
      kind: kind === "words" ? "categorical" : "float",
      ...(kind === "words" ? { values: [...words] } : {}),
    }));
}

// A model over what is given, which may change.
export function makeRun(
  document: ReturnType<typeof signal<RunDocument>>,
  table: RunModel["table"],
  metrics: RunModel["metrics"] = { value: [] },
): RunModel {
  const first = document.peek() as RunDocument;
  return {
    id: first.id,
    document: document as RunModel["document"],
    objectives: first.objectives ?? [],
    params: (first.space ?? paramsOfColumns(table.peek())).filter(
      (param) => param.kind !== "const",
    ),
    repeats: first.repeats ?? 1,
    table,
    metrics,
    filters: heldFilters,
    selection: computed(() => select(table.value, heldFilters.value)),
    hovered: signal(-1),
    focused: heldNumber("trial"),
    compared: heldNumbers("compare"),
  };
}

const bytesOf = (base64: string) =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)).buffer;

// What of a run's row is in its document too, but for counts.
const stateOf = ({ state, reason, tags, note, budget_trials }: RunRow) =>
  JSON.stringify([state, reason, tags, note, budget_trials]);

// Reads it, and follows it until it is closed.
export async function openRun(id: number, onGone: () => void): Promise<OpenRun> {
  const [firstDocument, block] = await Promise.all([
    getJson<RunDocument>(`/runs/${id}`),
    getBlock(`/runs/${id}/columns`),
  ]);
  const document = signal<RunDocument>(firstDocument);
  const table = signal<Table>(block.table);
  const show = makePaced((next: Table) => (table.value = next));
  let latest = block.table; // which may not be shown yet
  let isAsking = false;
  let isAskedAgain = false;
  let state = "";

  const take = ({ header, table: changes }: Block) => {
    if (header.since === 0) latest = changes;
    else if (header.rows > 0) latest = mergeTable(latest, changes, "number");
    else if (header.seq > latest.seq) latest = { ...latest, seq: header.seq };
    else return;
    show(latest);
  };
  // What happened since: one question at a time.
  const catchUp = async () => {
    isAskedAgain = isAsking;
    if (isAsking) return;
    isAsking = true;
    try {
      take(await getBlock(`/runs/${id}/columns?since=${latest.seq}`));
    } finally {
      isAsking = false;
    }
    if (isAskedAgain) await catchUp();
  };
  const readDocument = async () => {
    metrics.readNames();
    document.value = await getJson<RunDocument>(`/runs/${id}`);
  };
  const onRows = ({ since, seq, columns }: Rows) => {
    if (seq <= latest.seq) return;
    if (columns !== undefined && since <= latest.seq) take(decodeBlock(bytesOf(columns)));
    else void catchUp().catch(() => undefined); // the next news ask again
  };
  const stop = listen(id, {
    rows: onRows,
    runs: ({ runs }) => {
      const row = runs.find((one) => one.id === id);
      if (row !== undefined && stateOf(row) !== state) {
        state = stateOf(row);
        void readDocument().catch(() => undefined);
      }
    },
    gone: ({ run }) => run === id && onGone(),
    back: () => void Promise.all([catchUp(), readDocument()]).catch(() => undefined),
  });

  const runState = computed(() => document.value?.state ?? "");
  const shown = computed(() => withStates(table.value as Table, runState.value));
  const metrics = withMetrics(id, shown, firstDocument.objectives ?? []);
  return {
    model: makeRun(document, metrics.table, metrics.names),
    close: () => {
      stop();
      metrics.stop();
    },
  };
}
