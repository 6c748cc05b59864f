// SPDX-License-Identifier: GPL-3.0-or-later
// How many trials reached each rung of a schedule, and how many were promoted.

export interface Rung {
  readonly resource: number;
  reached: number;
  promoted: number; // to the next one, after a pause or without
  readonly isLast: boolean; // there is no next one
}

// Where a trial went no further.
export interface Ended {
  readonly number: number;
  readonly resource: number;
  readonly last: number; // of the metric that decides
}

// What was decided when a trial reached a rung.
export interface Reached {
  readonly number: number;
  readonly resource: number; // the rung's
  readonly timeMs: number; // since 1970
  readonly decision: "promoted" | "not promoted" | "last rung";
}

export interface Rungs {
  readonly rungs: readonly Rung[];
  readonly ended: readonly Ended[];
  readonly reached: readonly Reached[];
}

export interface Observation {
  number: number;
  bracket: number | null;
  rung: number | null;
  resource: number; // of its report, which may be beyond the rung
  last: number | null;
  decision: "continue" | "pause" | "stop";
  promoted_to: number | null;
  time_ms: number;
}

export interface Planned {
  bracket: number;
  rung: number;
  resource: number;
}

// One rung a resource, however many brackets have one there. A trial that
// reports rarely jumps over rungs: nothing kept it there.
export function rungsOf(planned: readonly Planned[], observations: readonly Observation[]): Rungs {
  const furthest = Math.max(...planned.map(({ resource }) => resource));
  const rungs = new Map<number, Rung>();
  for (const { resource } of planned)
    rungs.set(resource, { resource, reached: 0, promoted: 0, isLast: resource === furthest });
  const at = planned.map(({ resource }) => rungs.get(resource) as Rung);
  const nextOf = new Map<number, number>(); // of a trial: the place of its next rung
  const ended: Ended[] = [];
  const reached: Reached[] = [];
  for (const { number, bracket, rung, resource, last, decision, ...one } of observations) {
    const place = planned.findIndex((some) => some.bracket === bracket && some.rung === rung);
    if (place < 0) continue;
    const isPromoted = decision === "continue" || one.promoted_to !== null;
    for (let i = Math.min(place, nextOf.get(number) ?? place - Number(rung)); i <= place; i++) {
      at[i].reached++;
      at[i].promoted += Number(i < place || isPromoted);
    }
    nextOf.set(number, place + 1);
    const { isLast } = at[place];
    if (!isPromoted && !isLast) ended.push({ number, resource, last: last ?? NaN });
    reached.push({
      number,
      resource: at[place].resource,
      timeMs: one.time_ms,
      decision: isLast ? "last rung" : isPromoted ? "promoted" : "not promoted",
    });
  }
  return { rungs: [...rungs.values()].sort((a, b) => a.resource - b.resource), ended, reached };
}
