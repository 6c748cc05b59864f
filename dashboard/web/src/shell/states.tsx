// SPDX-License-Identifier: GPL-3.0-or-later
// States of runs, trials, jobs and steps: a colour, a sign and a word each, so
// that the colour alone never says it.
import type { TrialCounts } from "../types";
import { formatCount } from "./format";

// The word of a class in css/controls.css, a path in a square of 12.
const signs = {
  succeeded: "M2 6.5 4.8 9.3 10 3",
  failed: "M3 3 9 9M9 3 3 9",
  running: "M3.5 2 9.8 6 3.5 10Z",
  waiting: "M6 2a4 4 0 1 0 0 8 4 4 0 0 0 0-8M6 4v2l1.5 1.2",
  paused: "M4 2.5v7M8 2.5v7",
  stopped: "M3 3h6v6H3Z",
  skipped: "M2 3 6 6 2 9M6 3l4 3-4 3",
  interrupted: "M7 1 3 7h3l-1 4 4-6H6Z",
} as const;

export type Look = keyof typeof signs;

// Of states without signs of their own; any other looks as one that waits.
const looks: Record<string, Look> = {
  active: "running",
  nonfinite: "stopped",
  cancelled: "skipped",
  unknown: "interrupted",
};

export const lookOf = (state: string): Look =>
  looks[state] ?? (state in signs ? (state as Look) : "waiting");

const solid = new Set<Look>(["running", "stopped", "interrupted"]);

export function Sign({ state }: { state: string }) {
  const look = lookOf(state);
  return (
    <svg class={`sign state-${look}`} viewBox="0 0 12 12" aria-hidden="true">
      <path
        d={signs[look]}
        fill={solid.has(look) ? "currentColor" : "none"}
        stroke="currentColor"
        stroke-width={solid.has(look) ? 1 : 1.8}
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}

export function StateBadge({ state }: { state: string }) {
  return (
    <span class={`badge state-${lookOf(state)}`}>
      <Sign state={state} />
      {state}
    </span>
  );
}

// ---- counts ----

// Their words, as everywhere else (docs/glossary.md), in the order of the bar.
export const countedStates = [
  "succeeded", "stopped", "nonfinite", "failed", "running", "interrupted", "paused", "pending",
  "skipped", "cancelled",
] as const;
type Counted = (typeof countedStates)[number];

const present = (counts: TrialCounts) => countedStates.filter((state) => counts[state] > 0);

// "12 succeeded (3 cached)"
const countText = (counts: TrialCounts, state: Counted) =>
  `${formatCount(counts[state])} ${state}${
    state === "succeeded" && counts.cached > 0 ? ` (${formatCount(counts.cached)} cached)` : ""}`;

export const countsText = (counts: TrialCounts) =>
  present(counts)
    .map((state) => countText(counts, state))
    .join(", ") || "none yet";

// toCome: how many more there can be; they leave room in the bar.
export function CountsBar({ counts, toCome = 0 }: { counts: TrialCounts; toCome?: number }) {
  return (
    <div class="counts-bar" role="img" aria-label={countsText(counts)}>
      {present(counts).map((state) => (
        <span key={state} class={`state-${lookOf(state)}`} style={{ flexGrow: counts[state] }} />
      ))}
      {toCome > 0 && <i style={{ flexGrow: toCome }} />}
    </div>
  );
}

export function CountsWords({ counts, toCome = 0 }: { counts: TrialCounts; toCome?: number }) {
  return (
    <div class="counts-words">
      {present(counts).map((state) => (
        <span key={state}>
          <Sign state={state} />
          {countText(counts, state)}
        </span>
      ))}
      {toCome > 0 && <span>of at most {formatCount(counts.all + toCome)}</span>}
    </div>
  );
}
