// SPDX-License-Identifier: GPL-3.0-or-later
// One axis: its name, which moves and turns it, its marks, and its brush by
// mouse, touch and keyboard.
import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { marksOf } from "./axes";
import type { Axis, Span } from "./axes";

export interface AxisPlace {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
  readonly room: number; // to the next axis
  readonly isFlipped: boolean;
}

export interface BrushProps {
  axis: Axis;
  place: AxisPlace;
  span: Span | null;
  onBrush(span: Span | null): void;
  onBrushEnd(): void;
}

const GRIP_PX = 8; // of a brush's end
const CLICK_PX = 4; // less is no brush
const MARK_PITCH_PX = 38;
const BRUSH_HALF_PX = 8;
const HIT_HALF_PX = 20;

export const yOf = ({ top, bottom, isFlipped }: AxisPlace, place: number) =>
  top + (isFlipped ? place : 1 - place) * (bottom - top);

function placeAt({ top, bottom, isFlipped }: AxisPlace, y: number): number {
  const part = Math.min(1, Math.max(0, (y - top) / (bottom - top)));
  return isFlipped ? part : 1 - part;
}

// ---- marks and brush ----

function Marks({ axis, place }: { axis: Axis; place: AxisPlace }) {
  const marks = marksOf(axis, (place.bottom - place.top) / MARK_PITCH_PX);
  const letters = Math.max(4, Math.floor((place.room - 14) / 6.2));
  const short = (text: string) =>
    text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
  return (
    <>
      {marks.map(({ place: at, text }) => (
        <g key={`${at} ${text}`}>
          <line class="pc-tick" x1={place.x - (text ? 4 : 2)} x2={place.x}
            y1={yOf(place, at)} y2={yOf(place, at)} />
          {text && (
            <text class="pc-mark" x={place.x + 6} y={yOf(place, at)} dy="0.35em">{short(text)}</text>
          )}
        </g>
      ))}
    </>
  );
}

interface Grip {
  kind: "new" | "move" | "from" | "to";
  begin: number; // the place that was grasped
  beginY: number;
  span: Span;
}

function spanTo(grip: Grip, at: number): Span {
  const { kind, begin, span } = grip;
  if (kind === "new") return { from: Math.min(begin, at), to: Math.max(begin, at) };
  if (kind === "move") {
    const length = span.to - span.from;
    const from = Math.min(1 - length, Math.max(0, span.from + at - begin));
    return { from, to: from + length };
  }
  const other = kind === "from" ? span.to : span.from;
  return { from: Math.min(other, at), to: Math.max(other, at) };
}

export function AxisBrush({ axis, place, span, onBrush, onBrushEnd }: BrushProps) {
  const grip = useRef<Grip | null>(null);
  const hit = useRef<SVGRectElement>(null);
  // A finger on an axis brushes it. To keep the page where it is, touch-action is
  // not enough: it does not hold for what is inside of a picture.
  useEffect(() => {
    const rect = hit.current;
    const keep = (event: TouchEvent) => event.preventDefault();
    rect?.addEventListener("touchstart", keep, { passive: false });
    return () => rect?.removeEventListener("touchstart", keep);
  }, []);
  const yIn = (event: TargetedPointerEvent<SVGRectElement>) => {
    const svg = event.currentTarget.ownerSVGElement as SVGSVGElement;
    return event.clientY - svg.getBoundingClientRect().top;
  };
  const onPointerDown = (event: TargetedPointerEvent<SVGRectElement>) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const y = yIn(event);
    const begin = placeAt(place, y);
    const near = (end: number) => Math.abs(yOf(place, end) - y) <= GRIP_PX;
    const kind = span === null ? "new"
      : near(span.from) ? "from" : near(span.to) ? "to"
        : begin > span.from && begin < span.to ? "move" : "new";
    grip.current = { kind, begin, beginY: y, span: span ?? { from: begin, to: begin } };
  };
  const onPointerMove = (event: TargetedPointerEvent<SVGRectElement>) => {
    const held = grip.current;
    if (held === null) return;
    event.stopPropagation();
    const y = yIn(event);
    if (held.kind === "new" && Math.abs(y - held.beginY) < CLICK_PX) return;
    onBrush(spanTo(held, placeAt(place, y)));
  };
  const onPointerUp = (event: TargetedPointerEvent<SVGRectElement>) => {
    const held = grip.current;
    grip.current = null;
    if (held?.kind === "new" && Math.abs(yIn(event) - held.beginY) < CLICK_PX) onBrush(null);
    onBrushEnd();
  };
  const ends = span && [yOf(place, span.from), yOf(place, span.to)];
  const [y0, y1] = ends === null ? [0, 0] : [Math.min(...ends), Math.max(...ends)];
  return (
    <g>
      <line class="pc-axis" x1={place.x} x2={place.x} y1={place.top} y2={place.bottom} />
      <Marks axis={axis} place={place} />
      {span && (
        <rect class="pc-brush" x={place.x - BRUSH_HALF_PX} width={2 * BRUSH_HALF_PX}
          y={y0} height={Math.max(2, y1 - y0)} rx={3} />
      )}
      <rect ref={hit} class="pc-hit" x={place.x - HIT_HALF_PX} width={2 * HIT_HALF_PX}
        y={place.top - 6} height={place.bottom - place.top + 12}
        onPointerDown={onPointerDown} onPointerMove={onPointerMove}
        onPointerUp={onPointerUp} onPointerCancel={onPointerUp}
        onClick={(event) => event.stopPropagation()} />
    </g>
  );
}

