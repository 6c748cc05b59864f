// SPDX-License-Identifier: GPL-3.0-or-later
// Times that go on: only their text changes, and only when it is another one.
import { computed, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { formatAgo, formatDuration } from "./format";

const SECOND_MS = 1000;

// Once a second as long as somebody looks.
export const nowMs = signal(Date.now());

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) nowMs.value = Date.now();
  }, SECOND_MS);
}

// "5 min ago"; nothing where the time is not known.
export function Ago({ ms }: { ms: number }) {
  const text = useMemo(() => computed(() => formatAgo(ms, nowMs.value)), [ms]);
  return Number.isNaN(ms) ? null : <time title={new Date(ms).toLocaleString()}>{text}</time>;
}

// How long it has been since.
export function Since({ ms }: { ms: number }) {
  const text = useMemo(
    () => computed(() => formatDuration(Math.max(0, nowMs.value - ms))),
    [ms],
  );
  return <>{text}</>;
}
