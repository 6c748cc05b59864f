// SPDX-License-Identifier: GPL-3.0-or-later
// Which of a column's rows to see: a range with a picture of how its numbers
// lie, its words as a list with counts, or a text that they contain.
import { useMemo, useState } from "preact/hooks";
import { formatNumber } from "../data/columns";
import { select, withFilter } from "../model/selection";
import { formatCount } from "../shell/format";
import type { Column, Filter, RunModel } from "../types";

const BINS = 32;
const WORDS_SHOWN = 300;
const TIME_FIELD = { type: "datetime-local", step: 1 } as const;
const NUMBER_FIELD = { type: "text", inputMode: "decimal" } as const;

// The rows that all other columns' filters let through.
function othersMask(run: RunModel, name: string): Uint8Array {
  return select(run.table.value, withFilter(run.filters.value, name, null)).mask;
}

const isKnown = (column: Column, row: number) =>
  Number.isFinite(column.data[row]) && (column.kind !== "int" || column.data[row] !== column.none);

export interface Histogram {
  readonly min: number;
  readonly max: number;
  readonly unknown: number; // rows without a finite number
  readonly bins: Uint32Array;
}

// How a column's numbers lie; on a logarithmic scale where they are all above
// zero and some are a thousand times others.
export function histogramOf(column: Column, mask: Uint8Array): Histogram & { isLog: boolean } {
  let min = Infinity;
  let max = -Infinity;
  let unknown = 0;
  for (let row = 0; row < mask.length; row++) {
    if (!mask[row]) continue;
    if (!isKnown(column, row)) unknown++;
    else {
      min = Math.min(min, column.data[row]);
      max = Math.max(max, column.data[row]);
    }
  }
  const isLog = min > 0 && max / min > 1000;
  const scale = isLog ? Math.log : (number: number) => number;
  const bins = new Uint32Array(BINS);
  const width = (scale(max) - scale(min)) / BINS || 1;
  for (let row = 0; row < mask.length; row++) {
    if (!mask[row] || !isKnown(column, row)) continue;
    bins[Math.min(Math.floor((scale(column.data[row]) - scale(min)) / width), BINS - 1)]++;
  }
  return { min, max, unknown, bins, isLog };
}

function Picture({
  histogram,
  low,
  high,
}: {
  histogram: Histogram & { isLog: boolean };
  low: number;
  high: number;
}) {
  const { min, max, bins, isLog } = histogram;
  const most = Math.max(...bins, 1);
  const place = (number: number) => {
    const scale = isLog ? Math.log : (one: number) => one;
    return ((scale(number) - scale(min)) / (scale(max) - scale(min) || 1)) * BINS;
  };
  return (
    <svg class="histogram" viewBox={`0 0 ${BINS} 28`} preserveAspectRatio="none" aria-hidden="true">
      {Array.from(bins, (count, bin) => {
        const height = count === 0 ? 0 : Math.max((count / most) * 28, 1);
        const isIn = bin + 1 > place(low) && bin < place(high) + 1e-9;
        return (
          <rect
            key={bin}
            class={isIn ? "bin-chosen" : "bin"}
            x={bin + 0.06}
            y={28 - height}
            width={0.88}
            height={height}
          />
        );
      })}
    </svg>
  );
}

