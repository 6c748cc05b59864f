// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { diffLines } from "../src/data/diff";

const shown = (a: string, b: string) =>
  diffLines([...a], [...b]).map(({ sign, text }) => sign + text).join("");

test("equal lines stay, others are taken out and put in", () => {
  assert.equal(shown("abc", "abc"), " a b c");
  assert.equal(shown("", ""), "");
  assert.equal(shown("", "a"), "+a");
  assert.equal(shown("a", ""), "-a");
  assert.equal(shown("abcd", "axcd"), " a-b+x c d");
  assert.equal(shown("ac", "abc"), " a+b c");
  assert.equal(shown("abcabba", "cbabac").replace(/[ +-]/g, "").length >= 9, true);
});

test("both texts can be read from the changes, and these are few", () => {
  let seed = 1;
  const random = (most: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % most;
  };
  for (let round = 0; round < 300; round++) {
    const a = Array.from({ length: random(12) }, () => "abc"[random(3)]);
    const b = Array.from({ length: random(12) }, () => "abc"[random(3)]);
    const lines = diffLines(a, b);
    assert.deepEqual(lines.filter(({ sign }) => sign !== "+").map(({ text }) => text), a);
    assert.deepEqual(lines.filter(({ sign }) => sign !== "-").map(({ text }) => text), b);
    assert.deepEqual(
      lines.filter(({ left }) => left > 0).map(({ left }) => left),
      a.map((_, i) => i + 1),
    );
    assert.deepEqual(
      lines.filter(({ right }) => right > 0).map(({ right }) => right),
      b.map((_, i) => i + 1),
    );
    // As long as the longest common subsequence leaves it.
    const common = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
    for (let i = 1; i <= a.length; i++)
      for (let j = 1; j <= b.length; j++)
        common[i][j] = a[i - 1] === b[j - 1]
          ? common[i - 1][j - 1] + 1
          : Math.max(common[i - 1][j], common[i][j - 1]);
    assert.equal(
      lines.filter(({ sign }) => sign !== " ").length,
      a.length + b.length - 2 * common[a.length][b.length],
    );
  }
});

test("texts that have nothing in common end soon", () => {
  const a = Array.from({ length: 20_000 }, (_, i) => `a${i}`);
  const b = Array.from({ length: 20_000 }, (_, i) => `b${i}`);
  const lines = diffLines(["x", ...a], ["x", ...b]);
  assert.equal(lines.length, 40_001);
  assert.equal(lines[0].sign, " ");
});
