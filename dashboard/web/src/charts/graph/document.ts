// SPDX-License-Identifier: GPL-3.0-or-later
// A workflow's graph as the server places it (GET /runs/{run}/graph), followed as
// its steps come on.
import { effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { getJson } from "../../api";
import type { RunModel } from "../../types";

export interface GraphNode {
  readonly step: number;
  readonly name: string;
  readonly kind?: "task" | "experiment" | "workflow" | "fail" | "join";
  readonly state: string; // waiting, active, succeeded, failed, skipped; a copy's: its job's
  readonly copies: number;
  readonly jobs: Readonly<Record<string, number>>; // by state
  readonly cached?: number; // of the jobs that succeeded: cache hits
  readonly note: string | null;
  readonly detail?: string | null;
  readonly began_ms: number | null;
  readonly ended_ms: number | null;
  readonly layer?: number;
  readonly x?: number; // pixels; without a place where the file no longer passes
  readonly y?: number;
  readonly width?: number;
  readonly height?: number;
  // of a step whose copies are seen in it (unfold.ts), and of these:
  readonly headHeight?: number; // of its own texts
  readonly within?: number; // the step's node; layer: which row of them
  readonly job?: number;
}

export interface Graph {
  readonly width: number;
  readonly height: number;
  readonly problem: string | null;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly {
    readonly from: number;
    readonly to: number;
    readonly points: readonly (readonly [number, number])[];
  }[];
}

const PAUSE_MS = 600;

// null: it is not there yet, or the run has none.
export function useGraph(run: RunModel): Graph | null {
  const graph = useSignal<Graph | null>(null);
  const isWorkflow = run.document.value.kind === "workflow";
  useEffect(() => {
    if (!isWorkflow) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let lastMs = -PAUSE_MS;
    const stop = new AbortController();
    const read = () => {
      timer = undefined;
      lastMs = performance.now();
      getJson<Graph>(`/runs/${run.id}/graph`, stop.signal).then(
        (next) => (graph.value = next),
        () => undefined, // what is there stays; the next news ask again
      );
    };
    const unsubscribe = effect(() => {
      void run.table.value.seq;
      void run.document.value.state;
      timer ??= setTimeout(read, Math.max(0, lastMs + PAUSE_MS - performance.now()));
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
      stop.abort();
    };
  }, [run, isWorkflow]);
  return graph.value;
}
