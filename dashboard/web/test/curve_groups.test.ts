// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { bandsOf } from "../src/charts/curve_groups";
import type { Line } from "../src/charts/curve_lines";

const line = (row: number, x: number[], shown: number[]): Line => ({
  row,
  x,
  shown,
  curve: { trial: row + 1, steps: x, values: shown, raw: x, times: x },
});

test("a group has the mean and the deviation at each of its steps", () => {
  const lines = [
    line(0, [1, 2, 3], [2, 4, 6]),
    line(1, [1, 2], [4, 8]),
    line(2, [1], [9]),
    line(3, [2], [NaN]),
  ];
  const [big, small] = bandsOf(lines, (row) => (row === 2 ? "b" : "a"), true);
  assert.deepEqual(big, {
    name: "a",
    trials: 3,
    x: [1, 2, 3],
    mean: [3, 6, 6],
    spread: [Math.SQRT2, Math.sqrt(8), 0],
    count: [2, 2, 1],
  });
  assert.deepEqual([small.name, small.mean, small.spread], ["b", [9], [0]]);
});

test("curves over time are compared at the same times, from their first to their last", () => {
  const lines = [line(0, [0, 60], [1, 3]), line(1, [0, 120], [5, 7])];
  const [band] = bandsOf(lines, () => "all", false);
  assert.equal(band.x.length, 121);
  assert.deepEqual(
    [0, 59, 60, 61, 119, 120].map((at) => [band.mean[at], band.count[at]]),
    [[3, 2], [3, 2], [4, 2], [5, 1], [5, 1], [7, 1]],
  );
});
