// SPDX-License-Identifier: GPL-3.0-or-later
// The rungs of a run's schedule: where trials were stopped or promoted.
import { useEffect, useState } from "preact/hooks";
import { getJson } from "../api";
import { formatCount } from "../shell/format";
import type { RunModel } from "../types";
import type { Area } from "./axes";
import { dotStyle, paintDots } from "./dots";
import { paintBeyond, paintVertical } from "./lines";
import { rungsOf } from "./rung_counts";
import type { Ended, Observation, Planned, Rung, Rungs } from "./rung_counts";
import type { Scale } from "./scales";
import type { Painter } from "./svg";
import { fontOf } from "./theme";
import type { Theme } from "./theme";

interface Answer {
  planned: Planned[];
  observations: Observation[];
  next?: number | null;
}

const LABEL_PX = 4;
const AGAIN_MS = 2000;

async function readRungs(run: number, signal: AbortSignal): Promise<Rungs> {
  const observations: Observation[] = [];
  let planned: Answer["planned"] = [];
  for (let after: number | null | undefined = 0; typeof after === "number";) {
    const answer: Answer = await getJson(`/runs/${run}/rungs?after=${after}`, signal);
    if (after === 0) planned = answer.planned;
    observations.push(...answer.observations);
    after = answer.next;
  }
  return rungsOf(planned, observations);
}

const none: Rungs = { rungs: [], ended: [], reached: [] };

// None where the run has no schedule. Asked again, now and then, as something
// happens: a trial that waits may go on later.
export function useRungs(run: RunModel): Rungs {
  const [rungs, setRungs] = useState(none);
  const hasSchedule = Boolean(run.document.value.schedule);
  useEffect(() => {
    if (!hasSchedule) return undefined;
    const stop = new AbortController();
    let seq = -1;
    const look = () => {
      if (seq === run.table.peek().seq || document.visibilityState !== "visible") return;
      seq = run.table.peek().seq;
      // What cannot be read now is asked for again after the next event.
      readRungs(run.id, stop.signal).then(setRungs, () => undefined);
    };
    look();
    const timer = setInterval(look, AGAIN_MS);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [run, hasSchedule]);
  return rungs;
}

export const promotedText = ({ reached, promoted }: Rung) =>
  `${formatCount(promoted)} of ${formatCount(reached)} promoted`;

export function paintRungs(
  painter: Painter,
  area: Area,
  rungs: readonly Rung[],
  x: Scale,
  theme: Theme,
): void {
  painter.save();
  painter.font = fontOf(theme, 10);
  painter.textBaseline = "top";
  painter.textAlign = "left";
  let takenTo = -Infinity;
  for (const rung of rungs) {
    const unit = x.toUnit(rung.resource);
    if (!(unit >= -0.001 && unit <= 1.001)) continue;
    paintVertical(painter, area, unit, {
      color: theme.stopped,
      width: 1,
      dash: [3, 3],
      alpha: 0.8,
    });
    const text = rung.reached === 0 || rung.isLast ? "" : promotedText(rung);
    const left = area.left + unit * area.width + LABEL_PX;
    const width = painter.measureText(text).width;
    if (text === "" || left < takenTo || left + width > area.left + area.width) continue;
    painter.fillStyle = theme.stopped;
    painter.fillText(text, left, area.top);
    takenTo = left + width;
  }
  painter.restore();
}

// A dot at the end of each curve that went no further than a rung.
export function paintEnded(
  painter: Painter,
  area: Area,
  ended: readonly Ended[],
  scales: { x: Scale; y: Scale },
  theme: Theme,
): void {
  const units = {
    count: ended.length,
    x: ended.map(({ resource }) => scales.x.toUnit(resource)),
    y: ended.map(({ last }) => scales.y.toUnit(last)),
  };
  paintBeyond(painter, area, units, (i) => !Number.isNaN(units.y[i]), () => theme.stopped);
  const places = ended.filter(({ last }) => Number.isFinite(scales.y.toUnit(last)));
  paintDots(painter, {
    count: places.length,
    x: Float32Array.from(
      places,
      ({ resource }) => area.left + scales.x.toUnit(resource) * area.width,
    ),
    y: Float32Array.from(
      places,
      ({ last }) => area.top + (1 - scales.y.toUnit(last)) * area.height,
    ),
    ...dotStyle(places.length, area.width * area.height),
    palette: [theme.stopped],
  });
}
