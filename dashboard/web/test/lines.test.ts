// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { lineOf, paintLine } from "../src/charts/lines";
import { makeScale } from "../src/charts/scales";
import type { Painter } from "../src/charts/svg";

const look = { color: "#000000", width: 1 };
const area = { left: 10, top: 0, width: 100, height: 50 };

// What is painted, as one text.
function told(line: Parameters<typeof paintLine>[2]): string {
  const said: string[] = [];
  const say = (letter: string) => (x: number, y: number) => void said.push(`${letter}${x},${y}`);
  const nothing = () => undefined;
  const painter = {
    save: nothing, restore: nothing, setLineDash: nothing, beginPath: nothing,
    moveTo: say("M"), lineTo: say("L"), arc: say("o"),
    stroke: () => void said.push("stroke"), fill: () => void said.push("fill"),
  };
  paintLine(painter as unknown as Painter, area, line);
  return said.join(" ");
}

test("points without a place are left out", () => {
  const scales = { x: makeScale("linear", 0, 10), y: makeScale("log", 1, 100) };
  const line = lineOf(scales, [0, 5, NaN, 8, 10], [1, -1, 10, Infinity, 100], look);
  assert.deepEqual({ ...line }, { ...look, x: [0, 1], y: [0, 1] });
});

test("a value without a partner is none", () => {
  const scales = { x: makeScale("linear", 0, 1), y: makeScale("linear", 0, 1) };
  assert.equal(lineOf(scales, [1], [], look).x.length, 0);
});

test("lines, steps, areas and a single point", () => {
  const line = { ...look, x: [0, 0.5, 1], y: [0, 1, 0.5] };
  assert.equal(told(line), "M10,50 L60,0 L110,25 stroke");
  assert.equal(told({ ...line, isStepped: true }), "M10,50 L60,50 L60,0 L110,0 L110,25 stroke");
  const filled = "M10,50 L60,0 L110,25 L110,50 L10,50 fill M10,50 L60,0 L110,25 stroke";
  assert.equal(told({ ...line, isFilled: true }), filled);
  assert.equal(told({ ...look, x: [0.5], y: [0.5] }), "o60,25 stroke");
  assert.equal(told({ ...look, x: [], y: [] }), "");
});
