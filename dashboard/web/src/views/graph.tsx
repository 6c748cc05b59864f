// SPDX-License-Identifier: GPL-3.0-or-later
// A workflow's steps and what waits for what, with their states as they are now.
import type { TargetedPointerEvent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Choose, ToolButton, useHeldText } from "../charts/controls";
import { Drawing } from "../charts/drawing";
import { ChartFrame, useWidth } from "../charts/frame";
import type { ChartPoints, CursorKey, DataTable } from "../charts/frame";
import { useGraph } from "../charts/graph/document";
import type { Graph } from "../charts/graph/document";
import { isPlaced, noteOf, paintGraph } from "../charts/graph/paint";
import type { Camera, GraphLook } from "../charts/graph/paint";
import { unfolded } from "../charts/graph/unfold";
import { counted } from "../charts/rows";
import type { Painter } from "../charts/svg";
import { useTheme } from "../charts/theme";
import "../charts/timeline/timeline.css";
import { useWheel, wheelZoom } from "../charts/wheel";
import { withFilter } from "../model/selection";
import { nowMs as clock } from "../shell/clock";
import type { RunModel, ViewProps } from "../types";
import { heldNumbers, isOfRun, visit } from "../url";

const HEIGHT_PX = 560;
const SCALE_MAX = 2.5;
const SCALE_MIN = 0.04;
const BUTTON_ZOOM = 1.4;
const DRAG_MIN_PX = 4;
const PAD_PX = 16;

const heldCamera = heldNumbers("graph.camera");

// ---- what is seen ----

function fit(graph: Graph, width: number): Camera {
  const scale = Math.min(
    1.15, (width - 2 * PAD_PX) / Math.max(1, graph.width), (HEIGHT_PX - 2 * PAD_PX) / Math.max(1, graph.height),
  );
  return {
    scale, x: (width - graph.width * scale) / 2, y: (HEIGHT_PX - graph.height * scale) / 2,
  };
}

const LEGIBLE_SCALE = 1; // its smallest texts have 11 pixels then

// As it is at rest: all of it, where that can be read; else around a step that needs
// a look, or the first one. The rest is moved into sight.
function rest(graph: Graph, width: number, wanted: string): Camera {
  const all = fit(graph, width);
  if (all.scale >= LEGIBLE_SCALE) return all;
  const placed = graph.nodes.filter(isPlaced);
  const node = placed.find(({ name }) => name === wanted) ??
    placed.find(({ state }) => state === "failed" || state === "active") ?? placed[0];
  const along = (middle: number, length: number, room: number) =>
    length + 2 * PAD_PX <= room ? (room - length) / 2
      : Math.min(PAD_PX, Math.max(room - PAD_PX - length, room / 2 - middle));
  return {
    scale: LEGIBLE_SCALE,
    x: along((node?.x ?? 0) + (node?.width ?? 0) / 2, graph.width, width),
    y: along((node?.y ?? 0) + (node?.height ?? 0) / 2, graph.height, HEIGHT_PX),
  };
}

function hold({ scale, x, y }: Camera): void {
  heldCamera.value = [Number(scale.toFixed(4)), Math.round(x), Math.round(y)];
}

function zoomedCamera(camera: Camera, by: number, x: number, y: number): Camera {
  const scale = Math.min(SCALE_MAX, Math.max(SCALE_MIN, camera.scale * by));
  const ratio = scale / camera.scale;
  return { scale, x: x - (x - camera.x) * ratio, y: y - (y - camera.y) * ratio };
}

// ---- words ----

function summaryOf(graph: Graph): string {
  if (graph.problem !== null) return graph.problem;
  const counts = new Map<string, string[]>();
  for (const { state, name } of graph.nodes)
    counts.set(state, [...(counts.get(state) ?? []), name]);
  const parts = [...counts].map(([state, names]) =>
    `${names.length} ${state}${["active", "running", "failed"].includes(state) ? ` (${names.slice(0, 5).join(", ")}${names.length > 5 ? ", …" : ""})` : ""}`);
  return `${counted(graph.nodes.length, "step")}, ${counted(graph.edges.length, "dependency", "dependencies")}: ${parts.join(", ")}.`;
}

function tableOf(graph: Graph): DataTable {
  const needs = (node: number) => graph.edges
    .filter(({ to }) => to === node).map(({ from }) => graph.nodes[from].name).join(" ");
  const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  const states = ["succeeded", "failed", "running", "interrupted", "pending"];
  return {
    columns: ["step", "state", "copies", ...states, "cached", "began", "ended", "needs"],
    rows: graph.nodes.length,
    cell: (row, column) => {
      const node = graph.nodes[row];
      return [
        node.name, node.state, node.copies, ...states.map((state) => node.jobs[state] ?? 0), node.cached ?? 0,
        time(node.began_ms), time(node.ended_ms), needs(row),
      ][column];
    },
  };
}

