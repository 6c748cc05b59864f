// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the lines of parallel coordinates onto a canvas: in a worker, or where
// there is none, in the page. Few rows are lines; many are densities.
import { lowerBound } from "../../data/columns";
import { PLACES, placeAll } from "./axes";
import type { AxisSpec } from "./axes";
import { RANKS, classOf, countRows, makeHistogram, maskChanges, rankEdges, rankOf } from "./histogram";
import type { PairHistogram } from "./histogram";
import { makeChanges, makeStrip, paintGap } from "./raster";
import type { Gap, Strip } from "./raster";

export const EXACT_MAX = 5000; // rows that are drawn as lines

// Where the axes are: x in CSS pixels.
export interface PlacedAxis {
  readonly name: string;
  readonly x: number;
  readonly isFlipped: boolean;
}

export interface Layout {
  readonly width: number; // all in CSS pixels
  readonly height: number;
  readonly top: number; // of the axes
  readonly bottom: number;
  readonly pixelRatio: number;
  readonly axes: readonly PlacedAxis[];
  readonly colours: Uint8Array; // [256][3], by rank
  readonly unranked: readonly number[]; // red, green, blue of rows without one
  readonly others: readonly number[]; // of rows that are not selected
}

export interface AxisData {
  readonly name: string;
  readonly spec: AxisSpec;
  readonly isWhole: boolean; // its data are of all rows, not of the list alone
  readonly data: ArrayLike<number>;
}

// Rows that are new, or not what they were.
export interface Rows {
  readonly rows: number; // how many there are now
  readonly list: Uint32Array | null; // null: all of them
  readonly axes: readonly AxisData[];
  readonly values: ArrayLike<number> | null; // of the list: what they are coloured by
  readonly isLess: boolean; // less is better
  readonly mask: Uint8Array; // of all rows
}

export interface Painted {
  readonly isExact: boolean;
  readonly count: number; // rows drawn
  readonly paintMs: number;
}

export interface Painter {
  setRows(rows: Rows): void;
  setLayout(layout: Layout): void;
  setMask(mask: Uint8Array): void;
  // Quick: coarser where it is a density. null: something newer came meanwhile.
  paint(isQuick: boolean, isStale: () => boolean): Promise<Painted | null>;
}

type AnyCanvas = HTMLCanvasElement | OffscreenCanvas;
type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

const LINE_CLASSES = 48; // colours of lines, the first of those without a value
const EXACT_QUICK_MAX = 1200; // while something moves
const FEW = 200; // lines, that may be thicker
const QUICK_FOLD = 2;
const QUICK_COLUMN = 2; // CSS pixels in one column
const EDGES_GROWTH = 1.03; // of the values, until all are ranked anew

const context2d = (canvas: AnyCanvas) =>
  canvas.getContext("2d", { willReadFrequently: true }) as Context;

function makeCanvas(width: number, height: number): AnyCanvas {
  if (typeof OffscreenCanvas !== "undefined") return new OffscreenCanvas(width, height);
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  return canvas;
}

// Strips as pictures, one after the other on the same canvas.
function makeImages(): (strip: Strip) => AnyCanvas {
  const canvas = makeCanvas(1, 1);
  const context = context2d(canvas);
  return ({ width, height, pixels }) => {
    if (canvas.width !== width || canvas.height !== height)
      [canvas.width, canvas.height] = [width, height];
    const bytes = new Uint8ClampedArray(pixels.buffer as ArrayBuffer);
    context.putImageData(new ImageData(bytes, width, height), 0, 0);
    return canvas;
  };
}

function countOf(mask: Uint8Array): number {
  let count = 0;
  for (let row = 0; row < mask.length; row++) count += mask[row];
  return count;
}

// With zeros behind, where there are more rows now.
function grown<T extends Uint8Array | Uint16Array | Float64Array>(old: T, rows: number): T {
  if (old.length >= rows) return old;
  const result = new (old.constructor as { new (length: number): T })(rows);
  result.set(old);
  return result;
}

const breathe = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

