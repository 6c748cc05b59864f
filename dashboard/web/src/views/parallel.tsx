// SPDX-License-Identifier: GPL-3.0-or-later
// Parallel coordinates: a line a trial over the axes of its parameters and what
// came out. Brushes on the axes are the run's filters.
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import { columnChoices } from "../charts/colors";
import { Choose } from "../charts/controls";
import { ChartFrame, useWidth } from "../charts/frame";
import type { ChartPoints } from "../charts/frame";
import { AxisBrush, AxisHead, yOf } from "../charts/parallel/axis_view";
import type { AxisPlace } from "../charts/parallel/axis_view";
import { filterOf, filterText, makeAxes, placeOfRow, spanOf, stepped } from "../charts/parallel/axes";
import type { Axis, Span } from "../charts/parallel/axes";
import { flipped, moved, orderOf, orderText, without } from "../charts/parallel/order";
import { EXACT_MAX } from "../charts/parallel/painter";
import type { Layout } from "../charts/parallel/painter";
import { newsOf } from "../charts/parallel/news";
import type { Sent } from "../charts/parallel/news";
import { openLines } from "../charts/parallel/session";
import type { Lines } from "../charts/parallel/session";
import { paintParallel } from "../charts/parallel/vector";
import { counted, trialText } from "../charts/rows";
import { valueText } from "../charts/scales";
import { shadeTable } from "../charts/shades";
import { Shades } from "../charts/shades_legend";
import { bytesOf, useTheme } from "../charts/theme";
import "../charts/parallel/parallel.css";
import { IN_RUN } from "../data/columns";
import { isMetric } from "../model/metric_columns";
import { withFilter } from "../model/selection";
import { formatCount } from "../shell/format";
import type { RunModel, Table, ViewProps } from "../types";
import { heldText } from "../url";

const HEIGHT = 440;
const TOP = 42;
const BOTTOM = 14;
const MARGIN = 52;
const AXIS_ROOM_MIN = 84;
const PICK_MAX = 10; // CSS pixels from the pointer
const ROWS_PAUSE_FACTOR = 8; // of the time that new rows took to be sent and drawn

const heldAxes = heldText("axes");
const heldBy = heldText("by");

// ---- what is shown ----

interface Placed {
  axis: Axis;
  place: AxisPlace;
}

function placeAxes(axes: readonly Axis[], text: string, width: number): Placed[] {
  const order = orderOf(text, axes);
  const room = Math.max(AXIS_ROOM_MIN, (width - 2 * MARGIN) / Math.max(1, order.length - 1));
  return order.map(({ name, isFlipped }, i) => ({
    axis: axes.find((axis) => axis.name === name) as Axis,
    place: { x: MARGIN + i * room, top: TOP, bottom: HEIGHT - BOTTOM, room: Math.min(room, 200), isFlipped },
  }));
}

const widthOf = (placed: readonly Placed[], width: number) =>
  Math.max(width, (placed.at(-1)?.place.x ?? 0) + MARGIN);

const objectiveOf = (run: RunModel, by: string) =>
  run.objectives.find(({ metric }) => metric === by) ?? run.objectives[0];

// Selected rows, the best first.
function bestFirst(run: RunModel, table: Table, mask: Uint8Array, count: number): Uint32Array {
  const rows = new Uint32Array(count);
  for (let row = 0, at = 0; row < table.rows; row++) if (mask[row]) rows[at++] = row;
  const objective = objectiveOf(run, heldBy.peek());
  const values = objective && table.byName.get(`value:${objective.metric}`)?.data;
  if (values === undefined) return rows;
  const sign = objective.goal === "minimize" ? 1 : -1;
  const key = (row: number) => (Number.isFinite(values[row]) ? sign * values[row] : Infinity);
  return rows.sort((a, b) => key(a) - key(b) || a - b);
}

