// SPDX-License-Identifier: GPL-3.0-or-later
// Attempts over time: what waited, ran, was tried again, and how it ended; in the
// slots that they took, a lane a trial, or by node.
import { useSignal } from "@preact/signals";
import type { TargetedPointerEvent } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { Choose, ToolButton, useHeldText } from "../charts/controls";
import { Drawing } from "../charts/drawing";
import { ChartFrame, useWidth } from "../charts/frame";
import type { ChartPoints, DataTable } from "../charts/frame";
import { useGraph } from "../charts/graph/document";
import { Legend } from "../charts/legend";
import { counted, wordOf } from "../charts/rows";
import { useRungs } from "../charts/rungs";
import { valueText } from "../charts/scales";
import type { Painter } from "../charts/svg";
import { useTheme } from "../charts/theme";
import { useAttempts } from "../charts/timeline/attempts";
import { endOf, looks, makeBars, makeLanes, spanOf, startOf } from "../charts/timeline/bars";
import type { BarLook, Bars, LaneKind, Lanes } from "../charts/timeline/bars";
import { criticalPath } from "../charts/timeline/critical";
import { frameOf, heightFor, paintTimeline } from "../charts/timeline/paint";
import type { TimelineLook, Window } from "../charts/timeline/paint";
import { rungMarks } from "../charts/timeline/rung_marks";
import "../charts/timeline/timeline.css";
import { useWheel, wheelZoom } from "../charts/wheel";
import { rowOf } from "../data/columns";
import { withFilter } from "../model/selection";
import { nowMs as clock } from "../shell/clock";
import { formatCount, formatDuration } from "../shell/format";
import { colour } from "../shell/theme";
import type { RunModel, Table, ViewProps } from "../types";
import { heldNumbers } from "../url";

const HEIGHT_MIN_PX = 200;
const HEIGHT_MAX_PX = 470;
const DRAG_MIN_PX = 4;
const BUTTON_ZOOM = 1.6;
const BUTTON_PAN = 0.25;
const SPAN_MIN_MS = 20;
const LANES_MIN = 4;

const laneKinds = (what: string) => [
  { id: "slot", text: "slots" },
  ...(what === "job" ? [{ id: "step", text: "steps" }] : []),
  { id: "trial", text: `${what}s` },
  { id: "node", text: "nodes" },
];
const dragKinds = [
  { id: "pan", text: "move" },
  { id: "filter", text: "filter" },
];
const heldWindow = heldNumbers("timeline.window");

// No higher than its lanes need.
const heightOf = (lanes: Lanes | null) =>
  Math.min(HEIGHT_MAX_PX, Math.max(HEIGHT_MIN_PX, heightFor(lanes?.count ?? 1)));

// ---- what is seen ----

function windowOf(held: readonly number[], span: readonly [number, number], lanes: number): Window {
  const pad = (span[1] - span[0]) * 0.01;
  const [from = span[0] - pad, to = span[1] + pad, firstLane = 0, lastLane = Math.max(lanes, 1)] =
    held.length === 4 ? held : [];
  return { from, to, firstLane, lastLane };
}

interface Zoom {
  readonly time: number; // 2: half as much is seen
  readonly lanes: number;
  readonly at: number; // what stays where it is, as part of the width
  readonly laneAt: number;
}

function zoomedWindow(window: Window, lanes: number, zoom: Zoom): Window {
  const span = Math.max(SPAN_MIN_MS, (window.to - window.from) / zoom.time);
  const from = window.from + (window.to - window.from - span) * zoom.at;
  const seen = window.lastLane - window.firstLane;
  const count = Math.min(lanes, Math.max(Math.min(LANES_MIN, lanes), seen / zoom.lanes));
  const first = window.firstLane + (seen - count) * zoom.laneAt;
  const firstLane = Math.min(Math.max(0, lanes - count), Math.max(0, first));
  return { from, to: from + span, firstLane, lastLane: firstLane + count };
}

function pannedWindow(window: Window, lanes: number, byMs: number, byLanes: number): Window {
  const count = window.lastLane - window.firstLane;
  const firstLane = Math.min(Math.max(0, lanes - count), Math.max(0, window.firstLane + byLanes));
  return {
    from: window.from + byMs, to: window.to + byMs, firstLane, lastLane: firstLane + count,
  };
}

