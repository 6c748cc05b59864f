// SPDX-License-Identifier: GPL-3.0-or-later
// From values to places and back: 0 where a scale begins, 1 where it ends. The
// scales of numbers are those of the search space (strategies/space/param.c).
import type { Column, Numbers, SpaceParam } from "../types";

export type ScaleKind = "linear" | "log" | "reverse_log" | "logit" | "category" | "time";

export interface Tick {
  readonly value: number;
  readonly text: string; // "": a small one, without a text
}

export interface Scale {
  readonly kind: ScaleKind;
  readonly min: number;
  readonly max: number;
  readonly isWhole: boolean; // ticks only at whole numbers
  // NaN where the value has no place on it; outside of 0..1 beyond its ends.
  toUnit(value: number): number;
  fromUnit(unit: number): number;
  ticks(count: number): readonly Tick[]; // about so many that have a text
  text(value: number): string; // for people
}

interface Shape {
  forward(value: number): number;
  inverse(place: number): number;
  holds(value: number): boolean;
}

const identity = (value: number) => value;
const always = () => true;
const linear: Shape = { forward: identity, inverse: identity, holds: always };

const shapes: Record<ScaleKind, Shape> = {
  linear,
  time: linear,
  category: linear,
  log: { forward: Math.log, inverse: Math.exp, holds: (value) => value > 0 },
  reverse_log: {
    forward: (value) => -Math.log1p(-value),
    inverse: (place) => -Math.expm1(-place),
    holds: (value) => value < 1,
  },
  logit: {
    forward: (value) => Math.log(value) - Math.log1p(-value),
    inverse: (place) => 1 / (1 + Math.exp(-place)),
    holds: (value) => value > 0 && value < 1,
  },
};

// ---- texts ----

// A round number as short as it can be said: 0.001, 1e-5, 20,000, 2.5e6.
export function tickText(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size >= 1e4 && size < 1e6) return value.toLocaleString("en");
  if (size !== 0 && (size >= 1e6 || size < 1e-3))
    return Number(value.toPrecision(10)).toExponential().replace("e+", "e");
  return String(Number(value.toPrecision(10)));
}

// At most six digits that matter.
export function valueText(value: number): string {
  if (Number.isNaN(value)) return "no value";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  return tickText(Number(value.toPrecision(6)));
}

const TIME_STEPS_S = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600,
  900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
];

function clockText(ms: number, stepS: number): string {
  const date = new Date(ms);
  if (stepS >= 86400) return date.toLocaleDateString(undefined, { month: "short", day: "numeric" });
  return date.toLocaleTimeString(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    ...(stepS < 60 ? { second: "2-digit" } : {}),
    ...(stepS < 1 ? { fractionalSecondDigits: 3 as const } : {}),
    hour12: false,
  });
}

// ---- ticks ----

