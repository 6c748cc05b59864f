// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeRuns, originOf, unionOfObjectives, unionOfParams } from "../src/compare/merge";
import { cellText, makeTable } from "../src/data/columns";
import type { Column } from "../src/types";

const int = (name: string, data: number[]): Column =>
  ({ name, kind: "int", data: Uint32Array.from(data), words: [], none: 0 });
const real = (name: string, data: number[]): Column =>
  ({ name, kind: "real", data: Float64Array.from(data), words: [], none: NaN });
const word = (name: string, words: string[], data: number[]): Column =>
  ({ name, kind: "words", data: Uint8Array.from(data), words, none: 255 });

const a = makeTable(
  [
    int("number", [1, 2]),
    int("job", [7, 8]),
    word("state", ["running", "succeeded"], [1, 0]),
    real("param:x", [0.5, 0.25]),
    real("param:k", [1, 2]),
    real("value:loss", [3, NaN]),
    int("nans", [0, 1]),
  ],
  2,
  5,
);
const b = makeTable(
  [
    int("number", [1, 3]),
    word("state", ["failed", "succeeded"], [0, 1]),
    word("param:k", ["one", "two"], [1, 255]),
    real("param:y", [9, 8]),
    real("value:loss", [1, NaN]),
  ],
  2,
  9,
);

test("trials of two runs are rows of one table", () => {
  const table = mergeRuns([{ name: "a", table: a }, { name: "b", table: b }], 12);
  const column = (name: string) => table.byName.get(name) as Column;
  const texts = (name: string) => [0, 1, 2, 3].map((row) => cellText(column(name), row));
  assert.equal(table.rows, 4);
  assert.equal(table.seq, 12);
  assert.deepEqual(texts("number"), ["1", "2", "3", "4"]);
  assert.deepEqual(texts("run"), ["a", "a", "b", "b"]);
  assert.deepEqual(texts("trial in run"), ["1", "2", "1", "3"]);
  assert.deepEqual(texts("state"), ["succeeded", "running", "failed", "succeeded"]);
  assert.deepEqual(texts("param:x"), ["0.5", "0.25", "", ""]);
  assert.deepEqual(texts("param:y"), ["", "", "9", "8"]);
  assert.deepEqual(texts("param:k"), ["1", "2", "two", ""]);
  assert.deepEqual(texts("value:loss"), ["3", "nan", "1", ""]);
  assert.equal(table.byName.has("job"), false);
  assert.equal(table.byName.has("nans"), false);
  assert.deepEqual(originOf(table, 4), { run: 1, trial: 3 });
});

test("no run, and runs without trials, are a table too", () => {
  assert.equal(mergeRuns([], 1).rows, 0);
  const empty = makeTable([int("number", [])], 0, 1);
  assert.equal(mergeRuns([{ name: "e", table: empty }], 1).rows, 0);
});

test("the union of spaces has the widest ranges", () => {
  const all = unionOfParams([
    [{ name: "x", kind: "float", scale: "log", min: 1, max: 5 }, { name: "k", kind: "bool" }],
    [
      { name: "x", kind: "float", scale: "log", min: 0.1, max: 2 },
      { name: "c", kind: "categorical", values: ["p"] },
    ],
    [
      { name: "x", kind: "int", min: 3, max: 9 },
      { name: "c", kind: "categorical", values: ["q", "p"] },
      { name: "k", kind: "float", min: 0, max: 1 },
    ],
  ]);
  assert.deepEqual(all, [
    { name: "x", kind: "float", scale: "linear", min: 0.1, max: 9 },
    { name: "k", kind: "float" },
    { name: "c", kind: "categorical", values: ["p", "q"] },
  ]);
});

test("a metric is one objective", () => {
  assert.deepEqual(
    unionOfObjectives([
      [{ metric: "loss", goal: "minimize" }],
      [{ metric: "loss", goal: "maximize" }, { metric: "acc", goal: "maximize" }],
    ]),
    [{ metric: "loss", goal: "minimize" }, { metric: "acc", goal: "maximize" }],
  );
});