// ---- what the cursor finds ----

// Up and down go along lines, and from row to row of a step's copies; left and
// right to what stands beside it.
function stepFrom(graph: Graph, index: number, key: CursorKey): number {
  const { within, layer = -1 } = graph.nodes[index];
  const owner = within ?? index;
  const middle = (node: number) => (graph.nodes[node].x ?? 0) + (graph.nodes[node].width ?? 0) / 2;
  const nearest = (some: readonly number[]) =>
    some.reduce((best, node) =>
      best < 0 || Math.abs(middle(node) - middle(index)) < Math.abs(middle(best) - middle(index))
        ? node : best, -1);
  const rowOf = (wantedWithin: number | undefined, row: number) =>
    graph.nodes.map((_, node) => node).filter((node) =>
      graph.nodes[node].within === wantedWithin && graph.nodes[node].layer === row);
  const below = () => rowOf(owner, within === undefined ? 0 : layer + 1);
  const above = () => (layer > 0 ? rowOf(owner, layer - 1) : [owner]);
  const after = () => graph.edges.filter(({ from }) => from === owner).map(({ to }) => to);
  const before = () => graph.edges.filter(({ to }) => to === owner).map(({ from }) => from);
  const beside = (isSide: (node: number) => boolean) => rowOf(within, layer).filter(isSide);
  const found = {
    ArrowDown: () => (below().length > 0 ? below() : after()),
    ArrowUp: () => (within === undefined ? before() : above()),
    ArrowLeft: () => beside((node) => middle(node) < middle(index)),
    ArrowRight: () => beside((node) => middle(node) > middle(index)),
  };
  const next = nearest(found[key]());
  return next < 0 ? index : next;
}

function openStep(run: RunModel, name: string): void {
  run.filters.value = withFilter(run.filters.peek(), "step", { kind: "words", words: [name] });
  visit(`/runs/${run.id}/table`, isOfRun);
}

function makePoints(run: RunModel, look: GraphLook, width: number): ChartPoints {
  const { graph, camera, nowMs } = look;
  const place = (index: number) => {
    const { x = 0, y = 0, width: wide = 0, height = 0 } = graph.nodes[index];
    return {
      x: camera.x + (x + wide / 2) * camera.scale, y: camera.y + (y + height / 2) * camera.scale,
    };
  };
  const isSeen = ({ x, y }: { x: number; y: number }) => x > 0 && x < width && y > 0 && y < HEIGHT_PX;
  return {
    count: graph.nodes.length,
    text: (index) => {
      const node = graph.nodes[index];
      return [node.name, node.state, noteOf(node, nowMs), node.detail ?? ""]
        .filter((line, i, all) => line !== "" && all.indexOf(line) === i).join("\n");
    },
    place: (index) => (isSeen(place(index)) ? place(index) : null),
    at: (x, y) => {
      const [graphX, graphY] = [(x - camera.x) / camera.scale, (y - camera.y) / camera.scale];
      return graph.nodes.findLastIndex((node) => isPlaced(node) &&
        graphX >= (node.x ?? 0) && graphX <= (node.x ?? 0) + (node.width ?? 0) &&
        graphY >= (node.y ?? 0) && graphY <= (node.y ?? 0) + (node.height ?? 0));
    },
    step: (index, key) => stepFrom(graph, index, key),
    open: (index) => {
      const { job, within = index } = graph.nodes[index];
      if (job === undefined) openStep(run, graph.nodes[within].name);
      else run.focused.value = job;
    },
    onPoint: (index) => {
      if (index < 0 || isSeen(place(index))) return;
      const { x, y } = place(index);
      hold({ ...camera, x: camera.x + width / 2 - x, y: camera.y + HEIGHT_PX / 2 - y });
    },
  };
}

// ---- pointer ----

function usePointer(camera: Camera) {
  const drag = useRef<{ x: number; y: number; camera: Camera; isMoved: boolean } | null>(null);
  const wasMoved = useRef(false);
  const onPointerDown = (event: TargetedPointerEvent<HTMLElement>) => {
    wasMoved.current = false;
    if (event.button === 0)
      drag.current = { x: event.clientX, y: event.clientY, camera, isMoved: false };
  };
  const onPointerMove = (event: TargetedPointerEvent<HTMLElement>) => {
    const held = drag.current;
    if (held === null) return;
    const [byX, byY] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.isMoved && Math.hypot(byX, byY) < DRAG_MIN_PX) return;
    if (!held.isMoved) event.currentTarget.setPointerCapture(event.pointerId);
    held.isMoved = wasMoved.current = true;
    event.stopPropagation();
    hold({ ...held.camera, x: held.camera.x + byX, y: held.camera.y + byY });
  };
  const onPointerUp = () => (drag.current = null);
  // A click that ended a drag opens nothing.
  const onClick = (event: MouseEvent) => wasMoved.current && event.stopPropagation();
  return { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp, onClick };
}

