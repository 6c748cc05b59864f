// SPDX-License-Identifier: GPL-3.0-or-later
// What the parts of the page have in common.
import type { ReadonlySignal, Signal } from "@preact/signals";
import type { ComponentType } from "preact";

// ---- columns: a run's jobs, a row a job (dashboard/columns/columns.h) ----

export type Numbers = Float64Array | Uint32Array | Uint16Array | Uint8Array;

export interface Column {
  readonly name: string; // "number", "state", "value:loss", "param:lr"
  // What its numbers are: reals (NaN: not known), whole numbers, times in ms,
  // or indices into words.
  readonly kind: "real" | "int" | "time" | "words";
  // May be longer than the table: only the first `rows` count.
  readonly data: Numbers;
  readonly words: readonly string[]; // kind "words"; else empty
  readonly none: number; // the number that stands for "none"; NaN for reals
  // Whether a NaN there is a value, other than none.
  isNan?(row: number): boolean;
}

// Never changed in place for who looks at it: a change makes a new Table (whose
// arrays may be the same ones, longer or with other numbers in them).
export interface Table {
  readonly rows: number;
  readonly seq: number; // of the record's last event in it
  // Of each row: the table's seq when it came, or changed last. May be longer.
  readonly rowSeqs: Float64Array;
  readonly columns: readonly Column[];
  readonly byName: ReadonlyMap<string, Column>;
}

// ---- selection: one filter a column, all together ----

export type Filter =
  // Numbers from min to max, both included; one that is not known is out.
  | { readonly kind: "range"; readonly min: number; readonly max: number }
  // Words (of a "words" column); "" is none.
  | { readonly kind: "words"; readonly words: readonly string[] }
  // A text that the column's text contains, without regard to case.
  | { readonly kind: "text"; readonly text: string };

export type Filters = ReadonlyMap<string, Filter>;

export interface Selection {
  readonly mask: Uint8Array; // [rows]: 1 where a row passes all filters
  readonly count: number; // of those
}

// ---- what the server says of a run (JSON documents) ----

export interface Objective {
  metric: string;
  goal: "minimize" | "maximize";
}

export interface SpaceParam {
  name: string;
  kind: "float" | "int" | "categorical" | "ordinal" | "bool" | "const";
  scale?: "linear" | "log" | "reverse_log" | "logit";
  min?: number;
  max?: number;
  step?: number;
  values?: (string | number | boolean)[];
  when?: string;
}

export interface TrialCounts {
  all: number;
  succeeded: number;
  failed: number;
  running: number;
  interrupted: number; // by the record running, in a run that lacks its engine
  pending: number; // ready or waiting
  paused: number;
  stopped: number;
  skipped: number;
  cancelled: number;
  nonfinite: number; // ended well with nan or an infinity for a value
  cached: number; // of those that succeeded: cache hits
}

// A row of the list of runs.
export interface RunRow {
  id: number;
  name: string;
  kind: "experiment" | "workflow";
  state: string; // as people see it: "interrupted", "paused" too
  reason: string | null;
  created: string | null; // ISO 8601
  started: string | null;
  ended: string | null;
  duration_ms: number | null;
  objectives: Objective[];
  trials: TrialCounts;
  budget_trials: number | null; // that its user gave it after it had begun
  best: { trial: number; value: number } | null;
  front: { trials: number; hypervolume: number | null } | null; // several objectives
  parent: number | null;
  tags: string[];
  note: string | null;
}

// `smtune show RUN -o json` and more; views read what they need of it.
export interface RunDocument {
  id: number;
  name: string;
  kind: "experiment" | "workflow";
  state: string;
  objectives?: Objective[];
  space?: SpaceParam[];
  schedule?: { method: string; resource: string } | null;
  repeats?: number; // trials of a setting
  budget?: { trials: number | null } | null;
  spec?: string;
  revision?: string | null; // of its code, as git describes it
  problem?: string;
  tags?: string[];
  [key: string]: unknown;
}

// ---- a value that is held in the URL (url.ts) ----

export interface Held<T> {
  value: T; // reading follows it as a signal's
  peek(): T;
}

// ---- a run as every view gets it (model/run.ts makes it) ----

export interface RunModel {
  readonly id: number;
  readonly document: ReadonlySignal<RunDocument>;
  readonly objectives: readonly Objective[];
  readonly params: readonly SpaceParam[]; // as in the file, without constants
  readonly repeats: number; // trials of a setting
  readonly table: ReadonlySignal<Table>;
  // All that trials reported with a step; reading asks for them.
  readonly metrics: { readonly value: readonly string[] };

  // Written by any view, held in the URL.
  readonly filters: Held<Filters>;
  readonly selection: ReadonlySignal<Selection>;
  // Rows (indices into the table), not held; -1: none.
  readonly hovered: Signal<number>;
  // Numbers of trials; held in the URL.
  readonly focused: Held<number>; // 0: none
  readonly compared: Held<readonly number[]>;
}

export interface ViewProps {
  run: RunModel;
}

// One entry of the table of views (views/index.ts).
export interface View {
  readonly id: string; // in the URL
  readonly title: string;
  readonly key: string; // the key that opens it, behind "g"
  readonly applies: (run: RunModel) => boolean;
  readonly component: ComponentType<ViewProps>;
}
