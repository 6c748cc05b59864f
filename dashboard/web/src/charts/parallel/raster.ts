// SPDX-License-Identifier: GPL-3.0-or-later
// Draws pair histograms: each cell is a band between two axes, and a pixel adds
// up all that cross it. In a column of pixels each band is added where it begins,
// and a sum that moves along makes it as thick as it is: so a band costs the same
// however thick it is. What was added stays, and the next picture adds no more
// than the cells that are not what they were.
import { BINS, CHANNELS, RANKS } from "./histogram";
import type { PairHistogram } from "./histogram";

export interface Gap {
  readonly histogram: PairHistogram;
  readonly isLeftFlipped: boolean;
  readonly isRightFlipped: boolean;
}

// Rows and weight of a cell in one number, which halves what is added up: both
// are whole, and together smaller than 2^53.
const PACKED = 2 ** 26;
const SUMS = 2; // packed, weight x rank
// Places in a column are counted in parts of a pixel.
const FIXED_BITS = 12;
const FIXED = 1 << FIXED_BITS;

// The picture of a gap.
export interface Strip {
  readonly width: number;
  readonly height: number;
  readonly fold: number; // how many bins are taken as one
  readonly thick: number; // pixels of a band
  readonly cells: Float64Array; // [bins][bins][SUMS]: those that are in the sums
  readonly sums: Float64Array; // [width][height + thick + 2][SUMS]
  readonly pixels: Uint32Array; // [height][width], RGBA as bytes lie
}

const columnLength = (height: number, thick: number) => (height + thick + 2) * SUMS;

export function makeStrip(width: number, height: number, fold: number): Strip {
  const bins = BINS / fold;
  const steepest = Math.ceil(height / width / 2);
  const thick = Math.max(2, Math.ceil(height / bins), Math.min(steepest, 4)) + 1;
  return {
    width, height, fold, thick,
    cells: new Float64Array(bins * bins * SUMS),
    sums: new Float64Array(width * columnLength(height, thick)),
    pixels: new Uint32Array(width * height),
  };
}

// A list of the cells that have changed, and by how much; their place is counted
// from above.
interface Changes {
  readonly starts: Uint32Array; // of those of a bin on the left; [BINS + 1]
  readonly right: Uint8Array;
  readonly values: Float64Array; // [count][SUMS]
}

export function makeChanges(): Changes {
  const most = BINS * BINS;
  return {
    starts: new Uint32Array(BINS + 1),
    right: new Uint8Array(most),
    values: new Float64Array(most * SUMS),
  };
}

// Lists them, and takes them as added.
function listChanges(strip: Strip, gap: Gap, changes: Changes): number {
  const { fold, cells } = strip;
  const bins = BINS / fold;
  const from = gap.histogram.cells;
  const { values } = changes;
  let count = 0;
  for (let left = 0; left < bins; left++) {
    changes.starts[left] = count;
    for (let right = 0; right < bins; right++) {
      let rows = 0;
      let weight = 0;
      let ranked = 0;
      for (let i = 0; i < fold; i++) {
        let cell = ((left * fold + i) * BINS + right * fold) * CHANNELS;
        for (let j = 0; j < fold; j++, cell += CHANNELS) {
          rows += from[cell];
          weight += from[cell + 1];
          ranked += from[cell + 2];
        }
      }
      const at = (left * bins + right) * SUMS;
      const packed = rows * PACKED + weight;
      if (packed === cells[at] && ranked === cells[at + 1]) continue;
      values[count * SUMS] = packed - cells[at];
      values[count * SUMS + 1] = ranked - cells[at + 1];
      cells[at] = packed;
      cells[at + 1] = ranked;
      changes.right[count] = gap.isRightFlipped ? right : bins - 1 - right;
      count++;
    }
  }
  changes.starts[bins] = count;
  return count;
}

// How a pixel looks: RGBA by its rank (0: it has none) and its opacity.
export interface Inks {
  readonly colours: Uint8Array; // [RANKS][3]
}

const OPACITY_MIN = 0.06;

// Opaque where far more than the mean cross, faint where few do.
function opacityOf(density: number): number {
  return Math.min(1, OPACITY_MIN + 0.36 * Math.sqrt(density));
}

const OPACITY_STEPS = 1024;
const DENSITY_MAX = 8; // times the mean; all above look alike
const opacities = Uint8Array.from(
  { length: OPACITY_STEPS + 1 },
  (_, i) => 255 * opacityOf((i / OPACITY_STEPS) * DENSITY_MAX),
);

// Paints a gap's bands over all of the strip. rows: how many are in the histogram.
export function paintGap(strip: Strip, gap: Gap, rows: number, inks: Inks, changes: Changes): void {
  const { width, height, fold, thick } = strip;
  const bins = BINS / fold;
  const pitch = height / bins;
  const leftAt = new Int32Array(bins);
  const rightAt = new Int32Array(bins);
  const perUnit = OPACITY_STEPS / DENSITY_MAX / ((rows * thick) / height);
  const hasChanges = listChanges(strip, gap, changes) > 0;
  strip.pixels.fill(0);
  for (let x = 0; x < width; x++) {
    const part = (x + 0.5) / width;
    for (let bin = 0; hasChanges && bin < bins; bin++) {
      const left = gap.isLeftFlipped ? bin : bins - 1 - bin;
      leftAt[bin] = (1 - part) * left * pitch * FIXED;
      rightAt[bin] = part * bin * pitch * FIXED;
    }
    const begin = x * columnLength(height, thick);
    if (hasChanges) addColumn(strip.sums, begin, changes, leftAt, rightAt);
    if (rows > 0) writeColumn(strip, x, begin, perUnit, inks.colours);
  }
}

function addColumn(
  sums: Float64Array,
  begin: number,
  { starts, right, values }: Changes,
  leftAt: Int32Array,
  rightAt: Int32Array,
): void {
  for (let bin = 0; bin < leftAt.length; bin++) {
    const from = leftAt[bin];
    const end = starts[bin + 1];
    for (let cell = starts[bin]; cell < end; cell++) {
      const y = begin + ((from + rightAt[right[cell]]) >> FIXED_BITS) * SUMS;
      sums[y] += values[cell * SUMS];
      sums[y + 1] += values[cell * SUMS + 1];
    }
  }
}

function writeColumn(
  { width, height, thick, sums, pixels }: Strip,
  x: number,
  begin: number,
  perUnit: number,
  colours: Uint8Array,
): void {
  let packed = 0;
  let ranked = 0;
  for (let y = 0, pixel = x, at = begin; y < height; y++, pixel += width, at += SUMS) {
    packed += sums[at];
    ranked += sums[at + 1];
    if (y >= thick) {
      packed -= sums[at - thick * SUMS];
      ranked -= sums[at - thick * SUMS + 1];
    }
    if (packed === 0) continue;
    const rows = Math.floor(packed / PACKED);
    const weight = packed - rows * PACKED;
    const rank = weight > 0 ? Math.min(RANKS - 1, (ranked / weight) | 0) : 0;
    const opacity = opacities[Math.min(OPACITY_STEPS, (rows * perUnit) | 0)];
    const colour = rank * 3;
    pixels[pixel] =
      (opacity << 24) | (colours[colour + 2] << 16) | (colours[colour + 1] << 8) | colours[colour];
  }
}
