// SPDX-License-Identifier: GPL-3.0-or-later
// What the server sends by itself (dashboard/feed.h), and whether it is there.
import { signal } from "@preact/signals";
import { address, isArchive } from "./api";
import type { RunRow } from "./types";

export interface Rows {
  run: number;
  since: number;
  seq: number;
  columns?: string; // a block, base64
}

export interface Handlers {
  runs?: (data: { runs: RunRow[] }) => void;
  rows?: (data: Rows) => void;
  gone?: (data: { run: number }) => void;
  back?: () => void; // the connection is there, at first or again
}

const SILENCE_MAX_MS = 15_000; // the server says something every 10 s
const RETRY_MS = [500, 1000, 2000, 4000];

// When the server was last heard; 0: never. And whether it is lost: it has said
// nothing for too long. Before its first word it is neither heard nor lost.
export const heardMs = signal(0);
export const isLost = signal(false);

interface Listener {
  readonly run: number;
  readonly handlers: Handlers;
}

// One connection for all who listen: it is that of the one run that is looked
// at, and gets the news of the list as well.
const listeners = new Set<Listener>();
let source: EventSource | undefined;
let sourceRun = -1;
let timer = 0;
let failures = 0;

const later = (run: () => void, ms: number) => {
  clearTimeout(timer);
  timer = setTimeout(run, ms) as unknown as number;
};

function heard(): void {
  heardMs.value = Date.now();
  isLost.value = false;
  failures = 0;
  later(lost, SILENCE_MAX_MS);
}

const on = (name: keyof Handlers) => (event: MessageEvent<string>) => {
  heard();
  const data = JSON.parse(event.data) as unknown;
  for (const { handlers } of [...listeners])
    (handlers[name] as ((data: unknown) => void) | undefined)?.(data);
};

function lost(): void {
  source?.close();
  isLost.value = true;
  later(open, RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]);
}

// What happened between an answer and this is told to nobody: all ask again.
function opened(): void {
  heard();
  for (const { handlers } of [...listeners]) handlers.back?.();
}

function open(): void {
  source?.close();
  source = new EventSource(address(`/events?run=${sourceRun}`));
  source.onopen = opened;
  source.addEventListener("runs", on("runs"));
  source.addEventListener("rows", on("rows"));
  source.addEventListener("gone", on("gone"));
  source.addEventListener("alive", heard);
  source.onerror = lost;
  later(lost, SILENCE_MAX_MS);
}

function follow(): void {
  const run = Math.max(-1, ...[...listeners].map((listener) => listener.run));
  if (run === sourceRun) return;
  sourceRun = run;
  if (run >= 0 && !document.hidden) open();
  else close();
}

function close(): void {
  source?.close();
  clearTimeout(timer);
}

// A browser has few connections to one server for all of its tabs: those that
// nobody sees give theirs back.
function onVisible(): void {
  if (document.hidden) close();
  else if (sourceRun >= 0) open();
}

export const startLive = () => document.addEventListener("visibilitychange", onVisible);

// Listens to one run's news, or (0) to those of the list alone, until the
// function that it gives is called.
export function listen(run: number, handlers: Handlers): () => void {
  if (isArchive()) return () => undefined;
  const listener = { run, handlers };
  listeners.add(listener);
  follow();
  return () => {
    listeners.delete(listener);
    follow();
  };
}
