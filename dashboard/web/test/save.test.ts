// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of a chart as a file.
import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf } from "../src/charts/save";
import type { Cell } from "../src/charts/save";

const csv = (cell: Cell) =>
  csvOf({ columns: ["x"], rows: 1, cell: () => cell }).slice("x\r\n".length, -2);

test("no text is a formula of a spreadsheet", () => {
  for (const [text, cell] of [
    ["=1+1", "'=1+1"],
    ["+1+1", "'+1+1"],
    ["-1-1", "'-1-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\t=1", "'\t=1"],
    ["\r=1", "\"'\r=1\""],
    ['=A("x",1)', '"\'=A(""x"",1)"'],
    ["'=1", "''=1"],
    ["-inf", "'-inf"],
    ["-", "'-"],
    ["-0.5", "-0.5"],
    ["+1e-3", "+1e-3"],
    ["'x'", "'x'"],
    ["1-1", "1-1"],
  ])
    assert.equal(csv(text), cell);
  assert.equal(csvOf({ columns: ["=x"], rows: 0, cell: () => null }), "'=x\r\n");
});

test("numbers are as they were", () => {
  assert.equal(csv(-0.5), "-0.5");
  assert.equal(csv(-Infinity), "-inf");
  assert.equal(csv(-1e-9), "-1e-9");
  assert.equal(csv(NaN), "");
});
