// SPDX-License-Identifier: GPL-3.0-or-later
// The keyboard: who is on the page says which keys do what, and the help of
// keys is made from that.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface Binding {
  readonly keys: string; // "j", "Escape", "g h": one after the other
  readonly does: string; // for the help
  // false: it had nothing to do, and another may.
  readonly run: () => boolean | void;
}

export interface Bindings {
  readonly group: string;
  readonly list: readonly Binding[];
}

export const allBindings = signal<readonly Bindings[]>([]);

const PAUSE_MAX_MS = 1200;

let before = ""; // the first key of two
let beforeMs = 0;

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

// Who came last is asked first.
function runKeys(keys: string): boolean {
  for (const { list } of [...allBindings.peek()].reverse())
    for (const binding of list)
      if (binding.keys === keys && binding.run() !== false) return true;
  return false;
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]") !== null) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") (event.target as HTMLElement).blur();
    return;
  }
  const isSecond = before !== "" && event.timeStamp - beforeMs < PAUSE_MAX_MS;
  const keys = isSecond ? `${before} ${event.key}` : event.key;
  const begins = allBindings.peek().some(({ list }) =>
    list.some((binding) => binding.keys.startsWith(`${keys} `)),
  );
  before = begins ? event.key : "";
  beforeMs = event.timeStamp;
  if (begins || runKeys(keys)) event.preventDefault();
}

export const startKeys = () => addEventListener("keydown", onKey);

// As long as the component is on the page. Each drawing's functions replace the
// last one's; what else of the list changes says `on`.
export function useKeys(group: string, list: readonly Binding[], on: readonly unknown[] = []): void {
  const latest = useRef(list);
  latest.current = list;
  useEffect(() => {
    const bound = list.map((binding, i) => ({ ...binding, run: () => latest.current[i].run() }));
    const mine = { group, list: bound };
    allBindings.value = [...allBindings.peek(), mine];
    return () => {
      allBindings.value = allBindings.peek().filter((one) => one !== mine);
    };
  }, on);
}
