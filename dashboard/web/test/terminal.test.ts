// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { letterOf, placeOf, plainOf } from "../src/data/ink";
import { breaksOf, collapse, linesOf } from "../src/data/terminal";

const shown = (text: string) => plainOf(collapse(text).shown);
// Inks as {number}.
const inked = (text: string) => {
  let said = collapse(text).shown;
  for (let ink = 0; ink < 16; ink++) said = said.replaceAll(letterOf(ink), `{${ink}}`);
  return said;
};

test("a return writes over what is there", () => {
  assert.equal(shown("10%\r50%\r100%"), "100%");
  assert.equal(shown("a long line\rshort"), "shortg line");
  assert.equal(shown("left\r"), "left");
  assert.equal(shown("12345\r67\r8"), "87345");
});

test("orders to erase are heeded, others are left out", () => {
  assert.equal(shown("a long line\r\u001b[Kshort"), "short");
  assert.equal(shown("a long line\rshort\u001b[K"), "short");
  assert.equal(shown("a long line\u001b[2K\rshort"), "short");
  assert.equal(shown("\u001b[1;31mred\u001b[0m and \u001b]0;title\u0007plain"), "red and plain");
  assert.equal(shown("\u001b[?25lhidden\u001b(B"), "hidden");
});

test("colours are kept under any text written over them", () => {
  assert.equal(inked("\u001b[31mred\u001b[0m, \u001b[1;32mbold\u001b[m."), "{1}red{0}, {10}bold{0}.");
  assert.equal(inked("\u001b[91mlight\u001b[39m \u001b[2mfaint"), "{1}light{0} {7}faint");
  assert.equal(inked("\u001b[38;5;220mcube\u001b[38;2;20;30;220mall"), "{3}cube{4}all");
  assert.equal(inked("\u001b[48;2;1;1;1;34mground"), "{4}ground");
  assert.equal(inked("\u001b[31mred\u001b[0m\rR"), "R{1}ed");
  assert.equal(inked("\u001b[31mred\u001b[0m\rwh"), "wh{1}d");
  assert.equal(inked("gone\r\u001b[K\u001b[32mnew"), "{2}new");
  assert.deepEqual(breaksOf(collapse("a\u001b[31mbcd\u001b[0me").shown, 2), [0, 3, 6]);
  assert.equal(placeOf(collapse("a\u001b[31mb").shown, 1), 2);
});

test("a step back, and what is no letter", () => {
  assert.equal(shown("abc\b\bX"), "aXc");
  assert.equal(shown("a\u0000b\u0007"), "a␀b␇");
  assert.equal(shown("a\u202eb\u009b\u061c"), "a\\u202eb\\u009b\\u061c");
  assert.equal(shown("<script>alert(1)</script>"), "<script>alert(1)</script>");
});

test("a line that goes on is what it would be in one", () => {
  const text = "epoch 1 of 10\repoch 2 of 10\rdone\r\u001b[K3\nne\u001b[1mx\u001b[31mt\rN";
  for (let at = 0; at <= text.length; at++) {
    const first = linesOf("", text.slice(0, at));
    const second = linesOf(first.open.raw, text.slice(at));
    assert.deepEqual(
      [...first.ended, ...second.ended, second.open.shown],
      ["3", `Ne${letterOf(8)}x${letterOf(9)}t`],
      `at ${at}`,
    );
  }
});

test("a million states of one line", () => {
  const parts = Array.from({ length: 1_000_000 }, (_, i) => `${i} of 1000000`);
  const start = performance.now();
  assert.equal(shown(parts.join("\r")), "999999 of 1000000");
  assert.ok(performance.now() - start < 2000);
});

test("pieces of a line are as wide as they may be", () => {
  assert.deepEqual(breaksOf("abcdef", 4), [0, 4]);
  assert.deepEqual(breaksOf("", 4), [0]);
  assert.deepEqual(breaksOf("\u6f22\u5b57\u6f22", 4), [0, 2]);
  assert.deepEqual(breaksOf("\u{1f600}\u{1f600}\u{1f600}", 4), [0, 4]);
});
