// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { looks, makeBars, makeLanes } from "../src/charts/timeline/bars";
import { makeTable, withStates } from "../src/data/columns";
import { countStates } from "../src/pages/counts";
import type { Column } from "../src/types";

const ROWS = 1;

function column(name: string, data: Column["data"]): Column {
  return { name, kind: "real", data, words: [], none: NaN };
}

test("only the first 32 reals have a bit for NaN", () => {
  const values = Array.from({ length: 34 }, (_, i) =>
    column(`value:m${i}`, Float64Array.from([NaN])),
  );
  const bits = column("nans", Uint32Array.from([0x8000_0001]));
  const { columns } = makeTable([...values, bits], ROWS, 0);
  const said = columns.flatMap(({ name, isNan }) => (isNan?.(0) ? [name] : []));
  assert.deepEqual(said, ["value:m0", "value:m31"]);
});

const words = (name: string, data: number[], list: string[]): Column =>
  ({ name, kind: "words", data: Uint8Array.from(data), words: list, none: 255 });

test("what runs is interrupted, like its run, without an engine", () => {
  const state = words("state", [1, 0, 1, 2], ["ready", "running", "succeeded"]);
  const table = makeTable([state], 4, 0);
  assert.equal(withStates(table, "running"), table);
  assert.equal(withStates(table, "stopped"), table);
  for (const runState of ["interrupted", "unknown"]) {
    const shown = withStates(table, runState);
    assert.deepEqual(shown.byName.get("state")?.words, ["ready", runState, "succeeded"]);
    const counts = countStates(shown);
    assert.deepEqual([counts.running, counts.interrupted, counts.pending], [0, 2, 1]);
  }
  assert.equal(countStates(table).running, 2);
});

test("bars of attempts that have not ended are interrupted without an engine", () => {
  const attempts = makeTable([words("cause", [0, 255], ["ok"])], 2, 0);
  const lookOf = (runState: string) => [...makeBars(attempts, runState).look].map((look) => looks[look]);
  assert.deepEqual(lookOf("running"), ["succeeded", "running"]);
  assert.deepEqual(lookOf("interrupted"), ["succeeded", "interrupted"]);
});

test("lanes by step follow the order in which steps started", () => {
  const time = (name: string, data: number[]): Column =>
    ({ name, kind: "time", data: Float64Array.from(data), words: [], none: NaN });
  const number: Column =
    { name: "number", kind: "int", data: Uint32Array.from([1, 2, 3]), words: [], none: 0 };
  const attempts = makeTable(
    [number, time("started", [50, 10, 20]), time("ended", [60, 30, 40])], 3, 0);
  const bars = makeBars(attempts, "succeeded");
  const lanes = makeLanes(bars, "step", 100, (job) => (job === 1 ? "a" : "z"));
  assert.deepEqual([lanes.count, ...lanes.of], [3, 2, 0, 1]);
  assert.deepEqual([0, 1, 2].map(lanes.label), ["z", "", "a"]);
});