const hold = ({ from, to, firstLane, lastLane }: Window) =>
  (heldWindow.value = [Math.round(from), Math.round(to), firstLane, lastLane]
    .map((number) => Number(number.toFixed(3))));

// ---- the critical path ----

// The attempts of its steps: the last one of the copy that ended last.
function criticalBars(bars: Bars, table: Table, names: readonly string[], nowMs: number): Uint8Array {
  const isCritical = new Uint8Array(bars.count);
  const steps = table.byName.get("step");
  if (steps === undefined || names.length === 0) return isCritical;
  const lasts = new Map<number, number>();
  for (let bar = 0; bar < bars.count; bar++) {
    const row = rowOf(table, bars.number[bar]);
    if (row < 0) continue;
    const step = steps.data[row];
    const last = lasts.get(step);
    if (last === undefined || endOf(bars, bar, nowMs) >= endOf(bars, last, nowMs)) lasts.set(step, bar);
  }
  for (const [step, bar] of lasts) if (names.includes(steps.words[step])) isCritical[bar] = 1;
  return isCritical;
}

// ---- words ----

function selectedBars(bars: Bars, table: Table, mask: Uint8Array): Uint8Array {
  return Uint8Array.from({ length: bars.count }, (_, bar) => {
    const row = rowOf(table, bars.number[bar]);
    return row < 0 ? 0 : mask[row];
  });
}

const openWords = (bars: Bars, bar: number) =>
  looks[bars.look[bar]] === "running" ? "running for" : "interrupted; since its start";

function barText({ bars, nowMs, rungs }: TimelineLook, bar: number, what: string): string {
  const retry = bars.attempt[bar] > 1 ? `, attempt ${bars.attempt[bar]}` : "";
  const wait = startOf(bars, bar, nowMs) - bars.waited[bar];
  const ran = endOf(bars, bar, nowMs) - startOf(bars, bar, nowMs);
  const isOver = !Number.isNaN(bars.ended[bar]);
  const cause = bars.cause(bar);
  return [
    `${what} ${bars.number[bar]}${retry}`,
    Number.isNaN(bars.started[bar]) ? "not started"
      : `${isOver ? "ran" : openWords(bars, bar)} ${formatDuration(ran)}`,
    ...(wait > 0 ? [`waited ${formatDuration(wait)}`] : []),
    ...(rungs.get(bar) ?? []).map(({ resource, decision }) =>
      `rung at ${valueText(resource)}: ${decision}`),
    ...(isOver ? [`ended: ${cause}`] : []),
    ...(bars.node(bar) ? [`on ${bars.node(bar)}`] : []),
  ].join("\n");
}

function causesText(bars: Bars): string {
  const counts = new Map<string, number>();
  for (let bar = 0; bar < bars.count; bar++) {
    const word = bars.cause(bar) || looks[bars.look[bar]];
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([word, count]) => `${formatCount(count)} ${word}`)
    .join(", ");
}

function busyText(bars: Bars, span: readonly [number, number], nowMs: number): string {
  let ran = 0;
  let waited = 0;
  for (let bar = 0; bar < bars.count; bar++) {
    ran += endOf(bars, bar, nowMs) - startOf(bars, bar, nowMs);
    waited += startOf(bars, bar, nowMs) - bars.waited[bar] || 0;
  }
  const mean = ran / (span[1] - span[0]);
  return (
    `On average ${mean.toPrecision(3)} ran at once, ` +
    `and each waited ${formatDuration(waited / Math.max(1, bars.count))}.`
  );
}

function tableOf(bars: Bars, shown: Uint8Array, nowMs: number): DataTable {
  const rows: number[] = [];
  shown.forEach((isShown, bar) => isShown && rows.push(bar));
  const time = (ms: number) => (Number.isNaN(ms) ? null : new Date(ms).toISOString());
  return {
    columns: ["job", "attempt", "waited from", "started", "ended", "seconds", "cause", "node"],
    rows: rows.length,
    cell: (index, column) => {
      const bar = rows[index];
      const cells = [
        () => bars.number[bar], () => bars.attempt[bar], () => time(bars.waited[bar]),
        () => time(bars.started[bar]), () => time(bars.ended[bar]),
        () => (endOf(bars, bar, nowMs) - startOf(bars, bar, nowMs)) / 1000,
        () => bars.cause(bar) || null, () => bars.node(bar) || null,
      ];
      return cells[column]();
    },
  };
}