function summaryOf(run: RunModel, table: Table, count: number, placed: readonly Placed[]): string {
  const objective = objectiveOf(run, heldBy.value);
  const by = objective === undefined ? ""
    : `, coloured by rank of ${objective.metric} (${objective.goal === "minimize" ? "lower" : "higher"} is better)`;
  const brushes = placed.flatMap(({ axis }) => {
    const filter = run.filters.value.get(axis.name);
    return filter === undefined ? [] : [`${axis.label} ${filterText(filter)}`];
  });
  return (
    `${formatCount(count)} of ${formatCount(table.rows)} trials over ` +
    `${placed.length} axes${by}.` + (brushes.length > 0 ? ` Selected: ${brushes.join("; ")}.` : "")
  );
}

function notesOf(run: RunModel, table: Table, mask: Uint8Array, count: number): string[] {
  const objective = objectiveOf(run, heldBy.value);
  const values = objective && table.byName.get(`value:${objective.metric}`)?.data;
  let unknown = 0;
  if (values !== undefined)
    for (let row = 0; row < table.rows; row++)
      if (mask[row] && !Number.isFinite(values[row])) unknown++;
  return [
    ...(unknown > 0 ? [`${counted(unknown, "trial")} without a finite ${objective.metric} (grey)`] : []),
    ...(count > EXACT_MAX
      ? [`all trials are drawn as densities, and as lines up to ${formatCount(EXACT_MAX)}`] : []),
  ];
}

// ---- the lines, in their worker ----

interface LinesProps {
  run: RunModel;
  axes: readonly Axis[];
  placed: readonly Placed[];
  width: number;
  canvas: { current: HTMLCanvasElement | null };
}

const isSoon = (rows: number) => rows > 20_000;

function useLines({ run, axes, placed, width, canvas }: LinesProps): void {
  const lines = useSignal<Lines | null>(null);
  const paintMs = useRef(0); // of the last picture
  const theme = useTheme();
  const hasWidth = width > 0;
  useEffect(() => {
    if (!hasWidth || canvas.current === null) return undefined;
    const element = canvas.current;
    let isClosed = false;
    void openLines(element, (drawn) => {
      element.dataset.painted = JSON.stringify(drawn);
      paintMs.current = drawn.paintMs;
    }).then((opened) => {
      if (isClosed) return opened.close();
      element.dataset.worker = String(opened.isInWorker);
      lines.value = opened;
    });
    return () => {
      isClosed = true;
      lines.peek()?.close();
      lines.value = null;
    };
  }, [hasWidth]);

  const layout = useMemo((): Layout => ({
    width, height: HEIGHT, top: TOP, bottom: HEIGHT - BOTTOM,
    pixelRatio: devicePixelRatio || 1,
    axes: placed.map(({ axis, place }) => ({ name: axis.name, x: place.x, isFlipped: place.isFlipped })),
    colours: shadeTable(theme), unranked: bytesOf(theme.muted), others: bytesOf(theme.ghost),
  }), [placed, width, theme]);
  const opened = lines.value;
  useEffect(() => opened?.setLayout(layout), [opened, layout]);

  // New rows are sent now and then, the more there are the less often.
  const sent = useRef<Sent | null>(null);
  useEffect(() => void (sent.current = null), [opened]);
  const sentMs = useRef({ at: 0, took: 0 });
  const table = run.table.value;
  const objective = objectiveOf(run, heldBy.value);
  useEffect(() => {
    if (opened === null) return undefined;
    const send = () => {
      const began = performance.now();
      const { mask } = run.selection.peek();
      const { rows, after } = newsOf(sent.current, table, axes, objective, mask);
      sent.current = after;
      opened.setRows(rows);
      sentMs.current = { at: performance.now(), took: performance.now() - began };
    };
    const { at, took } = sentMs.current;
    const pause = ROWS_PAUSE_FACTOR * (took + paintMs.current);
    const wait = isSoon(table.rows) ? at + pause - performance.now() : 0;
    const timer = setTimeout(send, Math.max(0, wait));
    return () => clearTimeout(timer);
  }, [opened, table, axes, objective]);
  useSignalEffect(() => {
    const { mask } = run.selection.value;
    lines.value?.setMask(mask);
  });
}

// ---- what is looked at ----

