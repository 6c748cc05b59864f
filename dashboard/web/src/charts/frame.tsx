// SPDX-License-Identifier: GPL-3.0-or-later
// What every chart is in: a title, what can be saved of it, a sentence that says
// what it shows, its numbers as a table, and a cursor for mouse and keyboard.
import { useSignal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import type {
  ComponentChildren,
  TargetedKeyboardEvent,
  TargetedMouseEvent,
  TargetedPointerEvent,
} from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ChartTable } from "./chart_table";
import { csvOf, fileName, jsonOf, pngOf, saveBlob, saveText, svgOf } from "./save";
import type { DataTable, PictureSource } from "./save";
import { useTheme } from "./theme";

export type { DataTable, PictureSource } from "./save";

export type CursorKey = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

export interface Place {
  x: number; // CSS pixels from the left of what is in the frame
  y: number; // from its top
}

// What the cursor goes over, in the order of the keys.
export interface ChartPoints {
  readonly count: number;
  // What is shown and said of one; its first line is its name.
  text(index: number): string;
  place(index: number): Place | null; // null: not to be seen now
  // The one under the pointer; -1: none. Without it the pointer finds nothing.
  at?(x: number, y: number): number;
  // Where a key leads; without it to the next one, or the one before.
  step?(index: number, key: CursorKey): number;
  open?(index: number): void; // Enter or a click
  onPoint?(index: number): void; // -1: none any more
}

export interface ChartFrameProps {
  title: string;
  file: string; // what files are called that are saved, without their ending
  summary: string; // a sentence or two, made from the data
  // What is not to be seen, and why: "312 trials have no value".
  notes?: readonly string[];
  controls?: ComponentChildren;
  table(): DataTable;
  picture(): Omit<PictureSource, "title" | "summary"> | null; // null: nothing yet
  points?: ChartPoints;
  below?: ComponentChildren; // what signs mean
  children: ComponentChildren;
}

const PAGE_STEP = 10;
const CLICK_MAX_PX = 4; // more is a drag

// ---- saving ----

function SaveButtons(props: { frame: ChartFrameProps; isTableShown: Signal<boolean> }) {
  const { frame, isTableShown } = props;
  const theme = useTheme();
  const source = (): PictureSource | null => {
    const picture = frame.picture();
    return picture && { ...picture, title: frame.title, summary: frame.summary };
  };
  const name = (ending: string) => fileName(frame.file, ending);
  const savePng = async () => {
    const picture = source();
    if (picture) saveBlob(await pngOf(picture, theme), name("png"));
  };
  const saveSvg = () => {
    const picture = source();
    if (picture) saveText(svgOf(picture, theme), "image/svg+xml", name("svg"));
  };
  const saveCsv = () => saveText(csvOf(frame.table()), "text/csv", name("csv"));
  const saveJson = () => saveText(jsonOf(frame.table()), "application/json", name("json"));
  const button = (text: string, what: string, act: () => unknown) => (
    <button
      type="button"
      class="btn btn-quiet btn-small"
      title={what}
      aria-label={`${what}: ${frame.title}`}
      onClick={() => void act()}
    >
      {text}
    </button>
  );
  return (
    <div class="chart-buttons" role="group" aria-label={`Save or show: ${frame.title}`}>
      {button("PNG", "Save as PNG", savePng)}
      {button("SVG", "Save as SVG", saveSvg)}
      {button("CSV", "Save numbers as CSV", saveCsv)}
      {button("JSON", "Save numbers as JSON", saveJson)}
      <button
        type="button"
        class="btn btn-quiet btn-small"
        aria-pressed={isTableShown.value}
        aria-label={`Show numbers as a table: ${frame.title}`}
        onClick={() => (isTableShown.value = !isTableShown.value)}
      >
        Table
      </button>
    </div>
  );
}

// ---- the cursor ----

interface CursorState {
  index: number; // -1: none
  isByKeys: boolean;
}

function Tip(props: { points: ChartPoints; state: Signal<CursorState>; width: number }) {
  const { points, state, width } = props;
  const { index, isByKeys } = state.value;
  const isThere = index >= 0 && index < points.count;
  const text = isThere ? points.text(index) : "";
  const place = isThere ? points.place(index) : null;
  const isLeft = place !== null && place.x > width / 2;
  const spot = place === null ? undefined : { left: `${place.x}px`, top: `${place.y}px` };
  const [name, ...lines] = text.split("\n");
  return (
    <>
      {spot && <span class={isByKeys ? "chart-ring chart-ring-keys" : "chart-ring"} style={spot} />}
      {spot && (
        <div
          class={isLeft ? "chart-tip chart-tip-left" : "chart-tip"}
          style={spot}
          aria-hidden="true"
        >
          <strong>{name}</strong>
          {lines.map((line) => (
            <span key={line}>{line}</span>
          ))}
        </div>
      )}
      <div class="chart-said" aria-live="polite">
        {isByKeys && isThere ? `${text.replace(/\n/g, ", ")}; ${index + 1} of ${points.count}` : ""}
      </div>
    </>
  );
}