// ---- what the cursor finds ----

function makePoints(run: RunModel, look: TimelineLook, width: number, what: string): ChartPoints {
  const { bars, lanes, nowMs, window } = look;
  const frame = frameOf(window, width, heightOf(lanes));
  const middle = (bar: number) => {
    const from = Math.max(frame.left, frame.x(startOf(bars, bar, nowMs)));
    const to = Math.min(frame.left + frame.width, frame.x(endOf(bars, bar, nowMs)));
    return { x: (from + to) / 2, y: frame.y(lanes.of[bar]) + frame.pitch / 2 };
  };
  const isSeen = ({ x, y }: { x: number; y: number }) =>
    x >= frame.left && x <= frame.left + frame.width && y >= frame.top && y <= frame.top + frame.height;
  // The nearest in another lane, or the next one in the same.
  const step = (bar: number, key: string) => {
    const by = key === "ArrowUp" ? -1 : 1;
    const start = startOf(bars, bar, nowMs);
    let best = bar;
    let distance = Infinity;
    for (let other = 0; other < bars.count; other++) {
      const away = startOf(bars, other, nowMs) - start;
      const isSide = key === "ArrowLeft" || key === "ArrowRight";
      const isThere = isSide
        ? lanes.of[other] === lanes.of[bar] && (key === "ArrowRight" ? away > 0 : away < 0)
        : lanes.of[other] === lanes.of[bar] + by;
      if (isThere && Math.abs(away) < distance) [distance, best] = [Math.abs(away), other];
    }
    return best;
  };
  return {
    count: bars.count,
    text: (bar) => barText(look, bar, what),
    place: (bar) => {
      const place = middle(bar);
      return isSeen(place) ? place : null;
    },
    at: (x, y) => {
      if (x < frame.left || y < frame.top) return -1;
      const lane = Math.floor(window.firstLane + (y - frame.top) / frame.pitch);
      for (let bar = 0; bar < bars.count; bar++)
        if (lanes.of[bar] === lane && x >= frame.x(startOf(bars, bar, nowMs)) - 1 &&
          x <= frame.x(endOf(bars, bar, nowMs)) + 1) return bar;
      return -1;
    },
    step,
    open: (bar) => (run.focused.value = bars.number[bar]),
    onPoint: (bar) => {
      run.hovered.value = bar < 0 ? -1 : rowOf(run.table.peek(), bars.number[bar]);
      if (bar < 0 || isSeen(middle(bar))) return;
      const byMs = startOf(bars, bar, nowMs) - (window.from + window.to) / 2;
      const byLanes = lanes.of[bar] - (window.firstLane + window.lastLane) / 2;
      hold(pannedWindow(window, lanes.count, byMs, byLanes));
    },
  };
}

// ---- pointer ----

interface Drag {
  readonly x: number;
  readonly y: number;
  readonly window: Window;
  readonly isFilter: boolean;
}