// ---- the view ----

export function GraphView({ run }: ViewProps) {
  const theme = useTheme();
  const folded = useGraph(run);
  const open = useHeldText("graph.unfold");
  const table = run.table.value;
  const graph = useMemo(
    () => folded && unfolded(folded, open.value, table), [folded, open.value, table],
  );
  const copied = folded?.nodes.filter(({ copies }) => copies > 1) ?? [];
  const search = useHeldText("graph.search");
  const { ref, width } = useWidth<HTMLDivElement>();
  const isRunning = graph?.nodes.some(({ state }) => state === "active") ?? false;
  const nowMs = isRunning ? clock.value : 0;
  const held = heldCamera.value;
  const camera = useMemo(
    () => held.length === 3 ? { scale: held[0], x: held[1], y: held[2] }
      : graph && width > 0 ? rest(graph, width, open.value) : { scale: 1, x: 0, y: 0 },
    [held, graph, width],
  );
  const wanted = search.value.toLowerCase();
  const look = useMemo((): GraphLook | null => graph && {
    graph, theme, camera, nowMs,
    isFound: (node) => wanted === "" || graph.nodes[node].name.toLowerCase().includes(wanted),
  }, [graph, theme, camera, nowMs, wanted]);
  const paint = useMemo(
    () => (painter: Painter, wide: number, high: number) =>
      void (look && paintGraph(painter, look, wide, high)),
    [look],
  );
  useWheel(ref, (event) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const by = wheelZoom(event);
    hold(zoomedCamera(camera, by, event.clientX - box.left, event.clientY - box.top));
  });
  // What is searched for comes into the middle.
  useEffect(() => {
    const node = graph?.nodes.find(({ name }) => wanted !== "" && name.toLowerCase().includes(wanted));
    if (node?.x === undefined || width === 0) return;
    const scale = Math.max(camera.scale, 0.8);
    hold({
      scale, x: width / 2 - (node.x + (node.width ?? 0) / 2) * scale,
      y: HEIGHT_PX / 2 - ((node.y ?? 0) + (node.height ?? 0) / 2) * scale,
    });
  }, [wanted]);
  const found = folded === null || wanted === "" ? -1
    : folded.nodes.filter(({ name }) => name.toLowerCase().includes(wanted)).length;
  const zoom = (by: number) => hold(zoomedCamera(camera, by, width / 2, HEIGHT_PX / 2));
  const summary = folded === null ? "Loading …" : summaryOf(folded);
  return (
    <ChartFrame title="Graph" file={`${run.document.value.name}-graph`} summary={summary}
      notes={["Enter or a click shows the jobs of a step, or a copy"]}
      controls={
        <>
          <label>
            Find
            <input class="input" type="search" value={search.value} placeholder="step"
              onInput={(event) => (search.value = event.currentTarget.value)} />
          </label>
          {copied.length > 0 && (
            <Choose label="Unfold" value={open.value}
              choices={[{ id: "", text: "none" }, ...copied.map(({ name }) => ({ id: name, text: name }))]}
              onChoose={(name) => {
                open.value = name;
                heldCamera.value = [];
              }} />
          )}
          {found >= 0 && <span>{counted(found, "step")}</span>}
          <span class="row nowrap" role="group" aria-label="Zoom">
            <ToolButton text="−" what="Zoom out" act={() => zoom(1 / BUTTON_ZOOM)} />
            <ToolButton text="+" what="Zoom in" act={() => zoom(BUTTON_ZOOM)} />
            <ToolButton text="1:1" what="Legible size, 1:1" act={() => (heldCamera.value = [])} />
            <ToolButton text="All" what="Show all" act={() => graph && hold(fit(graph, width))} />
          </span>
        </>
      }
      table={() => folded ? tableOf(folded) : { columns: [], rows: 0, cell: () => null }}
      picture={() => look && { width, height: HEIGHT_PX, paint }}
      points={useMemo(() => look === null ? undefined : makePoints(run, look, width), [look, width])}>
      <div ref={ref} class="timeline timeline-pan" style={{ height: `${HEIGHT_PX}px` }}
        {...usePointer(camera)}>
        {width > 0 && <Drawing label={summary} width={width} height={HEIGHT_PX} paint={paint} />}
      </div>
    </ChartFrame>
  );
}
