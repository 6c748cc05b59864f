// SPDX-License-Identifier: GPL-3.0-or-later
// Very many dots as pixels. What a dot takes of the light that comes through a
// pixel is a logarithm here: of dots that lie over each other these weights add
// up in any order, and the colour is the mean of theirs. So those with the same
// middle are counted first, and then cost as much as one.
import type { Dots } from "./dots";
import { bytesOf } from "./theme";

interface Stamp {
  readonly reach: number; // pixels from its middle
  readonly dx: Int32Array;
  readonly dy: Int32Array;
  readonly weights: Float32Array;
}

function makeStamp(radius: number, alpha: number): Stamp {
  const reach = Math.ceil(radius + 0.5);
  const pixels: [number, number, number][] = [];
  for (let dy = -reach; dy <= reach; dy++)
    for (let dx = -reach; dx <= reach; dx++) {
      const cover = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(dx, dy)));
      if (cover > 0) pixels.push([dx, dy, -Math.log1p(-cover * alpha)]);
    }
  return {
    reach,
    dx: Int32Array.from(pixels, ([dx]) => dx),
    dy: Int32Array.from(pixels, ([, dy]) => dy),
    weights: Float32Array.from(pixels, ([, , weight]) => weight),
  };
}

// ---- channels ----

const CHANNELS_MAX = 4;

// What is added up is one number a channel. Few colours have a channel each; of
// many each adds to four, which are the weight, red, green and blue.
interface Channels {
  readonly count: number;
  readonly amounts: Float32Array; // [colours][count]: what a dot adds
  readonly worth: Float32Array; // [count][4]: weight, red, green and blue of 1
}

function channelsOf(palette: readonly string[]): Channels {
  const colors = palette.map((color) => [1, ...bytesOf(color)]);
  const count = Math.min(colors.length, CHANNELS_MAX);
  const unit = (row: number) => Array.from({ length: count }, (_, i) => Number(i === row));
  const isFew = colors.length <= CHANNELS_MAX;
  return {
    count,
    amounts: Float32Array.from((isFew ? colors.map((_, i) => unit(i)) : colors).flat()),
    worth: Float32Array.from(
      (isFew ? colors : Array.from({ length: count }, (_, i) => unit(i))).flat(),
    ),
  };
}

// ---- planes: pixels, with so many around them that no stamp meets an edge ----
// A column of them lies together: rows of a table mostly come from left to right.

interface Size {
  readonly width: number;
  readonly height: number;
  readonly margin: number;
  readonly stride: number; // from a column to the next
  readonly length: number;
}

function sizeOf(width: number, height: number, margin: number): Size {
  const stride = height + 2 * margin;
  return { width, height, margin, stride, length: stride * (width + 2 * margin) };
}

// Where the dots' middles are, with what they add; a plane a channel.
function addMiddles(
  planes: readonly Float32Array[],
  size: Size,
  { count: channels, amounts }: Channels,
  dots: Dots,
  ratio: number,
): void {
  const { width, height, margin, stride } = size;
  const { x, y, color } = dots;
  const reach = margin / 2; // who is farther outside is not seen
  for (let i = 0; i < dots.count; i++) {
    const left = Math.round(x[i] * ratio);
    const top = Math.round(y[i] * ratio);
    if (left < -reach || top < -reach || left >= width + reach || top >= height + reach) continue;
    const at = (left + margin) * stride + top + margin;
    const own = (color === undefined ? 0 : color[i]) * channels;
    for (let channel = 0; channel < channels; channel++)
      planes[channel][at] += amounts[own + channel];
  }
}

// A stamp at each middle.
function press(middles: Float32Array, sums: Float32Array, size: Size, stamp: Stamp): void {
  const { weights } = stamp;
  const offsets = stamp.dx.map((dx, k) => dx * size.stride + stamp.dy[k]);
  for (let middle = 0; middle < middles.length; middle++) {
    const amount = middles[middle];
    if (amount === 0) continue;
    for (let k = 0; k < weights.length; k++) sums[middle + offsets[k]] += amount * weights[k];
  }
}

const OPAQUE = 8; // the weight from which on nothing shines through
const OPACITY_STEPS = 4096;
const opacities = Uint8Array.from(
  { length: OPACITY_STEPS + 1 },
  (_, i) => Math.round(255 * -Math.expm1((-i * OPAQUE) / OPACITY_STEPS)),
);

const BLOCK = 16; // columns whose pixels are written together, row by row

function develop(
  sums: readonly Float32Array[],
  size: Size,
  channels: Channels,
  pixels: Uint32Array,
): void {
  const { width, height } = size;
  for (let from = 0; from < width; from += BLOCK)
    for (let row = 0; row < height; row++) {
      const end = Math.min(width, from + BLOCK);
      for (let column = from; column < end; column++)
        pixels[row * width + column] = pixelAt(sums, size, channels, column, row);
    }
}

function pixelAt(
  sums: readonly Float32Array[],
  { margin, stride }: Size,
  { worth }: Channels,
  column: number,
  row: number,
): number {
  const at = (column + margin) * stride + row + margin;
  let weight = 0;
  let red = 0;
  let green = 0;
  let blue = 0;
  for (let channel = 0; channel < sums.length; channel++) {
    const sum = sums[channel][at];
    if (sum === 0) continue;
    weight += sum * worth[channel * 4];
    red += sum * worth[channel * 4 + 1];
    green += sum * worth[channel * 4 + 2];
    blue += sum * worth[channel * 4 + 3];
  }
  if (weight === 0) return 0;
  const step = weight < OPAQUE ? (weight * (OPACITY_STEPS / OPAQUE)) | 0 : OPACITY_STEPS;
  const part = 1 / weight;
  const byte = (sum: number) => (sum * part + 0.5) | 0;
  return (opacities[step] << 24) | (byte(blue) << 16) | (byte(green) << 8) | byte(red);
}

// They as a picture: [height][width], RGBA as bytes lie.
export function dotImage(
  dots: Dots,
  width: number,
  height: number,
  ratio: number, // of its pixels to those of the dots
): Uint32Array {
  const stamp = makeStamp(dots.radius * ratio, dots.alpha);
  const channels = channelsOf(dots.palette);
  const size = sizeOf(width, height, 2 * stamp.reach);
  const planes = () =>
    Array.from({ length: channels.count }, () => new Float32Array(size.length));
  const [middles, sums] = [planes(), planes()];
  addMiddles(middles, size, channels, dots, ratio);
  middles.forEach((middle, channel) => press(middle, sums[channel], size, stamp));
  const pixels = new Uint32Array(width * height);
  develop(sums, size, channels, pixels);
  return pixels;
}

// Over what is on the canvas.
export function drawPixels(context: CanvasRenderingContext2D, dots: Dots): void {
  const { a: ratio, e, f } = context.getTransform();
  const { width, height } = context.canvas;
  const pixels = dotImage(dots, width, height, ratio);
  const bytes = new Uint8ClampedArray(pixels.buffer as ArrayBuffer);
  const scratch = new OffscreenCanvas(width, height);
  scratch.getContext("2d")?.putImageData(new ImageData(bytes, width, height), 0, 0);
  context.save();
  context.setTransform(1, 0, 0, 1, e, f);
  context.drawImage(scratch, 0, 0);
  context.restore();
}
