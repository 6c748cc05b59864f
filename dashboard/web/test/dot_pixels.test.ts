// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { dotImage } from "../src/charts/dot_pixels";

const [WIDTH, HEIGHT] = [40, 30];
const dotsOf = (places: [number, number][], palette: string[], color?: number[]) => ({
  count: places.length,
  x: Float32Array.from(places, ([x]) => x),
  y: Float32Array.from(places, ([, y]) => y),
  radius: 1.3,
  alpha: 0.5,
  palette,
  color: color && Uint8Array.from(color),
});
const drawn = (dots: ReturnType<typeof dotsOf>) => dotImage(dots, WIDTH, HEIGHT, 1);
const at = (pixels: Uint32Array, x: number, y: number) =>
  [0, 8, 16, 24].map((shift) => (pixels[y * WIDTH + x] >>> shift) & 255);

test("a dot has its colour and opacity, and nothing is around it", () => {
  const pixels = drawn(dotsOf([[10, 12]], ["#102030"]));
  assert.deepEqual(at(pixels, 10, 12), [0x10, 0x20, 0x30, 127]);
  assert.equal(at(pixels, 14, 12)[3], 0);
  assert.equal(at(pixels, 10, 16)[3], 0);
});

test("dots over each other are as opaque as they would be one after the other", () => {
  const pixels = drawn(dotsOf([[10, 12], [10, 12], [10, 12]], ["#102030"]));
  assert.ok(Math.abs(at(pixels, 10, 12)[3] - 255 * (1 - 0.5 ** 3)) < 1.5);
  const many = Array.from({ length: 5000 }, (): [number, number] => [10, 12]);
  assert.deepEqual(at(drawn(dotsOf(many, ["#102030"])), 10, 12), [0x10, 0x20, 0x30, 255]);
});

test("colours mix alike in any order, few of them or many", () => {
  const few = ["#ff0000", "#0000ff"];
  const many = [...few, "#000001", "#000002", "#000003", "#000004"];
  const places: [number, number][] = [[10, 12], [10, 12]];
  const pictures = [few, many].flatMap((palette) =>
    [[0, 1], [1, 0]].map((color) => at(drawn(dotsOf(places, palette, color)), 10, 12)));
  for (const [red, green, blue] of pictures) {
    assert.ok(Math.abs(red - 127) <= 1 && green === 0 && Math.abs(blue - 127) <= 1);
  }
});

test("what lies over the edge is cut there", () => {
  const places: [number, number][] = [[0, 0], [39, 29], [-1, 5], [-900, 5], [5, 900]];
  const pixels = drawn(dotsOf(places, ["#ffffff"]));
  assert.equal(pixels.length, WIDTH * HEIGHT);
  for (const [x, y] of [[0, 0], [39, 29], [0, 5]] as const) assert.ok(at(pixels, x, y)[3] > 0);
  assert.equal(at(pixels, 39, 5)[3], 0);
});
