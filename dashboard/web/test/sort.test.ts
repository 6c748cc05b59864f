// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTable } from "../src/data/columns";
import { listOf, listText } from "../src/data/lists";
import { sortOf, sortText, sortedRows, withSort } from "../src/data/sort";
import type { Column } from "../src/types";

const reals = (name: string, numbers: number[]): Column => ({
  name,
  kind: "real",
  data: Float64Array.from(numbers),
  words: [],
  none: NaN,
});

const sorted = (
  columns: Column[],
  rows: number,
  keys: string,
  mask = new Uint8Array(rows).fill(1),
) => {
  const count = mask.reduce((sum, bit) => sum + bit, 0);
  return [...sortedRows(makeTable(columns, rows, 1), mask, count, sortOf(keys))];
};

test("reals of all kinds, what is not known last", () => {
  const column = reals("x", [3, NaN, -1, Infinity, -0, 0, 1e-300, -Infinity, 2.5, -1e300]);
  assert.deepEqual(sorted([column], 10, "x"), [7, 9, 2, 4, 5, 6, 8, 0, 3, 1]);
  assert.deepEqual(sorted([column], 10, "-x"), [3, 0, 8, 6, 4, 5, 2, 9, 7, 1]);
});

test("whole numbers and words, none last", () => {
  const ints: Column = {
    name: "n",
    kind: "int",
    data: Uint32Array.of(70000, 0, 5, 70001, 5),
    words: [],
    none: 0,
  };
  assert.deepEqual(sorted([ints], 5, "n"), [2, 4, 0, 3, 1]);
  assert.deepEqual(sorted([ints], 5, "-n"), [3, 0, 2, 4, 1]);
  const words: Column = {
    name: "w",
    kind: "words",
    data: Uint8Array.of(0, 1, 255, 2, 1),
    words: ["b10", "a", "b9"],
    none: 255,
  };
  assert.deepEqual(sorted([words], 5, "w"), [1, 4, 3, 0, 2]);
  assert.deepEqual(sorted([words], 5, "-w"), [0, 3, 1, 4, 2]);
});

test("several keys, a mask, and the order of equal rows", () => {
  const a = reals("a", [1, 0, 1, 0, 1]);
  const b = reals("b", [5, 5, 4, 4, 5]);
  assert.deepEqual(sorted([a, b], 5, "a,-b"), [1, 3, 0, 4, 2]);
  assert.deepEqual(sorted([a, b], 5, "-b", Uint8Array.of(0, 1, 1, 1, 1)), [1, 4, 2, 3]);
  assert.deepEqual(sorted([a, b], 5, "there is none"), [0, 1, 2, 3, 4]);
});

test("a million rows as JavaScript itself sorts them", () => {
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const rows = 1_000_000;
  const column = reals(
    "x",
    Array.from({ length: rows }, () => random() * 2 - 1),
  );
  const result = sorted([column], rows, "x");
  const expected = Float64Array.from(column.data).sort();
  assert.ok(result.every((row, place) => column.data[row] === expected[place]));
});

test("what a click on a head does", () => {
  const a = { name: "a", isDescending: false };
  assert.deepEqual(withSort([], "a", false), [a]);
  assert.deepEqual(withSort([a], "a", false), [{ name: "a", isDescending: true }]);
  assert.deepEqual(withSort([{ name: "a", isDescending: true }], "a", false), []);
  assert.deepEqual(withSort([a], "b", false), [{ name: "b", isDescending: false }]);
  assert.deepEqual(withSort([a], "b", true), [a, { name: "b", isDescending: false }]);
});

test("keys and lists as text", () => {
  const keys = sortOf("-value:a%2Cb,param:50%25");
  assert.deepEqual(keys, [
    { name: "value:a,b", isDescending: true },
    { name: "param:50%", isDescending: false },
  ]);
  assert.equal(sortText(keys), "-value:a%2Cb,param:50%25");
  assert.deepEqual(listOf(listText(["%2C", ",", "%"])), ["%2C", ",", "%"]);
});