function keyTarget(points: ChartPoints, index: number, key: string): number | undefined {
  const last = points.count - 1;
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (key === "PageUp") return Math.max(0, index - PAGE_STEP);
  if (key === "PageDown") return Math.min(last, index + PAGE_STEP);
  if (!key.startsWith("Arrow")) return undefined;
  if (index < 0) return 0;
  const isBack = key === "ArrowLeft" || key === "ArrowUp";
  const target = points.step?.(index, key as CursorKey) ?? index + (isBack ? -1 : 1);
  return Math.min(last, Math.max(0, target));
}

function useCursor(points: ChartPoints | undefined) {
  const state = useSignal<CursorState>({ index: -1, isByKeys: false });
  const frame = useRef(0);
  const pressed = useRef({ x: 0, y: 0 });
  const move = (index: number, isByKeys: boolean) => {
    const current = state.peek();
    if (current.index === index && current.isByKeys === isByKeys) return;
    state.value = { index, isByKeys };
    points?.onPoint?.(index);
  };
  useEffect(() => () => cancelAnimationFrame(frame.current), []);

  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (points === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const { index } = state.peek();
    const target = points.count > 0 ? keyTarget(points, index, event.key) : undefined;
    if (target !== undefined) move(target, true);
    else if (event.key === "Enter" && index >= 0) points.open?.(index);
    else if (event.key === "Escape" && index >= 0) move(-1, false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  // At most once a frame, however fast the pointer moves.
  const onPointerMove = (event: TargetedPointerEvent<HTMLElement>) => {
    if (points?.at === undefined) return;
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => move(points.at?.(x, y) ?? -1, false));
  };
  const onPointerLeave = () => {
    cancelAnimationFrame(frame.current);
    move(-1, false);
  };
  const onPointerDown = (event: TargetedPointerEvent<HTMLElement>) =>
    void (pressed.current = { x: event.clientX, y: event.clientY });
  // What ends a drag is no click.
  const onClick = (event: TargetedMouseEvent<HTMLElement>) => {
    const { index } = state.peek();
    const { x, y } = pressed.current;
    const isStill = Math.hypot(event.clientX - x, event.clientY - y) < CLICK_MAX_PX;
    if (index >= 0 && isStill) points?.open?.(index);
  };
  const onBlur = () => state.peek().isByKeys && move(-1, false);
  return {
    state,
    handlers: { onKeyDown, onPointerDown, onPointerMove, onPointerLeave, onClick, onBlur },
  };
}

// ---- the frame ----

// An element's width, followed as it changes; 0 until it is known.
export function useWidth<T extends HTMLElement>() {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    setWidth(Math.floor(element.clientWidth));
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

export function ChartFrame(props: ChartFrameProps) {
  const { title, summary, notes = [], controls, points, below, children } = props;
  const id = useId();
  const isTableShown = useSignal(false);
  const { state, handlers } = useCursor(points);
  const { ref, width } = useWidth<HTMLDivElement>();
  return (
    <figure class="card chart" aria-labelledby={`${id}-title`}>
      <header class="chart-header">
        <h2 id={`${id}-title`} class="chart-title">
          {title}
        </h2>
        {controls && <div class="chart-controls">{controls}</div>}
        <SaveButtons frame={props} isTableShown={isTableShown} />
      </header>
      <div
        ref={ref}
        class="chart-region"
        role="application"
        aria-roledescription="chart"
        aria-label={title}
        aria-describedby={`${id}-summary ${id}-keys`}
        tabIndex={0}
        {...handlers}
      >
        {children}
        {points && <Tip points={points} state={state} width={width} />}
      </div>
      {below}
      <figcaption class="chart-caption">
        <p id={`${id}-summary`} class="chart-summary">
          {summary}
        </p>
        {notes.length > 0 && <p class="chart-notes">{notes.join(" · ")}</p>}
        <span id={`${id}-keys`} hidden>
          {points ? "The arrow keys, Home and End move between points. Enter opens the trial." : ""}
        </span>
      </figcaption>
      {isTableShown.value && <ChartTable title={title} table={props.table()} />}
    </figure>
  );
}