function lineOf(placed: readonly Placed[], table: Table, row: number): string {
  return placed
    .map(({ axis, place }) => `${place.x},${yOf(place, placeOfRow(axis, table, row)).toFixed(1)}`)
    .join(" ");
}

// The line nearest to the pointer, where lines can be told apart.
function nearest(
  placed: readonly Placed[],
  table: Table,
  rows: Uint32Array,
  x: number,
  y: number,
): number {
  const gap = placed.findIndex(
    ({ place }, i) => i + 1 < placed.length && x >= place.x && x <= placed[i + 1].place.x,
  );
  if (gap < 0) return -1;
  const [left, right] = [placed[gap], placed[gap + 1]];
  const part = (x - left.place.x) / (right.place.x - left.place.x);
  const at = ({ axis, place }: Placed, row: number) => yOf(place, placeOfRow(axis, table, row));
  let index = -1;
  let distance = PICK_MAX;
  rows.forEach((row, i) => {
    const away = Math.abs((1 - part) * at(left, row) + part * at(right, row) - y);
    if (away < distance) [distance, index] = [away, i];
  });
  return index;
}

function usePoints(run: RunModel, placed: readonly Placed[], scrolled: () => number): ChartPoints {
  const table = run.table.value;
  const { mask, count } = run.selection.value;
  const sorted = useMemo(() => ({ rows: null as Uint32Array | null }), [table, mask, heldBy.value]);
  const rows = () => (sorted.rows ??= bestFirst(run, table, mask, count));
  const number = (index: number) => table.byName.get("number")?.data[rows()[index]] ?? 0;
  return {
    count,
    text: (index) => {
      const objectives = run.objectives.map(({ metric }) => {
        const value = table.byName.get(`value:${metric}`)?.data[rows()[index]] ?? NaN;
        return `${metric} ${valueText(value)}`;
      });
      return [trialText(table, rows()[index]), ...objectives].join("\n");
    },
    place: (index) => {
      const last = placed.at(-1);
      if (last === undefined) return null;
      const { x } = last.place;
      return { x: x - scrolled(), y: yOf(last.place, placeOfRow(last.axis, table, rows()[index])) };
    },
    at: (x, y) =>
      count > EXACT_MAX ? -1 : nearest(placed, table, rows(), x + scrolled(), y),
    open: (index) => (run.focused.value = number(index)),
    onPoint: (index) => (run.hovered.value = index < 0 ? -1 : rows()[index]),
  };
}

function Looked({ run, placed }: { run: RunModel; placed: readonly Placed[] }) {
  const table = run.table.value;
  const numbers = table.byName.get("number")?.data;
  const rowOf = (number: number) => (numbers === undefined ? -1 : numbers.indexOf(number as never));
  const lines = [
    ...run.compared.value.map((number) => ["pc-line pc-line-compared", rowOf(number)] as const),
    ["pc-line pc-line-focused", run.focused.value > 0 ? rowOf(run.focused.value) : -1] as const,
    ["pc-line pc-line-ink", run.hovered.value] as const,
  ].filter(([, row]) => row >= 0 && row < table.rows);
  return (
    <>
      {lines.map(([kind, row]) => (
        <g key={kind + String(row)}>
          <polyline class="pc-line" points={lineOf(placed, table, row)} />
          <polyline class={kind} points={lineOf(placed, table, row)} />
        </g>
      ))}
    </>
  );
}

// ---- brushes ----

// Filters follow a brush at most once a frame; the brush itself, the pointer.
function useBrush(run: RunModel) {
  const held = useSignal<{ name: string; span: Span } | null>(null);
  const frame = useRef(0);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  const apply = (axis: Axis, span: Span | null) => {
    const filter = span === null ? null : filterOf(axis, span);
    run.filters.value = withFilter(run.filters.peek(), axis.name, filter);
  };
  return {
    spanFor: (axis: Axis) =>
      held.value?.name === axis.name
        ? held.value.span : spanOf(axis, run.filters.value.get(axis.name)),
    onBrush: (axis: Axis, span: Span | null) => {
      held.value = span && { name: axis.name, span };
      cancelAnimationFrame(frame.current);
      frame.current = requestAnimationFrame(() => apply(axis, span));
    },
    onEnd: () => (held.value = null),
    apply,
  };
}

