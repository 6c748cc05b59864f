// SPDX-License-Identifier: GPL-3.0-or-later
// The axes of parallel coordinates: what a value's place on one is, and back. A
// place is from 0 (below) to 1 (above); where some rows have no value, the
// lowest part is a band for those.
import { cellText } from "../../data/columns";
import { isMetric } from "../../model/metric_columns";
import type { Column, Filter, RunModel, SpaceParam, Table } from "../../types";
import { columnTitle } from "../rows";
import { extent, makeCategories, makeScale, tickText, valueText } from "../scales";
import type { Scale, ScaleKind } from "../scales";

// What a worker needs to place values.
export interface AxisSpec {
  readonly kind: ScaleKind;
  readonly min: number;
  readonly max: number;
  // "category": the number of each band, from below.
  readonly bands: readonly number[];
  readonly hasNone: boolean;
}

export interface Axis extends AxisSpec {
  readonly name: string; // the column's
  readonly label: string;
  readonly isObjective: boolean;
  readonly isWords: boolean; // its column's kind
  readonly isWhole: boolean;
  readonly bandLabels: readonly string[];
  readonly scale: Scale;
}

export const PLACES = 65535; // places are held as whole numbers up to this
const NONE_TOP = 0.055; // the band of those without a value
const VALUES_FROM = 0.1;
const BAND_FILLED = 0.62; // how much of a band its lines spread over
const LOG_FROM_RATIO = 300; // of what has no scale of its own: then it is log

const valuesFrom = (axis: AxisSpec) => (axis.hasNone ? VALUES_FROM : 0);

function scaleOf({ kind, min, max, bands }: AxisSpec, labels: readonly string[], isWhole: boolean) {
  return kind === "category" ? makeCategories(labels, bands) : makeScale(kind, min, max, isWhole);
}

// ---- making them ----

function wordBands(column: Column, rows: number, param?: SpaceParam) {
  const planned = (param?.values ?? (param?.kind === "bool" ? [false, true] : [])).map(String);
  const bandLabels = [...new Set([...planned, ...column.words])];
  const bands = bandLabels.map((word) => column.words.indexOf(word));
  const hasNone = column.data.subarray(0, rows).includes(column.none);
  return { kind: "category" as const, bands, bandLabels, hasNone };
}

function numberSpan(column: Column, rows: number, param?: SpaceParam) {
  const seen = extent(column.data, rows);
  const hasNone = seen.unknown + seen.infinite > 0;
  if (param?.kind === "categorical" || param?.kind === "ordinal") {
    const planned = (param.values ?? []).filter((value) => typeof value === "number");
    const bands = [...planned].sort((a, b) => a - b);
    return { kind: "category" as const, bands, bandLabels: bands.map(tickText), hasNone };
  }
  const isSeen = !Number.isNaN(seen.min);
  const min = Math.min(isSeen ? seen.min : Infinity, param?.min ?? Infinity);
  const max = Math.max(isSeen ? seen.max : -Infinity, param?.max ?? -Infinity);
  const isWide = param?.min === undefined && min > 0 && max / min > LOG_FROM_RATIO;
  const { kind, ...ends } = makeScale(param?.scale ?? (isWide ? "log" : "linear"), min, max);
  return { kind, min: ends.min, max: ends.max, hasNone };
}

function makeAxis(column: Column, rows: number, label: string, param?: SpaceParam): Axis {
  const isWords = column.kind === "words";
  const isWhole = param?.kind === "int";
  const made = {
    min: 0, max: 1, bands: [] as number[], bandLabels: [] as string[],
    ...(isWords ? wordBands(column, rows, param) : numberSpan(column, rows, param)),
  };
  const scale = scaleOf(made, made.bandLabels, isWhole);
  const isObjective = column.name.startsWith("value:");
  return { ...made, name: column.name, label, isObjective, isWords, isWhole, scale };
}