// 1, 2 or 5 times a power of ten, so that about `count` of them fit.
function niceStep(span: number, count: number): number {
  const raw = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = raw / power;
  return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

function linearTicks(min: number, max: number, count: number, isWhole = false): Tick[] {
  const step = Math.max(niceStep(max - min, count), isWhole ? 1 : 0);
  const ticks: Tick[] = [];
  const last = Math.floor(max / step + 1e-9);
  for (let i = Math.ceil(min / step - 1e-9); i <= last && ticks.length < 1000; i++) {
    const value = Number((i * step).toPrecision(12));
    ticks.push({ value, text: tickText(value) });
  }
  return ticks;
}

// Powers of ten, each `every`-th with a text, and what lies between them.
function logTicks(min: number, max: number, count: number): Tick[] {
  const decades = Math.log10(max / min);
  if (decades < 1.2) return linearTicks(min, max, count);
  const every = Math.max(1, Math.ceil(decades / count));
  const between = decades * 2 <= count ? [2, 5] : [];
  const ticks: Tick[] = [];
  const last = Math.floor(Math.log10(max) + 1e-9);
  for (let power = Math.floor(Math.log10(min) + 1e-9); power <= last; power++)
    for (let digit = 1; digit < 10; digit++) {
      const value = Number(`${digit}e${power}`);
      if (value < min * (1 - 1e-9) || value > max * (1 + 1e-9)) continue;
      const hasText = digit === 1 ? power % every === 0 : between.includes(digit);
      if (hasText || every === 1) ticks.push({ value, text: hasText ? tickText(value) : "" });
    }
  return ticks;
}

// Of 1 - x, from the least x.
const mirrored = (ticks: readonly Tick[]) =>
  ticks.toReversed().map(({ value, text }) => {
    const other = Number((1 - value).toPrecision(12));
    return { value: other, text: text === "" ? "" : tickText(other) };
  });

function reverseLogTicks(min: number, max: number, count: number): Tick[] {
  return (1 - min) / (1 - max) < 16
    ? linearTicks(min, max, count)
    : mirrored(logTicks(1 - max, 1 - min, count));
}

function logitTicks(min: number, max: number, count: number): Tick[] {
  if (min > 0.05 && max < 0.95) return linearTicks(min, max, count);
  const low = min < 0.1 ? logTicks(min, Math.min(0.1, max), count / 2) : [];
  const high = max > 0.9 ? mirrored(logTicks(1 - max, Math.min(0.1, 1 - min), count / 2)) : [];
  const middle = min < 0.5 && max > 0.5 ? [{ value: 0.5, text: "0.5" }] : [];
  return [...low, ...middle, ...high];
}

function timeTicks(min: number, max: number, count: number): Tick[] {
  const wanted = (max - min) / 1000 / Math.max(1, count);
  const day = 86400;
  const stepS = TIME_STEPS_S.find((step) => step >= wanted) ?? day * Math.ceil(wanted / day);
  // Steps count from the local midnight.
  const zoneMs = new Date(min).getTimezoneOffset() * 60_000;
  const ticks: Tick[] = [];
  const stepMs = stepS * 1000;
  for (let at = Math.ceil((min - zoneMs) / stepMs) * stepMs + zoneMs; at <= max; at += stepMs)
    ticks.push({ value: at, text: clockText(at, stepS) });
  return ticks;
}

const tickMakers: Record<
  Exclude<ScaleKind, "category">,
  (min: number, max: number, count: number) => Tick[]
> = {
  linear: linearTicks,
  log: logTicks,
  reverse_log: reverseLogTicks,
  logit: logitTicks,
  time: timeTicks,
};

// ---- scales ----

// Of numbers or times. Ends that the kind cannot hold make it a linear one; two
// that are the same move apart.
export function makeScale(
  wantedKind: Exclude<ScaleKind, "category">,
  wantedMin: number,
  wantedMax: number,
  isWhole = false,
): Scale {
  let min = Number.isFinite(wantedMin) ? wantedMin : 0;
  let max = Number.isFinite(wantedMax) ? wantedMax : 1;
  const holds = shapes[wantedKind].holds;
  const kind = holds(min) && holds(max) ? wantedKind : "linear";
  const { forward, inverse, holds: holdsValue } = shapes[kind];
  if (!(max > min)) {
    const room = kind === "linear" ? Math.abs(min) * 0.05 || 1 : kind === "time" ? 1000 : 0;
    const place = forward(min);
    [min, max] = room > 0 ? [min - room, min + room] : [inverse(place - 1), inverse(place + 1)];
  }
  const from = forward(min);
  const span = forward(max) - from;
  const ticks = tickMakers[kind];
  return {
    kind,
    min,
    max,
    isWhole,
    toUnit:
      forward === identity
        ? (value) => (value - from) / span
        : (value) => (holdsValue(value) ? (forward(value) - from) / span : NaN),
    fromUnit: (unit) => inverse(from + unit * span),
    ticks: (count) =>
      kind === "linear" ? linearTicks(min, max, count, isWhole) : ticks(min, max, count),
    text: kind === "time" ? (value) => new Date(value).toLocaleString() : valueText,
  };
}

// Of words: a value is an index into them, or one of `numbers`, which stand for
// the words in turn. Each has the middle of a band of the same width.
export function makeCategories(words: readonly string[], numbers?: readonly number[]): Scale {
  const count = Math.max(1, words.length);
  const places = numbers && new Map(numbers.map((number, index) => [number, index]));
  const indexOf = (value: number) => (places ? (places.get(value) ?? NaN) : value);
  const valueOf = (index: number) => (numbers ? numbers[index] : index);
  const all = words.map((text, index) => ({ value: valueOf(index), text }));
  return {
    kind: "category",
    isWhole: false,
    min: valueOf(0),
    max: valueOf(count - 1),
    toUnit: (value) => (indexOf(value) + 0.5) / count,
    fromUnit: (unit) => valueOf(Math.min(count - 1, Math.max(0, Math.floor(unit * count)))),
    ticks: (wanted) => {
      const every = Math.max(1, Math.ceil(count / Math.max(1, wanted)));
      return all.filter((_, index) => index % every === 0);
    },
    text: (value) => words[indexOf(value)] ?? "",
  };
}

// What is said of it behind a name: " (log)", and nothing of one that is plain.
export const scaleNote = ({ kind }: Pick<Scale, "kind">) =>
  ["linear", "category", "time"].includes(kind) ? "" : ` (${kind.replace("_", " ")})`;

// The part of a scale between two places on it.
export function zoomed(scale: Scale, fromUnit: number, toUnit: number): Scale {
  if (scale.kind === "category") return scale;
  const [min, max] = [scale.fromUnit(fromUnit), scale.fromUnit(toUnit)];
  return makeScale(scale.kind, min, max, scale.isWhole);
}

// ---- from data ----

export interface Extent {
  min: number; // NaN: no finite number
  max: number;
  unknown: number; // how many are not known
  infinite: number;
}

// Of the numbers that a scale of the kind can hold.
export function extent(data: Numbers, rows: number, kind: ScaleKind = "linear"): Extent {
  const { holds } = shapes[kind];
  let [min, max, unknown, infinite] = [Infinity, -Infinity, 0, 0];
  for (let row = 0; row < rows; row++) {
    const value = data[row];
    if (value >= min && value <= max) continue; // most of many
    if (Number.isNaN(value)) unknown++;
    else if (!Number.isFinite(value)) infinite++;
    else if (holds(value)) {
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  return min <= max ? { min, max, unknown, infinite } : { min: NaN, max: NaN, unknown, infinite };
}

// A little room at both ends, so that nothing lies on the edge.
export function padded(scale: Scale, room = 0.025): Scale {
  return zoomed(scale, -room, 1 + room);
}

// The one that fits a column: by the space where it is a parameter's.
export function scaleOfColumn(column: Column, rows: number, param?: SpaceParam): Scale {
  if (column.kind === "words") return makeCategories(column.words);
  if (param?.kind === "categorical" || param?.kind === "ordinal") {
    const numbers = (param.values ?? []).filter((value) => typeof value === "number");
    return makeCategories(numbers.map(tickText), numbers);
  }
  const kind = column.kind === "time" ? "time" : (param?.scale ?? "linear");
  const seen = extent(column.data, rows, kind);
  // What was tried may lie outside of the space as it is now.
  const min = Math.min(param?.min ?? Infinity, Number.isNaN(seen.min) ? Infinity : seen.min);
  const max = Math.max(param?.max ?? -Infinity, Number.isNaN(seen.max) ? -Infinity : seen.max);
  return makeScale(kind, min, max, column.kind === "int" || param?.kind === "int");
}
