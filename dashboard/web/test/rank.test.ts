// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { rankCorrelation, ranks } from "../src/charts/rank";

test("equal numbers share the mean of their ranks", () => {
  assert.deepEqual([...ranks(Float64Array.of(3, 1, 3, 2, 3))], [4, 1, 4, 2, 4]);
  assert.deepEqual([...ranks(Float64Array.of(0, -0, 5))], [1.5, 1.5, 3]);
  assert.deepEqual([...ranks(new Float64Array(0))], []);
});

test("ranks that rise together are 1, against each other -1, without any NaN", () => {
  const x = ranks(Float64Array.of(1, 10, 100, 1000));
  assert.equal(rankCorrelation(x, ranks(Float64Array.of(2, 3, 5, 7))), 1);
  assert.equal(rankCorrelation(x, ranks(Float64Array.of(7, 5, 3, 2))), -1);
  assert.ok(Number.isNaN(rankCorrelation(x, ranks(new Float64Array(4)))));
});

test("many numbers, negative ones too, have the ranks of their places", () => {
  const values = Float64Array.from({ length: 5000 }, (_, i) => ((i * 7919) % 5000) / 7 - 300);
  const sorted = values.slice().sort();
  const made = ranks(values);
  for (let i = 0; i < values.length; i += 101) assert.equal(sorted[made[i] - 1], values[i]);
});
