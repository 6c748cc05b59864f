// SPDX-License-Identifier: GPL-3.0-or-later
// Learning curves as lines of a plot, and a cursor that goes along them.
import type { Curve, CurveStore } from "../data/curves";
import type { Table } from "../types";
import { makeFinder } from "./cloud";
import type { PanelPoints } from "./cloud";
import type { UnitPoints } from "./lines";
import { numberOf } from "./rows";
import type { Scale } from "./scales";
import { smoothed } from "./smooth";
import type { Strands } from "./strands";

export interface Line {
  readonly row: number;
  readonly curve: Curve;
  readonly x: readonly number[]; // of its values, on the x axis
  readonly shown: readonly number[]; // its values, smoothed
}

export interface Lines {
  readonly inside: readonly Line[]; // of the selection
  readonly outside: readonly Line[];
  readonly points: number; // of those inside
}

// What a curve lies over.
export type Across = (curve: Curve, row: number) => readonly number[];

export function linesOf(
  table: Table,
  mask: Uint8Array,
  store: CurveStore,
  share: number,
  across: Across,
): Lines {
  const inside: Line[] = [];
  const outside: Line[] = [];
  let points = 0;
  for (let row = 0; row < table.rows; row++) {
    const curve = store.curves.get(numberOf(table, row));
    if (curve === undefined) continue;
    const line = { row, curve, x: across(curve, row), shown: smoothed(curve.values, share) };
    (mask[row] === 0 ? outside : inside).push(line);
    if (mask[row] !== 0) points += curve.steps.length;
  }
  return { inside, outside, points };
}

// What is over or under a scale, or infinite, gets a mark at the edge; what has no
// place at all is counted.
export function strandsOf(
  lines: readonly Line[],
  x: Scale,
  y: Scale,
): Strands & { missing: number; beyond: UnitPoints } {
  const room = lines.reduce((sum, { shown }) => sum + shown.length, 0);
  const strands = {
    count: lines.length,
    starts: new Uint32Array(lines.length + 1),
    x: new Float32Array(room),
    y: new Float32Array(room),
  };
  const beyond = { x: [] as number[], y: [] as number[] };
  let at = 0;
  let missing = 0;
  lines.forEach(({ x: places, shown }, line) => {
    for (let i = 0; i < shown.length; i++) {
      const [unitX, unitY] = [x.toUnit(places[i]), y.toUnit(shown[i])];
      const isBeyond = unitY < 0 || unitY > 1;
      const isAcross = Number.isFinite(unitX);
      if (!isAcross || Number.isNaN(unitY)) missing++;
      if (isAcross && isBeyond) {
        beyond.x.push(unitX);
        beyond.y.push(unitY);
      }
      if (!isAcross || !Number.isFinite(unitY)) continue;
      strands.x[at] = unitX;
      strands.y[at++] = unitY;
    }
    strands.starts[line + 1] = at;
  });
  return { ...strands, missing, beyond: { count: beyond.x.length, ...beyond } };
}

export function flat(lines: readonly Line[], of: (line: Line) => readonly number[]): Float64Array {
  const result = new Float64Array(lines.reduce((sum, line) => sum + of(line).length, 0));
  let at = 0;
  for (const line of lines) {
    result.set(of(line), at);
    at += of(line).length;
  }
  return result;
}

// ---- the cursor: along a curve, and from curve to curve ----

export function curvePoints(
  strands: Strands,
  lines: readonly Line[],
  text: (line: number, index: number) => string,
): PanelPoints {
  const { starts, x, y } = strands;
  const count = starts[strands.count];
  const lineOf = (index: number) => {
    let [low, high] = [0, strands.count - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  // The same place along the curve before or after this one that has any.
  const beside = (index: number, by: number) => {
    const line = lineOf(index);
    for (let next = line + by; next >= 0 && next < strands.count; next += by) {
      const length = starts[next + 1] - starts[next];
      if (length > 0) return starts[next] + Math.min(index - starts[line], length - 1);
    }
    return index;
  };
  return {
    count,
    x: (i) => x[i],
    y: (i) => y[i],
    row: (i) => lines[lineOf(i)].row,
    text: (i) => text(lineOf(i), i),
    nearest: makeFinder(
      count,
      (i) => x[i],
      (i) => y[i],
    ),
    step: (i, key) => {
      if (key === "ArrowUp") return beside(i, -1);
      if (key === "ArrowDown") return beside(i, 1);
      return i + (key === "ArrowLeft" ? -1 : 1);
    },
  };
}