function usePointer(run: RunModel, window: Window, lanes: Lanes | null, width: number, mode: string) {
  const drag = useRef<Drag | null>(null);
  const brushed = useSignal<readonly [number, number] | null>(null);
  const isMoved = useRef(false);
  const height = heightOf(lanes);
  const frame = frameOf(window, width, height);
  const count = lanes?.count ?? 1;
  const at = (event: { clientX: number; clientY: number; currentTarget: EventTarget | null }) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const onPointerDown = (event: TargetedPointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    const { x, y } = at(event);
    isMoved.current = false;
    drag.current = { x, y, window, isFilter: (mode === "filter") !== event.shiftKey };
  };
  const onPointerMove = (event: TargetedPointerEvent<HTMLElement>) => {
    const held = drag.current;
    if (held === null) return;
    const { x, y } = at(event);
    if (!isMoved.current && Math.hypot(x - held.x, y - held.y) < DRAG_MIN_PX) return;
    if (!isMoved.current) event.currentTarget.setPointerCapture(event.pointerId);
    isMoved.current = true;
    event.stopPropagation();
    const begun = frameOf(held.window, width, height);
    const perPx = (held.window.to - held.window.from) / begun.width;
    if (held.isFilter) brushed.value = [Math.min(held.x, x), Math.max(held.x, x)];
    else hold(pannedWindow(held.window, count, (held.x - x) * perPx, (held.y - y) / begun.pitch));
  };
  const onPointerUp = () => {
    const span = brushed.peek();
    drag.current = null;
    brushed.value = null;
    if (span === null) return;
    const timeAt = (x: number) =>
      Math.round(window.from + ((x - frame.left) / frame.width) * (window.to - window.from));
    const filter = { kind: "range" as const, min: timeAt(span[0]), max: timeAt(span[1]) };
    run.filters.value = withFilter(run.filters.peek(), "started", filter);
  };
  const onWheel = (event: WheelEvent) => {
    const { x, y } = at(event);
    const by = wheelZoom(event);
    hold(zoomedWindow(window, count, {
      time: event.shiftKey ? 1 : by, lanes: event.shiftKey || event.ctrlKey ? by : 1,
      at: (x - frame.left) / frame.width, laneAt: (y - frame.top) / frame.height,
    }));
  };
  // A click that ended a drag opens nothing.
  const onClick = (event: MouseEvent) => isMoved.current && event.stopPropagation();
  return {
    brushed: brushed.value,
    onWheel,
    handlers: {
      onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp, onClick,
      onDblClick: () => (heldWindow.value = []),
    },
  };
}

function ZoomButtons({ window, lanes }: { window: Window; lanes: number }) {
  const span = window.to - window.from;
  const zoom = (by: number) =>
    hold(zoomedWindow(window, lanes, { time: by, lanes: 1, at: 0.5, laneAt: 0.5 }));
  const rows = (by: number) =>
    hold(zoomedWindow(window, lanes, { time: 1, lanes: by, at: 0.5, laneAt: 0 }));
  const pan = (by: number) => hold(pannedWindow(window, lanes, by * span, 0));
  return (
    <span class="row nowrap" role="group" aria-label="Zoom">
      <ToolButton text="◀" what="Earlier" act={() => pan(-BUTTON_PAN)} />
      <ToolButton text="−" what="Zoom out" act={() => zoom(1 / BUTTON_ZOOM)} />
      <ToolButton text="+" what="Zoom in" act={() => zoom(BUTTON_ZOOM)} />
      <ToolButton text="▶" what="Later" act={() => pan(BUTTON_PAN)} />
      <ToolButton text="↕" what="Fewer lanes" act={() => rows(BUTTON_ZOOM)} />
      <ToolButton text="All" what="Show all" act={() => (heldWindow.value = [])} />
    </span>
  );
}

// ---- the view ----

const states: readonly (BarLook | "waiting")[] = [...looks, "waiting"];
const legendTexts: Record<BarLook | "waiting", string> = {
  succeeded: "✓ succeeded", failed: "✗ failed", stopped: "■ cancelled",
  interrupted: "↯ lost or interrupted", running: "▶ running", waiting: "waited",
};

