// SPDX-License-Identifier: GPL-3.0-or-later
// A noun agrees with its number.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMany, unitOf } from "../src/shell/format";

test("a unit is in the singular behind 1 alone", () => {
  for (const [plural, one] of [
    ["epochs", "epoch"],
    ["batches", "batch"],
    ["passes", "pass"],
    ["boxes", "box"],
    ["series", "series"],
    ["loss", "loss"],
    ["s", "s"],
    ["budget", "budget"],
  ]) {
    assert.equal(unitOf(plural, 1), one);
    assert.equal(unitOf(plural, 3), plural);
    assert.equal(unitOf(plural, 0.5), plural);
  }
});

test("a count has its noun", () => {
  assert.equal(formatMany(1, "trial"), "1 trial");
  assert.equal(formatMany(1203, "trial"), "1,203 trials");
});
