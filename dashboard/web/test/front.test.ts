// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { hypervolume } from "../src/model/front";

const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-12, `${a} ${b}`);

test("the volume of two objectives is that of the stairs up to the reference", () => {
  // Range 2 in both: the reference is (2.2, 2.2).
  near(hypervolume([[0, 2], [1, 1], [2, 0]]), 2.2 * 0.2 + 1.2 * 1 + 0.2 * 1);
  near(hypervolume([[5, 7]]), 0.1 * 0.1); // no range: that of 1
});

test("the volume of three objectives is that of counted cells", () => {
  const points = [[0, 3, 4], [1, 1, 2], [3, 0, 3], [2, 2, 0], [4, 4, 1]];
  const front = points.filter((a) =>
    !points.some((b) => b !== a && b.every((cost, i) => cost <= a[i])));
  const reference = [0, 1, 2].map((i) => {
    const costs = front.map((point) => point[i]);
    return Math.max(...costs) + 0.1 * (Math.max(...costs) - Math.min(...costs));
  });
  const cuts = [0, 1, 2].map((i) =>
    [...new Set([...front.map((point) => point[i]), reference[i]])].sort((a, b) => a - b));
  let sum = 0;
  for (let i = 0; i + 1 < cuts[0].length; i++)
    for (let j = 0; j + 1 < cuts[1].length; j++)
      for (let k = 0; k + 1 < cuts[2].length; k++) {
        const cell = [cuts[0][i], cuts[1][j], cuts[2][k]];
        if (front.some((point) => point.every((cost, n) => cost <= cell[n])))
          sum += (cuts[0][i + 1] - cell[0]) * (cuts[1][j + 1] - cell[1]) * (cuts[2][k + 1] - cell[2]);
      }
  near(hypervolume(front), sum);
});

test("nothing has no volume", () => {
  assert.ok(Number.isNaN(hypervolume([])));
  assert.ok(Number.isNaN(hypervolume([[1]])));
});