function Axes({ run, placed, axes }: { run: RunModel; placed: Placed[]; axes: readonly Axis[] }) {
  const keysId = useId();
  const current = useSignal("");
  const said = useSignal("");
  const root = useRef<HTMLDivElement>(null);
  const brush = useBrush(run);
  const order = orderOf(heldAxes.value, axes);
  const setOrder = (next: ReturnType<typeof orderOf>) =>
    (heldAxes.value = next.length > 0 ? orderText(next, axes) : heldAxes.peek());
  const currentName = placed.some(({ axis }) => axis.name === current.value)
    ? current.value : placed[0]?.axis.name;
  const focus = (index: number) => {
    const buttons = root.current?.querySelectorAll<HTMLButtonElement>(".pc-name");
    buttons?.[Math.min(buttons.length - 1, Math.max(0, index))]?.focus();
  };
  const selectedText = (axis: Axis) => {
    const filter = run.filters.value.get(axis.name);
    return filter === undefined ? "" : `selected ${filterText(filter)}`;
  };
  const onKeyBrush = (axis: Axis, isFlipped: boolean, event: KeyboardEvent): boolean => {
    const isUp = event.key === "ArrowUp";
    if (event.key === "Delete" || event.key === "Backspace") brush.apply(axis, null);
    else if (isUp || event.key === "ArrowDown") {
      const end = event.shiftKey ? (isFlipped ? "from" : "to")
        : event.ctrlKey ? (isFlipped ? "to" : "from") : "both";
      const by = isUp === isFlipped ? -1 : 1;
      brush.apply(axis, stepped(axis, brush.spanFor(axis), by, end));
    } else return false;
    const { count } = run.selection.value;
    said.value = `${axis.label} ${selectedText(axis) || "no brush"}: ${counted(count, "trial")}`;
    return true;
  };
  const width = widthOf(placed, 0);
  return (
    <div ref={root}>
      <svg class="pc-axes" width={width} height={HEIGHT} aria-hidden="true">
        <Looked run={run} placed={placed} />
        {placed.map(({ axis, place }) => (
          <AxisBrush key={axis.name} axis={axis} place={place} span={brush.spanFor(axis)}
            onBrush={(span) => brush.onBrush(axis, span)} onBrushEnd={brush.onEnd} />
        ))}
      </svg>
      {placed.map(({ axis, place }, index) => (
        <AxisHead key={axis.name} axis={axis} place={place} keysId={keysId}
          isCurrent={axis.name === currentName} selected={selectedText(axis)}
          onDrag={(x) => {
            const { room } = place;
            const pitch = placed.length > 1 ? placed[1].place.x - placed[0].place.x : room;
            setOrder(moved(order, axis.name, Math.round((x - MARGIN) / pitch)));
          }}
          onStep={(by) => {
            setOrder(moved(order, axis.name, index + by));
            requestAnimationFrame(() => focus(index + by));
          }}
          onGo={(by) => focus(index + by)}
          onFlip={() => setOrder(flipped(order, axis.name))}
          onHide={() => setOrder(without(order, axis.name))}
          onKeyBrush={(event) => onKeyBrush(axis, place.isFlipped, event)}
          onFocus={() => (current.value = axis.name)} />
      ))}
      <span id={keysId} hidden>
        Up and down move the brush, with Shift its upper end, with Control its lower end. Delete
        removes the brush. Enter reverses the axis, Shift with left or right moves it, H hides it.
      </span>
      <div class="chart-said" aria-live="polite">{said.value}</div>
    </div>
  );
}

// ---- controls ----