export function makePainter(canvas: AnyCanvas): Painter {
  const context = context2d(canvas);
  const changes = makeChanges();
  const places = new Map<string, Uint16Array>();
  const histograms = new Map<string, PairHistogram>();
  const allHistograms = new Map<string, PairHistogram>(); // of all rows
  let layout: Layout | null = null;
  // By their place and how fine they are; of: what they are strips of.
  const strips = new Map<string, { of: string; strip: Strip }>();
  const image = makeImages();
  let values: Float64Array = new Float64Array(0);
  let isLess = true;
  let edges: Float64Array = new Float64Array(0);
  let edgesKnown = 0; // how many finite values they were made of
  let known = 0; // how many there are
  let ranks: Uint8Array = new Uint8Array(0);
  let mask: Uint8Array = new Uint8Array(0);
  let count = 0; // of those in the mask
  let others: AnyCanvas | null = null; // the rows that are not selected, drawn
  let isNews = false; // rows have come that are not among the others

  const shownAxes = () => (layout?.axes ?? []).filter(({ name }) => places.has(name));

  // ---- data ----

  function forget(): void {
    histograms.clear();
    allHistograms.clear();
    others = null;
  }

  // Every row's rank among all as they are now.
  function rankAll(): void {
    edges = rankEdges(values);
    edgesKnown = known = values.reduce((sum, value) => sum + Number(Number.isFinite(value)), 0);
    ranks = Uint8Array.from(values, (value) => rankOf(value, edges, isLess));
    forget();
  }

  // Rows come into the histograms that they belong to, or leave them.
  function countIn(list: Uint32Array, sign: 1 | -1): void {
    const selected = list.filter((row) => mask[row] === 1);
    for (const [kept, rows] of [[histograms, selected], [allHistograms, list]] as const)
      for (const histogram of kept.values()) {
        const from = places.get(histogram.left) as Uint16Array;
        const to = places.get(histogram.right) as Uint16Array;
        countRows(histogram, from, to, ranks, rows, sign);
      }
  }

  function setAllRows(next: Rows): void {
    for (const { name, spec, data } of next.axes) places.set(name, placeAll(spec, data, next.rows));
    values = next.values === null
      ? new Float64Array(next.rows).fill(NaN) : Float64Array.from(next.values);
    mask = next.mask;
    count = countOf(mask);
    rankAll();
  }

  // Those of the list, which rises.
  function setSomeRows(next: Rows, list: Uint32Array): void {
    countIn(list.subarray(0, lowerBound(list, list.length, values.length)), -1);
    for (const { name, spec, data, isWhole } of next.axes) {
      if (isWhole) places.set(name, placeAll(spec, data, next.rows));
      else placeSome(grown(places.get(name) as Uint16Array, next.rows), name, spec, data, list);
      if (isWhole) forgetAxis(name);
    }
    const before = values.length;
    values = grown(values, next.rows);
    ranks = grown(ranks, next.rows);
    list.forEach((row, i) => {
      if (row < before && Number.isFinite(values[row])) known--;
      values[row] = next.values?.[i] ?? NaN;
      if (Number.isFinite(values[row])) known++;
      ranks[row] = rankOf(values[row], edges, isLess);
    });
    mask = grown(mask, next.rows);
    countIn(list, 1);
    setMask(next.mask);
  }

  function placeSome(
    all: Uint16Array,
    name: string,
    spec: AxisSpec,
    data: ArrayLike<number>,
    list: Uint32Array,
  ): void {
    placeAll(spec, data, list.length, list).forEach((place, i) => (all[list[i]] = place));
    places.set(name, all);
  }

  function forgetAxis(name: string): void {
    for (const kept of [histograms, allHistograms])
      for (const [key, { left, right }] of kept)
        if (left === name || right === name) kept.delete(key);
  }

  function setRows(next: Rows): void {
    ({ isLess } = next);
    if (next.list === null) setAllRows(next);
    else setSomeRows(next, next.list);
    isNews = true;
    if (next.list !== null && known > edgesKnown * EDGES_GROWTH) rankAll();
  }

  // A longer one is of rows too that are not here yet.
  function setMask(longer: Uint8Array): void {
    if (longer.length < ranks.length) return;
    const next = longer.subarray(0, ranks.length);
    const [came, left] = maskChanges(mask, next);
    mask = next;
    count += came.length - left.length;
    for (const histogram of histograms.values()) {
      const from = places.get(histogram.left) as Uint16Array;
      const to = places.get(histogram.right) as Uint16Array;
      countRows(histogram, from, to, ranks, left, -1);
      countRows(histogram, from, to, ranks, came, 1);
    }
  }

  function setLayout(next: Layout): void {
    const isSized = layout?.width === next.width && layout.height === next.height &&
      layout.pixelRatio === next.pixelRatio;
    layout = next;
    others = null;
    if (isSized) return;
    canvas.width = Math.round(next.width * next.pixelRatio);
    canvas.height = Math.round(next.height * next.pixelRatio);
  }

  function selectedRows(): Uint32Array | null {
    if (count === mask.length) return null;
    const list = new Uint32Array(count);
    for (let row = 0, at = 0; row < mask.length; row++) if (mask[row]) list[at++] = row;
    return list;
  }

  function histogramOf(left: string, right: string, ofAll: boolean): PairHistogram {
    const key = `${left}\n${right}`;
    const kept = (ofAll ? allHistograms : histograms).get(key);
    if (kept !== undefined) return kept;
    const made = makeHistogram(left, right);
    const rows = ofAll ? null : selectedRows();
    const [from, to] = [places.get(left) as Uint16Array, places.get(right) as Uint16Array];
    countRows(made, from, to, ranks, rows, 1);
    (ofAll ? allHistograms : histograms).set(key, made);
    return made;
  }

  // ---- pictures ----

  function keptStrip(at: number, width: number, height: number, fold: number, gap: Gap): Strip {
    const place = `${at} ${fold}`;
    const of = [width, height, gap.histogram.left, gap.histogram.right,
      gap.isLeftFlipped, gap.isRightFlipped].join("\n");
    const kept = strips.get(place);
    if (kept?.of === of) return kept.strip;
    const strip = makeStrip(width, height, fold);
    strips.set(place, { of, strip });
    return strip;
  }

  // All gaps onto a context that is scaled to CSS pixels; column: how many of
  // those one of its columns takes. false: stopped.
  async function paintDensity(
    target: Context,
    at: Layout,
    options: { fold: number; column: number; ofAll: boolean; colours: Uint8Array },
    isStale: (() => boolean) | null,
  ): Promise<boolean> {
    const axes = shownAxes();
    const height = Math.max(1, Math.round(at.bottom - at.top));
    for (let i = 0; i + 1 < axes.length; i++) {
      const [left, right] = [axes[i], axes[i + 1]];
      const width = Math.max(1, Math.round((right.x - left.x) / options.column));
      const gap = {
        histogram: histogramOf(left.name, right.name, options.ofAll),
        isLeftFlipped: left.isFlipped,
        isRightFlipped: right.isFlipped,
      };
      const strip = options.ofAll
        ? makeStrip(width, height, options.fold) : keptStrip(i, width, height, options.fold, gap);
      const rows = options.ofAll ? mask.length : count;
      paintGap(strip, gap, rows, options, changes);
      target.drawImage(image(strip), left.x, at.top, right.x - left.x, at.bottom - at.top);
      if (isStale === null) continue;
      await breathe();
      if (isStale()) return false;
    }
    return true;
  }

  // Lines of some rows, coloured; those of the best last.
  function paintLines(target: Context, at: Layout, list: Uint32Array, inks: string[]): void {
    const axes = shownAxes();
    const byClass: number[][] = inks.map(() => []);
    for (const row of list) byClass[classOf(ranks[row], inks.length)].push(row);
    // Hairlines are drawn far quicker.
    target.lineWidth = list.length <= FEW ? 1.6 : 1 / at.pixelRatio;
    const opacity = Math.min(0.85, Math.max(0.16, 14 / Math.sqrt(list.length)));
    byClass.forEach((rows, index) => {
      if (rows.length === 0) return;
      const part = inks.length === 1 ? 0 : index / (inks.length - 1);
      target.globalAlpha = Math.min(1, opacity * (0.75 + 0.75 * part ** 4));
      target.strokeStyle = inks[index];
      // A path each: one of all of them would cost far more than their sum.
      for (const row of rows) {
        target.beginPath();
        trace(target, at, axes, row);
        target.stroke();
      }
    });
    target.globalAlpha = 1;
  }

  function yOf(at: Layout, axis: PlacedAxis, row: number): number {
    const place = (places.get(axis.name) as Uint16Array)[row] / PLACES;
    return at.top + (axis.isFlipped ? place : 1 - place) * (at.bottom - at.top);
  }

  function trace(target: Context, at: Layout, axes: readonly PlacedAxis[], row: number): void {
    axes.forEach((axis, i) => {
      const y = yOf(at, axis, row);
      if (i === 0) target.moveTo(axis.x, y);
      else target.lineTo(axis.x, y);
    });
  }

  // What is not selected, in grey; made once for each place of the axes.
  async function makeOthers(at: Layout): Promise<AnyCanvas> {
    isNews = false;
    const picture = makeCanvas(canvas.width, canvas.height);
    const target = context2d(picture);
    target.scale(at.pixelRatio, at.pixelRatio);
    if (mask.length <= EXACT_MAX) {
      const all = Uint32Array.from(mask, (_, row) => row);
      paintLines(target, at, all, [`rgb(${at.others.join()})`]);
      return picture;
    }
    const colours = new Uint8Array(RANKS * 3);
    for (let i = 0; i < RANKS; i++) colours.set(at.others, i * 3);
    await paintDensity(target, at, { fold: QUICK_FOLD, column: 1, ofAll: true, colours }, null);
    return picture;
  }

  async function paint(isQuick: boolean, isStale: () => boolean): Promise<Painted | null> {
    const at = layout;
    if (at === null) return { isExact: true, count: 0, paintMs: 0 };
    const began = performance.now();
    const isExact = count <= (isQuick ? EXACT_QUICK_MAX : EXACT_MAX);
    const isPart = count < mask.length;
    if (isPart && (others === null || (isNews && !isQuick))) others = await makeOthers(at);
    const isDirect = isExact || isQuick;
    const whole = isDirect ? canvas : makeCanvas(canvas.width, canvas.height);
    const target = context2d(whole);
    target.setTransform(1, 0, 0, 1, 0, 0);
    target.clearRect(0, 0, canvas.width, canvas.height);
    if (isPart && others !== null) {
      target.globalAlpha = 0.45;
      target.drawImage(others, 0, 0);
      target.globalAlpha = 1;
    }
    target.setTransform(at.pixelRatio, 0, 0, at.pixelRatio, 0, 0);
    if (isExact) {
      paintLines(target, at, selectedRows() ?? Uint32Array.from(mask, (_, row) => row), inksOf(at));
    } else {
      const colours = at.colours.slice();
      colours.set(at.unranked, 0);
      const options = { fold: isQuick ? QUICK_FOLD : 1, column: isQuick ? QUICK_COLUMN : 1, ofAll: false, colours };
      if (!(await paintDensity(target, at, options, isQuick ? null : isStale))) return null;
    }
    if (!isDirect) {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.drawImage(whole, 0, 0);
    }
    return { isExact, count, paintMs: performance.now() - began };
  }

  function inksOf(at: Layout): string[] {
    return Array.from({ length: LINE_CLASSES }, (_, i) => {
      const rank = 1 + Math.round(((i - 1) * (RANKS - 2)) / (LINE_CLASSES - 2));
      return `rgb(${(i === 0 ? at.unranked : at.colours.subarray(rank * 3, rank * 3 + 3)).join()})`;
    });
  }

  return { setRows, setLayout, setMask, paint };
}
