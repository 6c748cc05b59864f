// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { medianOf } from "../src/data/median";

test("the middle one, or the mean of two", () => {
  assert.ok(Number.isNaN(medianOf(new Float64Array(0))));
  assert.equal(medianOf(Float64Array.of(3)), 3);
  assert.equal(medianOf(Float64Array.of(3, 1)), 2);
  assert.equal(medianOf(Float64Array.of(5, 1, 3)), 3);
  assert.equal(medianOf(new Float64Array(100).fill(7)), 7);
});

test("as in sorted numbers, however they lie", () => {
  for (let length = 1; length < 200; length += 7)
    for (const order of [(i: number) => i, (i: number) => -i, (i: number) => (i * 37) % 11]) {
      const numbers = Float64Array.from({ length }, (_, i) => order(i));
      const sorted = numbers.slice().sort();
      const middle = (sorted[(length - 1) >> 1] + sorted[length >> 1]) / 2;
      assert.equal(medianOf(numbers), middle);
    }
});
