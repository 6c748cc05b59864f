// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeAxes } from "../src/charts/parallel/axes";
import { classOf, countRows, makeHistogram, rankEdges, rankOf } from "../src/charts/parallel/histogram";
import { newsOf } from "../src/charts/parallel/news";
import { makeChanges, makeStrip, paintGap } from "../src/charts/parallel/raster";
import type { Axis } from "../src/charts/parallel/axes";
import { paintParallel } from "../src/charts/parallel/vector";
import type { Painter } from "../src/charts/svg";
import type { Theme } from "../src/charts/theme";
import { makeTable, mergeTable } from "../src/data/columns";
import type { Column, RunModel } from "../src/types";

const ROWS = 3000;
// Numbers from 0 to 1 without a pattern that can be seen, always the same ones.
const mixed = (row: number, stream: number) => Math.abs(Math.sin(row * 12.9898 + stream * 78.233) * 43758.5453) % 1;
const placesOf = (stream: number) =>
  Uint16Array.from({ length: ROWS }, (_, row) => mixed(row, stream) * 65535);
const inks = { colours: Uint8Array.from({ length: 768 }, (_, i) => i % 251) };

test("a strip that follows the rows is the one that is made of them", () => {
  const [from, to] = [placesOf(1), placesOf(2)];
  const ranks = Uint8Array.from({ length: ROWS }, (_, row) => 1 + mixed(row, 3) * 254);
  const changes = makeChanges();
  for (const fold of [1, 2]) {
    const gap = { histogram: makeHistogram("a", "b"), isLeftFlipped: false, isRightFlipped: true };
    countRows(gap.histogram, from, to, ranks, null, 1);
    const followed = makeStrip(60, 200, fold);
    paintGap(followed, gap, ROWS, inks, changes);
    const gone = Uint32Array.from({ length: ROWS / 3 }, (_, i) => 3 * i);
    countRows(gap.histogram, from, to, ranks, gone, -1);
    paintGap(followed, gap, ROWS - gone.length, inks, changes);
    const made = makeStrip(60, 200, fold);
    paintGap(made, gap, ROWS - gone.length, inks, changes);
    assert.deepEqual(followed.pixels, made.pixels);
    assert.ok(made.pixels.some((pixel) => pixel !== 0));
    countRows(gap.histogram, from, to, ranks, gone, 1);
    paintGap(followed, gap, ROWS, inks, changes);
    assert.notDeepEqual(followed.pixels, made.pixels);
  }
});

test("nothing is drawn of no rows", () => {
  const gap = { histogram: makeHistogram("a", "b"), isLeftFlipped: false, isRightFlipped: false };
  const strip = makeStrip(10, 20, 1);
  paintGap(strip, gap, 0, inks, makeChanges());
  assert.ok(strip.pixels.every((pixel) => pixel === 0));
});

test("the best has the highest rank, the unknown none", () => {
  const values = Float64Array.from({ length: 1000 }, (_, i) => i);
  values[7] = NaN;
  const edges = rankEdges(values);
  assert.equal(rankOf(-1, edges, true), 255);
  assert.equal(rankOf(2000, edges, false), 255);
  assert.equal(rankOf(0, edges, false), 1);
  assert.equal(rankOf(NaN, edges, true), 0);
  assert.equal(rankOf(Infinity, edges, true), 0);
});

test("of few values the best and the worst have the ends of the ranks", () => {
  const ranksOf = (isLess: boolean, ...values: number[]) => {
    const edges = rankEdges(Float64Array.from(values));
    return values.map((value) => rankOf(value, edges, isLess));
  };
  assert.deepEqual(ranksOf(true, 7), [255]);
  assert.deepEqual(ranksOf(false, 7), [255]);
  assert.deepEqual(ranksOf(true, 1, 2), [255, 1]);
  assert.deepEqual(ranksOf(false, 1, 2), [1, 255]);
  assert.deepEqual(ranksOf(true, 1, 2, 3), [255, 128, 1]);
  // The best is the best however many share it, so all are where all are equal.
  assert.deepEqual(ranksOf(true, 5, 5, 5), [255, 255, 255]);
  assert.deepEqual(ranksOf(false, 1, 5, 5).slice(1), [255, 255]);
  assert.deepEqual(ranksOf(true, NaN, 5, Infinity), [0, 255, 0]);
});