function Controls({ run, axes }: { run: RunModel; axes: readonly Axis[] }) {
  const order = orderOf(heldAxes.value, axes);
  const hidden = axes.filter(({ name }) => !order.some((shown) => shown.name === name));
  const objective = objectiveOf(run, heldBy.value);
  const isAdding = useSignal(false); // which metrics there are is asked for then
  const others = !isAdding.value ? [] : columnChoices(run)
    .filter(({ id }) => isMetric(id) && !axes.some(({ name }) => name === id));
  const show = (name: string) => name !== "" &&
    (heldAxes.value = name === "*" ? "" : orderText([...order, { name, isFlipped: false }], axes));
  return (
    <>
      {run.objectives.length > 1 && (
        <label>
          Colour
          <select class="select" value={objective.metric}
            onChange={(event) => (heldBy.value = event.currentTarget.value)}>
            {run.objectives.map(({ metric }) => <option key={metric} value={metric}>{metric}</option>)}
          </select>
        </label>
      )}
      {objective && (
        <Shades levels={16} from="worst" to={`best ${objective.metric}`} />
      )}
      {isAdding.value ? (
        <Choose label="Add" value="" onChoose={show}
          choices={[{ id: "", text: "a metric" }, ...others]} />
      ) : !run.table.value.byName.has(IN_RUN) && (
        <button type="button" class="btn btn-small" onClick={() => (isAdding.value = true)}>
          Add a metric
        </button>
      )}
      {hidden.length > 0 && (
        <label>
          Hidden
          <select class="select" value="" onChange={(event) => show(event.currentTarget.value)}>
            <option value="">{hidden.length} of {axes.length}</option>
            {hidden.map(({ name, label }) => <option key={name} value={name}>show {label}</option>)}
            <option value="*">show all</option>
          </select>
        </label>
      )}
    </>
  );
}

// ---- the view ----

// The same ones as long as none has changed.
function useAxes(run: RunModel): readonly Axis[] {
  const kept = useRef<readonly Axis[]>([]);
  return useComputed(() => {
    const made = makeAxes(run, run.table.value);
    const isSame = JSON.stringify(made) === JSON.stringify(kept.current);
    return (kept.current = isSame ? kept.current : made);
  }).value;
}

export function ParallelView({ run }: ViewProps) {
  const table = run.table.value;
  const { mask, count } = run.selection.value;
  const axes = useAxes(run);
  const { ref: outer, width: outerWidth } = useWidth<HTMLDivElement>();
  const order = heldAxes.value;
  const placed = useMemo(() => placeAxes(axes, order, outerWidth), [axes, order, outerWidth]);
  const width = widthOf(placed, outerWidth);
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  useLines({ run, axes, placed, width: outerWidth > 0 ? width : 0, canvas });
  const points = usePoints(run, placed, () => outer.current?.scrollLeft ?? 0);
  const notes = useMemo(() => notesOf(run, table, mask, count), [table, mask, heldBy.value]);
  const summary = summaryOf(run, table, count, placed);
  const size = { width: `${width}px`, height: `${HEIGHT}px` };
  return (
    <ChartFrame title="Parallel coordinates" file={`run-${run.id}-parallel`} summary={summary}
      notes={notes} controls={<Controls run={run} axes={axes} />} points={points}
      table={() => {
        const rows = bestFirst(run, table, mask, count);
        const columns = [table.byName.get("number"), ...placed.map(({ axis }) => table.byName.get(axis.name))];
        return {
          columns: ["trial", ...placed.map(({ axis }) => axis.label)],
          rows: rows.length,
          cell: (row, index) => {
            const column = columns[index];
            const number = column?.data[rows[row]] ?? NaN;
            return column?.kind === "words" ? (column.words[number] ?? null) : number;
          },
        };
      }}
      picture={() => ({
        width, height: HEIGHT,
        paint: (painter) => paintParallel(painter, {
          table, theme, placed, width, height: HEIGHT, objective: objectiveOf(run, heldBy.value),
          rows: count <= EXACT_MAX ? bestFirst(run, table, mask, count).reverse() : null,
          lines: canvas.current,
        }),
      })}>
      <div ref={outer} class="pc-scroll">
        <div class="pc" style={size}>
          <canvas ref={canvas} class="pc-lines" style={size} role="img" aria-label={summary} />
          {outerWidth > 0 && <Axes run={run} placed={placed} axes={axes} />}
        </div>
      </div>
    </ChartFrame>
  );
}
