// SPDX-License-Identifier: GPL-3.0-or-later
// The rungs of a schedule that attempts reached, and when.
import type { Reached } from "../rung_counts";
import type { Bars } from "./bars";

export type RungMarks = ReadonlyMap<number, readonly Reached[]>; // by bar

// Each lies on the trial's attempt that had begun last when it was decided on:
// one that has ended may wait for that.
export function rungMarks(bars: Bars, reached: readonly Reached[]): RungMarks {
  const marks = new Map<number, Reached[]>();
  if (reached.length === 0) return marks;
  const barsOf = new Map<number, number[]>();
  for (let bar = 0; bar < bars.count; bar++) {
    const others = barsOf.get(bars.number[bar]);
    if (others === undefined) barsOf.set(bars.number[bar], [bar]);
    else others.push(bar);
  }
  for (const one of reached) {
    const bar = barsOf.get(one.number)?.findLast((some) => bars.started[some] <= one.timeMs);
    if (bar === undefined) continue;
    const there = marks.get(bar);
    if (there === undefined) marks.set(bar, [one]);
    else there.push(one);
  }
  return marks;
}