test("only rows without a value have the colour of those", () => {
  assert.equal(classOf(0, 48), 0);
  assert.equal(classOf(1, 48), 1);
  assert.equal(classOf(255, 48), 47);
  for (let rank = 1; rank < 256; rank++) assert.ok(classOf(rank, 48) > 0);
  assert.equal(classOf(200, 1), 0); // one colour for all
});

// ---- what the worker is sent ----

const real = (name: string, data: number[]): Column =>
  ({ name, kind: "real", data: Float64Array.from(data), words: [], none: NaN });
const rowsOf = (numbers: number[], x: number[], loss: number[], seq: number) =>
  makeTable([real("number", numbers), real("x", x), real("value:loss", loss)], numbers.length, seq);
const axis = (name: string, max: number) =>
  ({ name, kind: "linear", min: 0, max, bands: [], hasNone: false }) as unknown as Axis;
const loss = { metric: "loss", goal: "minimize" } as const;
const all = (rows: number) => new Uint8Array(rows).fill(1);

test("only rows that came or changed are sent, of an axis that changed all", () => {
  const first = rowsOf([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4], [1, NaN, 3, 4], 10);
  const begin = newsOf(null, first, [axis("x", 1), axis("value:loss", 9)], loss, all(4));
  assert.equal(begin.rows.list, null);
  assert.deepEqual([...(begin.rows.values as Float64Array)], [1, NaN, 3, 4]);
  const second = mergeTable(first, rowsOf([2, 5], [0.2, 0.5], [2, 50], 12), "number");
  const axes = [axis("x", 1), axis("value:loss", 50)];
  const { rows, after } = newsOf(begin.after, second, axes, loss, all(5));
  assert.deepEqual([...(rows.list ?? [])], [1, 4]);
  assert.deepEqual(rows.axes.map(({ isWhole }) => isWhole), [false, true]);
  assert.deepEqual([...(rows.axes[0].data as Float64Array)], [0.2, 0.5]);
  assert.deepEqual([...(rows.axes[1].data as Float64Array)], [1, 2, 3, 4, 50]);
  assert.deepEqual([...(rows.values as Float64Array)], [2, 50]);
  const third = newsOf(after, second, axes, loss, all(5));
  assert.deepEqual([...(third.rows.list ?? [0])], []);
  const other = { metric: "x", goal: "minimize" } as const;
  assert.equal(newsOf(after, second, axes, other, all(5)).rows.list, null);
});

test("rows that are not sent have no news", () => {
  const table = rowsOf([1, 2], [0.1, 0.2], [1, 2], 10);
  const { rows } = newsOf(null, table, [axis("x", 1)], loss, all(3));
  assert.equal(rows.mask.length, 2);
});

// ---- the picture that is saved ----

test("a saved picture has the colours of the screen", () => {
  const table = rowsOf([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4], [2, NaN, 1, 2], 1);
  const run = { params: [], objectives: [loss] } as unknown as RunModel;
  const [shown] = makeAxes(run, table);
  const theme = { surface: "#ffffff", muted: "muted", ink: "ink", font: "x" } as Theme;
  const strokes: string[] = [];
  const painter = {
    strokeStyle: "", stroke: () => strokes.push(painter.strokeStyle),
    beginPath() {}, moveTo() {}, lineTo() {}, fillText() {},
  };
  paintParallel(painter as unknown as Painter, {
    table, theme, placed: [{ axis: shown, place: { x: 0, top: 0, bottom: 9, room: 9, isFlipped: false } }],
    width: 9, height: 9, objective: loss, rows: Uint32Array.of(1, 3, 0, 2), lines: null,
  });
  const [none, worst, tied, best] = strokes;
  assert.equal(none, "muted");
  assert.equal(worst, tied);
  assert.match(best, /^rgb/);
  assert.equal(new Set([none, worst, best]).size, 3);
});
