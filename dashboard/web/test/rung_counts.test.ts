// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { rungsOf } from "../src/charts/rung_counts";
import type { Observation } from "../src/charts/rung_counts";

const planned = [1, 3, 9].map((resource, rung) => ({ bracket: 0, rung, resource }));
const observed = (number: number, rung: number, resource: number, others: Partial<Observation>) => ({
  number, bracket: 0, rung, resource, last: number / 10, decision: "continue" as const,
  promoted_to: null, time_ms: 1000 * number, ...others,
});
const counts = (observations: readonly Observation[]) =>
  rungsOf(planned, observations).rungs.map(({ resource, reached, promoted }) => [resource, reached, promoted]);

test("a trial that continues is promoted, with a pause and without one", () => {
  const stopping = [observed(1, 0, 1, {}), observed(2, 0, 1, { decision: "stop" }), observed(1, 1, 3, {})];
  assert.deepEqual(counts(stopping), [[1, 2, 1], [3, 1, 1], [9, 0, 0]]);
  const pausing = [
    observed(1, 0, 1, { decision: "pause", promoted_to: 3 }), observed(2, 0, 1, { decision: "pause" }),
  ];
  assert.deepEqual(counts(pausing), [[1, 2, 1], [3, 0, 0], [9, 0, 0]]);
  const { ended, reached } = rungsOf(planned, stopping);
  assert.deepEqual(ended, [{ number: 2, resource: 1, last: 0.2 }]);
  assert.deepEqual(reached.map(({ decision }) => decision), ["promoted", "not promoted", "promoted"]);
});

test("a report beyond a rung counts at the rung, and at those that it jumped over", () => {
  const late = [observed(1, 0, 2, {}), observed(1, 1, 4, {}), observed(2, 1, 5, { decision: "stop" }),
    observed(3, 2, 9, {})];
  assert.deepEqual(counts(late), [[1, 3, 3], [3, 3, 2], [9, 1, 1]]);
  const { ended, reached } = rungsOf(planned, late);
  assert.deepEqual(ended, [{ number: 2, resource: 5, last: 0.2 }]); // where its curve ends
  assert.deepEqual(reached.map(({ resource }) => resource), [1, 3, 3, 9]);
  assert.equal(reached[3].decision, "last rung");
});

test("a trial that is retried counts again", () => {
  const again = [observed(1, 0, 1, {}), observed(1, 1, 3, {}), observed(1, 0, 1, { decision: "stop" })];
  assert.deepEqual(counts(again), [[1, 2, 1], [3, 1, 1], [9, 0, 0]]);
});

test("brackets share the lines of their rungs; what is at no rung is left out", () => {
  const two = [...planned, { bracket: 1, rung: 0, resource: 3 }, { bracket: 1, rung: 1, resource: 9 }];
  const { rungs } = rungsOf(two, [
    observed(1, 1, 3, {}), observed(2, 0, 3, { bracket: 1, decision: "stop" }),
    observed(3, 0, 2, { rung: null }),
  ]);
  assert.deepEqual(rungs.map(({ reached, promoted }) => [reached, promoted]), [[1, 1], [2, 1], [0, 0]]);
  assert.deepEqual(rungs.map(({ isLast }) => isLast), [false, false, true]);
});