// A time in a field of its kind, in the reader's zone, and back.
function timeText(ms: number): string {
  if (!Number.isFinite(ms)) return "";
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

const boundOf = (text: string, isTime: boolean, open: number) =>
  text.trim() === "" ? open : isTime ? new Date(text).getTime() : Number(text);

interface FilterProps {
  run: RunModel;
  column: Column;
  filter: Filter | undefined;
  onChange: (filter: Filter | null) => void;
}

function RangeFilter({ run, column, filter, onChange }: FilterProps) {
  const isTime = column.kind === "time";
  const histogram = useMemo(
    () => histogramOf(column, othersMask(run, column.name)),
    [run.table.value, run.filters.value, column.name],
  );
  const low = filter?.kind === "range" ? filter.min : -Infinity;
  const high = filter?.kind === "range" ? filter.max : Infinity;
  const [isWrong, setIsWrong] = useState(false);
  const show = (number: number) =>
    !Number.isFinite(number) ? "" : isTime ? timeText(number) : String(number);
  const set = (text: string, isLow: boolean) => {
    const bound = boundOf(text, isTime, isLow ? -Infinity : Infinity);
    setIsWrong(Number.isNaN(bound));
    if (Number.isNaN(bound)) return;
    const next = isLow ? { min: bound, max: high } : { min: low, max: bound };
    const isOpen = next.min === -Infinity && next.max === Infinity;
    onChange(isOpen ? null : { kind: "range", ...next });
  };
  const field = (label: string, isLow: boolean) => (
    <label class="field">
      <span class="label">{label}</span>
      <input
        class="input"
        {...(isTime ? TIME_FIELD : NUMBER_FIELD)}
        value={show(isLow ? low : high)}
        placeholder={isTime ? "" : formatNumber(isLow ? histogram.min : histogram.max)}
        aria-invalid={isWrong}
        onChange={(event) => set(event.currentTarget.value, isLow)}
      />
    </label>
  );
  const hasNumbers = histogram.max >= histogram.min;
  return (
    <>
      {hasNumbers && <Picture histogram={histogram} low={low} high={high} />}
      <div class="range">
        {field("at least", true)}
        {field("at most", false)}
      </div>
      <p class="muted small">
        {hasNumbers &&
          !isTime &&
          `From ${formatNumber(histogram.min)} to ${formatNumber(
            histogram.max,
          )}${histogram.isLog ? ", drawn on a logarithmic scale" : ""}. `}
        {histogram.unknown > 0 &&
          `${formatCount(histogram.unknown)} without a value are in no range.`}
      </p>
    </>
  );
}

function wordCounts(column: Column, mask: Uint8Array): { word: string; count: number }[] {
  const counts = new Uint32Array(column.none + 1);
  for (let row = 0; row < mask.length; row++) counts[column.data[row]] += mask[row];
  const known = column.words.map((word, index) => ({ word, count: counts[index] }));
  const none = counts[column.none] > 0 ? [{ word: "", count: counts[column.none] }] : [];
  return [...known, ...none].toSorted((a, b) => b.count - a.count);
}

function WordsFilter({ run, column, filter, onChange }: FilterProps) {
  const [text, setText] = useState(filter?.kind === "text" ? filter.text : "");
  const all = useMemo(
    () => wordCounts(column, othersMask(run, column.name)),
    [run.table.value, run.filters.value, column.name],
  );
  const chosen = new Set(filter?.kind === "words" ? filter.words : all.map(({ word }) => word));
  const found = all.filter(({ word }) => word.toLowerCase().includes(text.toLowerCase()));
  const set = (words: readonly string[]) =>
    onChange(words.length === all.length || words.length === 0 ? null : { kind: "words", words });
  const toggle = (word: string) =>
    set(chosen.has(word) ? [...chosen].filter((one) => one !== word) : [...chosen, word]);
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onChange(text === "" ? null : { kind: "text", text });
        }}
      >
        <input
          class="input"
          type="search"
          value={text}
          placeholder="find; Enter filters by the text"
          aria-label={`find in ${column.name}`}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </form>
      <div class="btns">
        <button
          type="button"
          class="btn btn-small"
          onClick={() => set(all.map(({ word }) => word))}
        >
          All
        </button>
        {text !== "" && (
          <button
            type="button"
            class="btn btn-small"
            onClick={() => set(found.map(({ word }) => word))}
          >
            These {formatCount(found.length)}
          </button>
        )}
      </div>
      <div class="choices">
        {found.slice(0, WORDS_SHOWN).map(({ word, count }) => (
          <div class="choice" key={word}>
            <label>
              <input
                type="checkbox"
                checked={filter?.kind !== "text" && chosen.has(word)}
                onChange={() => toggle(word)}
              />
              <span class="what">{word === "" ? <i class="muted">none</i> : word}</span>
              <span class="count">{formatCount(count)}</span>
            </label>
            <button
              type="button"
              class="btn btn-quiet btn-small"
              aria-label={`only ${word || "none"}`}
              onClick={() => set([word])}
            >
              only
            </button>
          </div>
        ))}
      </div>
      {found.length > WORDS_SHOWN && (
        <p class="muted small">
          The first {WORDS_SHOWN} of {formatCount(found.length)}: enter a text to find others.
        </p>
      )}
    </>
  );
}

export function ColumnFilter({ run, column }: { run: RunModel; column: Column }) {
  const filter = run.filters.value.get(column.name);
  const onChange = (next: Filter | null) => {
    run.filters.value = withFilter(run.filters.peek(), column.name, next);
  };
  const Kind = column.kind === "words" ? WordsFilter : RangeFilter;
  return (
    <>
      <Kind run={run} column={column} filter={filter} onChange={onChange} />
      {filter !== undefined && (
        <button type="button" class="btn btn-small" onClick={() => onChange(null)}>
          Clear this filter
        </button>
      )}
    </>
  );
}
