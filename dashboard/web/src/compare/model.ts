// SPDX-License-Identifier: GPL-3.0-or-later
// Several runs as one run, so that its views can show their trials together.
import { signal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { makeRun } from "../model/run";
import type { RunDocument, RunModel, Table } from "../types";
import { href } from "../url";
import type { LoadedRun } from "./loaded";
import { mergeRuns, originOf, unionOfObjectives, unionOfParams } from "./merge";

const modelOf = ({ document, table }: LoadedRun) => makeRun(signal(document), signal(table));

export interface Comparison {
  readonly run: RunModel; // of all trials
  readonly shape: string; // another one with another `run`, whose views begin anew
  readonly runs: readonly (LoadedRun & { readonly model: RunModel })[];
}

// Its trials are opened on the pages of their runs.
function makeModel(
  document: RunDocument,
  table: RunModel["table"],
  ids: () => readonly number[],
): RunModel {
  const open = (number: number) => {
    if (number === 0) return;
    const { run, trial } = originOf(table.peek(), number);
    location.hash = href(`/runs/${ids()[run]}/trial`, new Map([["trial", String(trial)]]));
  };
  const focused = {
    get value() {
      return 0;
    },
    set value(number: number) {
      open(number);
    },
    peek: () => 0,
  };
  // Trials are compared within a run.
  const compared = {
    get value(): readonly number[] {
      return [];
    },
    set value(_numbers: readonly number[]) {
      return;
    },
    peek: () => [],
  };
  return { ...makeRun(signal(document), table), focused, compared };
}

export function useComparison(loaded: readonly LoadedRun[]): Comparison {
  const version = useRef(0);
  const ids = useRef<readonly number[]>([]);
  ids.current = loaded.map(({ id }) => id);
  const key = loaded.map(({ id, table, document }) => [id, table.seq, document.state]).join();
  const made = useMemo(() => {
    const runs = loaded.map((one) => ({ ...one, model: modelOf(one) }));
    const parts = runs.map(({ document, table }) => ({ name: document.name, table }));
    const objectives = unionOfObjectives(runs.map(({ model }) => model.objectives));
    const space = unionOfParams(runs.map(({ model }) => model.params));
    return { runs, merged: mergeRuns(parts, ++version.current), objectives, space };
  }, [key]);
  const shape = JSON.stringify([made.objectives, made.space]);
  const held = useMemo(() => {
    const table = signal<Table>(made.merged);
    const document: RunDocument = {
      id: 0,
      name: "comparison",
      kind: "experiment",
      state: "succeeded",
      objectives: made.objectives,
      space: made.space,
    };
    return { table, run: makeModel(document, table, () => ids.current) };
  }, [shape]);
  useLayoutEffect(() => {
    held.table.value = made.merged;
  }, [held, made]);
  return { run: held.run, shape, runs: made.runs };
}
