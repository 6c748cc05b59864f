// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and times as people read them.

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

// 1,203
export const formatCount = (count: number) => count.toLocaleString("en-US");

// "1 trial", "1,203 trials"
export const formatMany = (count: number, one: string, many = `${one}s`) =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

// A unit of "epochs" behind an amount: "epoch" behind 1, as base/units.c has it.
export function unitOf(plural: string, amount: number): string {
  if (amount !== 1 || /.(ies|ss)$/.test(plural)) return plural;
  return plural.replace(/(?<=.(?:ch|sh|ss|x))es$|(?<=.)s$/, "");
}

// 0.35 s, 12 s, 3 min 20 s, 2 h 5 min, 3 d 4 h
export function formatDuration(ms: number): string {
  if (ms < 10 * SECOND_MS) return `${Number((ms / SECOND_MS).toPrecision(2))} s`;
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  const [big, bigName, small, smallName] =
    ms < HOUR_MS
      ? [MINUTE_MS, "min", SECOND_MS, "s"] as const
      : ms < DAY_MS
        ? [HOUR_MS, "h", MINUTE_MS, "min"] as const
        : [DAY_MS, "d", HOUR_MS, "h"] as const;
  const rest = Math.floor((ms % big) / small);
  return `${Math.floor(ms / big)} ${bigName}${rest > 0 ? ` ${rest} ${smallName}` : ""}`;
}

// "just now", "5 min ago", "3 d ago"
export function formatAgo(timeMs: number, atMs: number): string {
  const ms = Math.max(0, atMs - timeMs);
  if (ms < MINUTE_MS) return "just now";
  const [unit, name] =
    ms < HOUR_MS ? [MINUTE_MS, "min"] as const : ms < DAY_MS ? [HOUR_MS, "h"] as const : [DAY_MS, "d"] as const;
  return `${Math.floor(ms / unit)} ${name} ago`;
}

// A time of the documents (ISO 8601), in ms; NaN where there is none.
export const timeOf = (iso: string | null | undefined) => (iso ? Date.parse(iso) : NaN);