// One for the run, where there are several, then for each parameter, each
// objective and what the table has of metrics.
export function makeAxes(run: RunModel, table: Table): Axis[] {
  const ofParams = run.params.map((param) => [`param:${param.name}`, param.name, param] as const);
  const ofValues = run.objectives.map(
    ({ metric }) => [`value:${metric}`, metric, undefined] as const,
  );
  const ofRun = ["run", "run", undefined] as const;
  const ofMetrics = table.columns
    .filter(({ name }) => isMetric(name))
    .map(({ name }) => [name, columnTitle(name), undefined] as const);
  return [ofRun, ...ofParams, ...ofValues, ...ofMetrics].flatMap(([name, label, param]) => {
    const column = table.byName.get(name);
    return column === undefined ? [] : [makeAxis(column, table.rows, label, param)];
  });
}

// ---- places ----

// Evenly spread numbers from -0.5 to 0.5, always the same one for a row.
const jitter = (row: number) => ((row * 0.6180339887498949) % 1) - 0.5;

function placer(axis: AxisSpec, scale: Scale): (x: number, row: number) => number {
  const from = valuesFrom(axis);
  const spread = (BAND_FILLED * (1 - from)) / Math.max(1, axis.bands.length);
  return (x, row) => {
    const unit = scale.toUnit(x);
    if (!Number.isFinite(unit)) return NONE_TOP * (0.5 + BAND_FILLED * jitter(row));
    const place = from + (1 - from) * Math.min(1, Math.max(0, unit));
    return axis.kind === "category" ? place + spread * jitter(row) : place;
  };
}

// The places of so many values: those of all rows, or of the rows in a list.
export function placeAll(
  axis: AxisSpec,
  data: ArrayLike<number>,
  count: number,
  list: Uint32Array | null = null,
): Uint16Array {
  const place = placer(axis, scaleOf(axis, axis.bands.map(String), false));
  const places = new Uint16Array(count);
  for (let i = 0; i < count; i++) places[i] = place(data[i], list === null ? i : list[i]) * PLACES;
  return places;
}

export const placeOf = (axis: Axis, x: number, row: number) => placer(axis, axis.scale)(x, row);

// Where a row of the table lies on it.
export function placeOfRow(axis: Axis, table: Table, row: number): number {
  const column = table.byName.get(axis.name);
  return column === undefined ? 0 : placeOf(axis, column.data[row], row);
}

export const valueOfRow = (axis: Axis, table: Table, row: number) => {
  const column = table.byName.get(axis.name);
  return (column === undefined ? "" : cellText(column, row)) || "none";
};

export interface Mark {
  readonly place: number;
  readonly text: string; // "": a small one
}

// What stands along an axis; about so many that have a text.
export function marksOf(axis: Axis, count: number): Mark[] {
  const from = valuesFrom(axis);
  const none = axis.hasNone ? [{ place: NONE_TOP / 2, text: axis.isObjective ? "not finite" : "none" }] : [];
  const values = axis.scale.ticks(count).map(({ value, text }) => ({
    place: from + (1 - from) * axis.scale.toUnit(value),
    text,
  }));
  return [...none, ...values];
}

// ---- brushes: a span of places, and the filter that it stands for ----

export interface Span {
  readonly from: number;
  readonly to: number;
}

const bandStep = (axis: Axis) => (1 - valuesFrom(axis)) / Math.max(1, axis.bands.length);

function bandFilter(axis: Axis, span: Span): Filter | null {
  const step = bandStep(axis);
  const picked = axis.bands
    .map((_, i) => i)
    .filter((i) => {
      const middle = valuesFrom(axis) + step * (i + 0.5);
      return middle + step / 4 >= span.from && middle - step / 4 <= span.to;
    });
  if (axis.isWords) {
    const none = axis.hasNone && span.from < NONE_TOP ? [""] : [];
    const words = [...none, ...picked.map((i) => axis.bandLabels[i])];
    return words.length === 0 ? null : { kind: "words", words };
  }
  if (picked.length === 0) return null;
  return { kind: "range", min: axis.bands[picked[0]], max: axis.bands[picked[picked.length - 1]] };
}

