// SPDX-License-Identifier: GPL-3.0-or-later
// States of runs, trials, jobs and steps: a colour, a sign and a word each, so
// that the colour alone never says it.
import type { TrialCounts } from "../types";

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

const looks: Record<string, Look> = {
  succeeded: "succeeded",
  failed: "failed",
  running: "running",
  ready: "waiting",
  waiting: "waiting",
  pending: "waiting",
  paused: "paused",
  stopped: "stopped",
  nonfinite: "stopped",
  skipped: "skipped",
  cancelled: "skipped",
  interrupted: "interrupted",
  unknown: "interrupted",
};

export const lookOf = (state: string): Look => looks[state] ?? "waiting";

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

// In the order of the bar; what of them is said in words.
const parts: readonly [keyof TrialCounts, string, string][] = [
  ["succeeded", "succeeded", "succeeded"],
  ["stopped", "stopped", "stopped early"],
  ["nonfinite", "nonfinite", "nonfinite"],
  ["failed", "failed", "failed"],
  ["running", "running", "running"],
  ["interrupted", "interrupted", "interrupted"],
  ["paused", "paused", "paused"],
  ["pending", "waiting", "waiting"],
  ["other", "skipped", "skipped or cancelled"],
];

const present = (counts: TrialCounts) => parts.filter(([key]) => counts[key] > 0);

// "12 succeeded (3 cached)"
const countText = (counts: TrialCounts, key: keyof TrialCounts, words: string) =>
  `${counts[key].toLocaleString("en-US")} ${words}${
    key === "succeeded" && counts.cached > 0 ? ` (${counts.cached.toLocaleString("en-US")} cached)` : ""}`;

export const countsText = (counts: TrialCounts) =>
  present(counts)
    .map(([key, , words]) => countText(counts, key, words))
    .join(", ") || "none yet";

// toCome: how many more there can be; they leave room in the bar.
export function CountsBar({ counts, toCome = 0 }: { counts: TrialCounts; toCome?: number }) {
  return (
    <div class="counts-bar" role="img" aria-label={countsText(counts)}>
      {present(counts).map(([key, state]) => (
        <span key={key} class={`state-${lookOf(state)}`} style={{ flexGrow: counts[key] }} />
      ))}
      {toCome > 0 && <i style={{ flexGrow: toCome }} />}
    </div>
  );
}

export function CountsWords({ counts, toCome = 0 }: { counts: TrialCounts; toCome?: number }) {
  return (
    <div class="counts-words">
      {present(counts).map(([key, state, words]) => (
        <span key={key}>
          <Sign state={state} />
          {countText(counts, key, words)}
        </span>
      ))}
      {toCome > 0 && <span>of at most {(counts.all + toCome).toLocaleString("en-US")}</span>}
    </div>
  );
}
