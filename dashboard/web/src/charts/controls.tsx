// SPDX-License-Identifier: GPL-3.0-or-later
// What is chosen above a chart, and what dragging over it does.
import { useMemo } from "preact/hooks";
import type { Held, RunModel } from "../types";
import { withFilter } from "../model/selection";
import { heldNumbers, heldText } from "../url";
import type { DragBox } from "./panel";
import { padded, zoomed } from "./scales";
import type { Scale } from "./scales";

export interface Choice {
  readonly id: string;
  readonly text: string;
}

export function Choose(props: {
  label: string;
  value: string;
  choices: readonly Choice[];
  onChoose(id: string): void;
}) {
  const { label, value, choices, onChoose } = props;
  return (
    <label>
      {label}
      <select
        class="select"
        value={value}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {choices.map(({ id, text }) => (
          <option key={id} value={id} selected={id === value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

// A small button whose sign says little by itself.
export function ToolButton(props: { text: string; what: string; act(): void }) {
  const { text, what, act } = props;
  return (
    <button
      type="button"
      class="btn btn-quiet btn-small"
      title={what}
      aria-label={what}
      onClick={act}
    >
      {text}
    </button>
  );
}

export function Check(props: { label: string; isOn: boolean; onChange(isOn: boolean): void }) {
  const { label, isOn, onChange } = props;
  return (
    <label>
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}

// One value of the URL for as long as the component is there.
export const useHeldText = (key: string, fallback = "") =>
  useMemo(() => heldText(key, fallback), [key, fallback]);

// ---- axes that may be logarithms ----

// Whether it is one: as the user says, else as the numbers are.
export function useLog(key: string) {
  const held = useHeldText(key);
  return {
    isLog: (isBetterSo: boolean) => (held.value === "" ? isBetterSo : held.value === "log"),
    control: (label: string, isLog: boolean) => (
      <Check
        label={label}
        isOn={isLog}
        onChange={(isOn) => (held.value = isOn ? "log" : "linear")}
      />
    ),
  };
}

// ---- dragging ----

const SHORT_DIGITS = 6;
const short = (value: number) => Number(value.toPrecision(SHORT_DIGITS));

// A filter of a column for a part of its scale.
export function filterTo(
  run: RunModel,
  name: string,
  scale: Scale,
  [from, to]: readonly [number, number],
): void {
  const column = run.table.peek().byName.get(name);
  if (column === undefined) return;
  const low = scale.fromUnit(Math.max(0, from));
  const high = scale.fromUnit(Math.min(1, to));
  const isWhole = column.kind === "int" || column.kind === "time";
  const filter =
    column.kind === "words"
      ? { kind: "words" as const, words: column.words.slice(low, high + 1) }
      : {
          kind: "range" as const,
          min: isWhole ? Math.ceil(low) : scale.kind === "category" ? low : short(low),
          max: isWhole ? Math.floor(high) : scale.kind === "category" ? high : short(high),
        };
  run.filters.value = withFilter(run.filters.peek(), name, filter);
}

const drags: readonly Choice[] = [
  { id: "filter", text: "filter" },
  { id: "zoom", text: "zoom" },
];

export interface Side {
  readonly scale: Scale;
  readonly column: string; // "": it is none, and cannot be filtered by
}

export interface Zoom {
  readonly x: Scale;
  readonly y: Scale;
  onDrag(box: DragBox): void;
  onReset(): void;
}

// Dragging over a plot filters or zooms, with the shift key the other one; a
// double click takes the zoom back. `key` begins those in the URL; only: the one
// thing that dragging does, where there is no choice.
export function useDragging(run: RunModel, key: string, only?: "zoom") {
  const mode = useHeldText(`${key}.drag`, "filter");
  const zoom: Held<readonly number[]> = useMemo(() => heldNumbers(`${key}.zoom`), [key]);
  const zoomTo = (x: Scale, y: Scale, box: DragBox) => {
    const part = (scale: Scale, [from, to]: readonly [number, number] = [0, 1]) =>
      [scale.fromUnit(from), scale.fromUnit(to)].map(short);
    zoom.value = [...part(x, box.x), ...part(y, box.y)];
  };
  // isTight: there is nothing beyond the ends of the scales, so they get no room.
  const use = (wholeX: Side, wholeY: Side, isTight = false): Zoom => {
    const [x0, x1, y0, y1] = zoom.value;
    const isZoomed = zoom.value.length === 4;
    const part = (scale: Scale, from: number, to: number) =>
      isZoomed ? zoomed(scale, scale.toUnit(from), scale.toUnit(to))
        : isTight ? scale : padded(scale);
    const x = part(wholeX.scale, x0, x1);
    const y = part(wholeY.scale, y0, y1);
    return {
      x,
      y,
      onDrag: (box) => {
        if (only === "zoom" || (mode.peek() === "zoom") !== box.isShifted) return zoomTo(x, y, box);
        if (box.x && wholeX.column !== "") filterTo(run, wholeX.column, x, box.x);
        if (box.y && wholeY.column !== "") filterTo(run, wholeY.column, y, box.y);
      },
      onReset: () => (zoom.value = []),
    };
  };
  const control = (
    <>
      {only === undefined && (
        <Choose
          label="Drag to"
          value={mode.value}
          choices={drags}
          onChoose={(id) => (mode.value = id)}
        />
      )}
      {zoom.value.length === 4 && (
        <button type="button" class="btn btn-quiet btn-small" onClick={() => (zoom.value = [])}>
          Whole range
        </button>
      )}
    </>
  );
  return { use, control, mode: mode.value, zoomKey: zoom.value.join(",") };
}
