// SPDX-License-Identifier: GPL-3.0-or-later
// Which axes are shown, in which order, and which are turned over; as a text for
// the URL: lr,-width,value:loss
import type { Axis } from "./axes";

export interface Shown {
  readonly name: string; // the axis'
  readonly isFlipped: boolean;
}

const PARAM = "param:";
const word = (name: string) =>
  (name.startsWith(PARAM) ? name.slice(PARAM.length) : name).replace(/[,%]/g, encodeURIComponent);

// "": all, as they come.
export function orderOf(held: string, axes: readonly Axis[]): Shown[] {
  if (held === "") return axes.map(({ name }) => ({ name, isFlipped: false }));
  const byWord = new Map(axes.map(({ name }) => [word(name), name]));
  return held.split(",").flatMap((text) => {
    const isFlipped = text.startsWith("-");
    const name = byWord.get(isFlipped ? text.slice(1) : text);
    return name === undefined ? [] : [{ name, isFlipped }];
  });
}

export function orderText(order: readonly Shown[], axes: readonly Axis[]): string {
  const text = order
    .map(({ name, isFlipped }) => (isFlipped ? "-" : "") + word(name))
    .join(",");
  const all = axes.map(({ name }) => word(name)).join(",");
  return text === all ? "" : text;
}

// With the axis at another place.
export function moved(order: readonly Shown[], name: string, to: number): Shown[] {
  const from = order.findIndex((shown) => shown.name === name);
  const index = Math.min(order.length - 1, Math.max(0, to));
  if (from < 0 || from === index) return [...order];
  const rest = order.filter((shown) => shown.name !== name);
  return [...rest.slice(0, index), order[from], ...rest.slice(index)];
}

export const flipped = (order: readonly Shown[], name: string): Shown[] =>
  order.map((shown) => (shown.name === name ? { name, isFlipped: !shown.isFlipped } : shown));

export const without = (order: readonly Shown[], name: string): Shown[] =>
  order.filter((shown) => shown.name !== name);
