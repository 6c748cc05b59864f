// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  WINDOW_BYTES,
  allLines,
  countLines,
  cutOf,
  fromOf,
  hasEarlier,
  hasLater,
  openWindow,
  toOf,
  withEarlier,
  withLater,
} from "../src/data/log_window";
import type { LogWindow } from "../src/data/log_window";

const encoder = new TextEncoder();

// Reads a log from its end in pieces of so many bytes.
function readBack(log: Uint8Array, length: number): LogWindow {
  const piece = (to: number) => {
    const from = Math.max(0, to - length);
    const bytes = log.subarray(from, to);
    const cut = from > 0 ? cutOf(bytes) : { at: 0, isInLine: false };
    const text = new TextDecoder().decode(bytes.subarray(cut.at));
    return { text, from: from + cut.at, isInLine: cut.isInLine };
  };
  const last = piece(log.length);
  let window = openWindow(last.text, last.from, log.length, log.length, last.isInLine);
  while (hasEarlier(window)) {
    const { text, from, isInLine } = piece(fromOf(window));
    window = withEarlier(window, text, from, isInLine);
  }
  return window;
}

test("a log that is read from its end is the same", () => {
  const log = encoder.encode(
    "first line\n\u00e4\u00f6\u00fc and \u6f22\u5b57\n\n10%\r50%\r100%\n" +
      "a very long line without any return at all, on and on\nlast, open",
  );
  const lines = [
    "first line",
    "\u00e4\u00f6\u00fc and \u6f22\u5b57",
    "",
    "100%",
    "a very long line without any return at all, on and on",
    "last, open",
  ];
  for (let length = 5; length < 130; length++)
    assert.deepEqual([...allLines(readBack(log, length))], lines, `pieces of ${length}`);
});

test("a line is found by the byte where it begins", () => {
  const log = encoder.encode("one\n\u00e4\u00f6\r\n\nfour\nfive, open");
  const starts = [...log.keys()].filter((byte) => byte === 0 || log[byte - 1] === 10);
  for (let from = 0; from < log.length; from++) {
    const cut = from > 0 ? cutOf(log.subarray(from)) : { at: 0, isInLine: false };
    const first = from + cut.at;
    const text = new TextDecoder().decode(log.subarray(first));
    const lines = allLines(openWindow(text, first, log.length, log.length, cut.isInLine));
    for (const start of starts.filter((byte) => byte >= first && byte > from)) {
      const line = lines[countLines(log.subarray(first, start))];
      const end = log.indexOf(10, start);
      const raw = log.subarray(start, end < 0 ? log.length : end);
      assert.equal(line, new TextDecoder().decode(raw).replace("\r", ""), `${start} from ${from}`);
    }
  }
});

test("the next piece continues the open line", () => {
  let window = openWindow("one\ntw", 0, 6, 6, false);
  window = withLater(window, "o\nthree\rT", 15, 15);
  assert.deepEqual([...allLines(window)], ["one", "two", "Three"]);
  window = withLater(window, "\n", 16, 16);
  assert.deepEqual([...allLines(window)], ["one", "two", "Three"]);
  assert.equal(window.pieces.length, 1);
});

test("memory is bounded at both ends", () => {
  const line = `${"x".repeat(1023)}\n`;
  const text = line.repeat(1024); // 1 MiB
  const size = 100 * 1024 * 1024;
  let window = openWindow(text, size - 1048576, size, size, false);
  for (let from = size - 2 * 1048576; from >= 0; from -= 1048576)
    window = withEarlier(window, text, from, false);
  assert.ok(toOf(window) - fromOf(window) <= WINDOW_BYTES);
  assert.equal(fromOf(window), 0);
  assert.ok(hasLater(window));
  assert.equal(allLines(window).length, (toOf(window) - fromOf(window)) / 1024);
  while (hasLater(window)) window = withLater(window, text, toOf(window) + 1048576, size);
  assert.ok(hasEarlier(window));
  assert.equal(toOf(window), size);
  assert.equal(allLines(window).length, (toOf(window) - fromOf(window)) / 1024);
});