export function TimelineView({ run }: ViewProps) {
  const theme = useTheme();
  const { table: attempts, error } = useAttempts(run);
  const kind = useHeldText("timeline.lanes", "slot");
  const mode = useHeldText("timeline.drag", "pan");
  const { ref, width } = useWidth<HTMLDivElement>();
  const table = run.table.value;
  const { mask } = run.selection.value;
  const graph = useGraph(run);
  const what = run.document.value.kind === "workflow" ? "job" : "trial";

  const runState = run.document.value.state;
  const bars = useMemo(
    () => (attempts === null ? null : makeBars(attempts, runState)), [attempts, runState]);
  const hasOpen = useMemo(() => bars?.ended.some(Number.isNaN) ?? false, [bars]);
  // The clock is followed as long as something is not over.
  const now = hasOpen ? clock.value : 0;
  const lanes = useMemo(
    () => {
      const stepOf = (number: number) => wordOf(table, "step", rowOf(table, number));
      return bars && makeLanes(bars, kind.value as LaneKind, now || Date.now(), stepOf);
    },
    [bars, kind.value],
  );
  const span = useMemo(() => bars && spanOf(bars, now || Date.now()), [bars, now]);
  const window = windowOf(heldWindow.value, span ?? [0, 1], lanes?.count ?? 1);
  const path = useMemo(
    () => graph && criticalPath(graph, now || Date.now()).map((node) => graph.nodes[node]),
    [graph, now],
  );
  const isSelected = useMemo(() => bars && selectedBars(bars, table, mask), [bars, table, mask]);
  const isCritical = useMemo(
    () => bars && criticalBars(bars, table, (path ?? []).map(({ name }) => name), now || Date.now()),
    [bars, table, path],
  );
  const { reached } = useRungs(run);
  const rungs = useMemo(() => bars && rungMarks(bars, reached), [bars, reached]);
  const colors = Object.fromEntries(
    states.map((word) => [word, colour(`state-${word}`)]),
  ) as TimelineLook["colors"];
  const look = useMemo((): TimelineLook | null => (
    bars && lanes && isSelected && isCritical && rungs
      ? { bars, lanes, window, nowMs: now || Date.now(), theme, colors, isSelected, isCritical, rungs }
      : null
  ), [bars, lanes, isSelected, isCritical, rungs, theme, now, heldWindow.value, span]);
  const drawn = useSignal({ thin: 0, hidden: 0 });
  const paint = useMemo(() => (painter: Painter, wide: number, high: number) => {
    if (look === null) return;
    const next = paintTimeline(painter, look, wide, high);
    if (next.thin !== drawn.peek().thin || next.hidden !== drawn.peek().hidden) drawn.value = next;
  }, [look]);
  const height = heightOf(lanes);
  const pointer = usePointer(run, window, lanes, width, mode.value);
  useWheel(ref, pointer.onWheel);

  const summary = bars === null || span === null ? "Loading …"
    : `${counted(bars.count, "attempt")} in ${counted(lanes?.count ?? 0, "lane")}: ` +
      `${causesText(bars)}. ${bars.count > 0 ? busyText(bars, span, now || Date.now()) : ""}` +
      (path !== null && path.length > 1
        ? ` Critical path: ${path.map(({ name }) => name).join(" → ")}.` : "");
  const { thin, hidden } = drawn.value;
  const notes = [
    ...(error ? [error.message] : []),
    ...(thin > 0 ? [`${counted(thin, "bar")} thinner than a pixel: drawn as density`] : []),
    ...(hidden > 0 ? [`${counted(hidden, "attempt")} outside the view`] : []),
  ];
  return (
    <ChartFrame title="Timeline" file={`${run.document.value.name}-timeline`} summary={summary}
      notes={notes}
      controls={
        <>
          <Choose label="Lanes" value={kind.value} choices={laneKinds(what)} onChoose={(id) => {
            kind.value = id;
            heldWindow.value = [];
          }} />
          <Choose label="Drag to" value={mode.value} choices={dragKinds}
            onChoose={(id) => (mode.value = id)} />
          <ZoomButtons window={window} lanes={lanes?.count ?? 1} />
        </>
      }
      table={() => bars && isSelected ? tableOf(bars, isSelected, now || Date.now())
        : { columns: [], rows: 0, cell: () => null }}
      picture={() => look && { width, height, paint }}
      points={useMemo(() => look === null ? undefined : makePoints(run, look, width, what), [look, width])}>
      <div ref={ref} class={mode.value === "pan" ? "timeline timeline-pan" : "timeline"}
        style={{ height: `${height}px` }} {...pointer.handlers}>
        {width > 0 && <Drawing label={summary} width={width} height={height} paint={paint} />}
        {pointer.brushed && (
          <div class="timeline-brush" style={{
            left: `${pointer.brushed[0]}px`, width: `${pointer.brushed[1] - pointer.brushed[0]}px`,
          }} />
        )}
      </div>
      <Legend items={[
        ...states.map((word) => ({
          sign: word === "waiting" ? "line" as const : "area" as const,
          color: colors[word], text: legendTexts[word],
        })),
        ...(rungs?.size ? [{ sign: "bar" as const, color: theme.muted, text: "reached a rung" }] : []),
        ...(path !== null ? [{ sign: "line" as const, color: theme.ink, text: "critical path" }] : []),
      ]} />
    </ChartFrame>
  );
}
