// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTable } from "../src/data/columns";
import { countStates } from "../src/pages/counts";
import { countsText, lookOf } from "../src/shell/states";

const words = ["ready", "waiting", "running", "paused", "succeeded", "failed", "stopped", "skipped",
  "cancelled", "nonfinite", "unknown"];
const states = makeTable([
  { name: "state", kind: "words", data: Uint8Array.from(words, (_, i) => i), words, none: 255 },
], words.length, 1);

test("counts have the words of the states", () => {
  assert.equal(countsText(countStates(states)),
    "1 succeeded, 1 stopped, 1 nonfinite, 1 failed, 1 running, 1 interrupted, 1 paused, 2 pending, " +
    "1 skipped, 1 cancelled");
  const { all, ...counts } = countStates(states, Uint8Array.from(words, () => 0));
  assert.equal(all, words.length);
  assert.ok(Object.values(counts).every((count) => count === 0));
});

test("each state has a sign", () => {
  assert.deepEqual(["active", "cancelled", "nonfinite", "pending", "ready", "failed"].map(lookOf),
    ["running", "skipped", "stopped", "waiting", "waiting", "failed"]);
});