// ---- the name, and all that keys do ----

export interface HeadProps {
  axis: Axis;
  place: AxisPlace;
  isCurrent: boolean; // the one that Tab leads to
  selected: string; // "" or what the brush takes in
  keysId: string;
  onDrag(x: number): void; // its name is dragged to there
  onStep(by: -1 | 1): void; // move it
  onGo(by: -1 | 1): void; // to the next one's name
  onFlip(): void;
  onHide(): void;
  onKeyBrush(event: TargetedKeyboardEvent<HTMLButtonElement>): boolean;
  onFocus(): void;
}

export function AxisHead(props: HeadProps) {
  const { axis, place, isCurrent, selected, keysId } = props;
  const drag = useRef<{ fromX: number; isMoved: boolean } | null>(null);
  const onPointerDown = (event: TargetedPointerEvent<HTMLButtonElement>) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { fromX: event.clientX, isMoved: false };
  };
  const onPointerMove = (event: TargetedPointerEvent<HTMLButtonElement>) => {
    const held = drag.current;
    event.stopPropagation();
    if (held === null || (!held.isMoved && Math.abs(event.clientX - held.fromX) < CLICK_PX)) return;
    held.isMoved = true;
    const row = event.currentTarget.parentElement?.parentElement as HTMLElement;
    props.onDrag(event.clientX - row.getBoundingClientRect().left);
  };
  const onClick = (event: MouseEvent) => {
    event.stopPropagation();
    if (!drag.current?.isMoved) props.onFlip();
    drag.current = null;
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLButtonElement>) => {
    const isSide = event.key === "ArrowLeft" || event.key === "ArrowRight";
    const by = event.key === "ArrowLeft" ? -1 : 1;
    if (isSide && event.shiftKey) props.onStep(by);
    else if (isSide) props.onGo(by);
    else if (event.key === "h") props.onHide();
    else if (!props.onKeyBrush(event)) {
      // Enter and the space bar are clicks; they do not reach the chart.
      if (event.key === "Enter" || event.key === " ") event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const style = { left: `${place.x - place.room / 2}px`, width: `${place.room}px` };
  return (
    <div class="pc-head" style={style}>
      <button type="button" class="pc-name" tabIndex={isCurrent ? 0 : -1} data-axis={axis.name}
        title={`${axis.label}: drag to move, click to reverse`}
        aria-label={`Axis ${axis.label}${place.isFlipped ? ", reversed" : ""}${
          selected ? `, ${selected}` : ""}`}
        aria-describedby={keysId} onPointerDown={onPointerDown} onPointerMove={onPointerMove}
        onClick={onClick} onKeyDown={onKeyDown} onFocus={props.onFocus}>
        {axis.isObjective && <span class="pc-goal" aria-hidden="true">◆ </span>}
        {axis.label}
        {place.isFlipped && <span aria-hidden="true"> ↓</span>}
      </button>
      <button type="button" class="pc-hide" tabIndex={-1} title={`Hide ${axis.label}`}
        aria-label={`Hide axis ${axis.label}`}
        onClick={(event) => (event.stopPropagation(), props.onHide())}>
        ×
      </button>
    </div>
  );
}