// An end with no more digits than a pixel can tell; all of the axis where it is
// at its end.
function endAt(axis: Axis, place: number, side: -1 | 1): number {
  const from = valuesFrom(axis);
  const at = (some: number) => axis.scale.fromUnit((some - from) / (1 - from));
  if (side < 0 ? place <= from : place >= 1) return side < 0 ? axis.scale.min : axis.scale.max;
  const near = Math.abs(at(place + 1e-3) - at(place - 1e-3)) || 1e-300;
  const unit = axis.isWhole ? 1 : 10 ** Math.floor(Math.log10(near));
  const steps = at(place) / unit;
  const whole = axis.isWhole ? (side < 0 ? Math.ceil(steps) : Math.floor(steps)) : Math.round(steps);
  return Number((whole * unit).toPrecision(12));
}

// null: nothing that could be a filter lies there.
export function filterOf(axis: Axis, span: Span): Filter | null {
  if (axis.kind === "category") return bandFilter(axis, span);
  if (span.to < valuesFrom(axis)) return null;
  const [min, max] = [endAt(axis, span.from, -1), endAt(axis, span.to, 1)];
  return min <= max ? { kind: "range", min, max } : null;
}

// What of an axis a filter takes in; null: it cannot be shown as one span.
export function spanOf(axis: Axis, filter: Filter | undefined): Span | null {
  if (filter === undefined || filter.kind === "text") return null;
  const from = valuesFrom(axis);
  if (axis.kind !== "category") {
    if (filter.kind !== "range") return null;
    const place = (x: number, fallback: number) => {
      const unit = axis.scale.toUnit(x);
      const isOn = Number.isFinite(unit);
      return isOn ? from + (1 - from) * Math.min(1, Math.max(0, unit)) : fallback;
    };
    return { from: place(filter.min, from), to: place(filter.max, 1) };
  }
  const step = bandStep(axis);
  const isIn = filter.kind === "words"
    ? (i: number) => filter.words.includes(axis.bandLabels[i])
    : (i: number) => axis.bands[i] >= filter.min && axis.bands[i] <= filter.max;
  const picked = axis.bands.map((_, i) => i).filter(isIn);
  const withNone = filter.kind === "words" && filter.words.includes("");
  if (picked.length === 0) return withNone ? { from: 0, to: NONE_TOP } : null;
  const low = withNone ? 0 : from + step * picked[0];
  return { from: low, to: from + step * (picked[picked.length - 1] + 1) };
}

// What a person reads of a filter.
export function filterText(filter: Filter): string {
  if (filter.kind === "range") return `${valueText(filter.min)} to ${valueText(filter.max)}`;
  if (filter.kind === "words") return filter.words.map((word) => word || "none").join(", ");
  return `contains “${filter.text}”`;
}

const KEY_STEP = 0.02; // of an axis without bands
const FIRST_LENGTH = 0.25;

// A brush moved up (by 1) or down (-1) with a key: all of it, or one end.
export function stepped(
  axis: Axis,
  span: Span | null,
  by: 1 | -1,
  end: "both" | "from" | "to",
): Span {
  const step = axis.kind === "category" ? bandStep(axis) : KEY_STEP;
  const floor = axis.isWords ? 0 : valuesFrom(axis);
  const inside = (place: number) => Math.min(1, Math.max(floor, place));
  if (span === null) {
    const length = axis.kind === "category" ? step : FIRST_LENGTH;
    return by > 0 ? { from: 1 - length, to: 1 } : { from: floor, to: inside(floor + length) };
  }
  const [from, to] = [Math.max(floor, span.from), span.to];
  if (end === "from") return { from: Math.min(to, inside(from + by * step)), to };
  if (end === "to") return { from, to: Math.max(from, inside(to + by * step)) };
  const shift = inside(by > 0 ? to + step : from - step) - (by > 0 ? to : from);
  return { from: from + shift, to: to + shift };
}
