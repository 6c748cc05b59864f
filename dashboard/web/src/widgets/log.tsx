// SPDX-License-Identifier: GPL-3.0-or-later
// A log, its end first. What was before is read when somebody scrolls there;
// only the lines on the screen are in the document.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, isArchive } from "../api";
import { Choose } from "../charts/controls";
import { PIECE_BYTES, allLines, fromOf, hasEarlier, hasLater, toOf } from "../data/log_window";
import type { LogWindow } from "../data/log_window";
import { formatBytes } from "../data/format";
import { inkAt, inkBefore, letterOf, placeOf, plainOf } from "../data/ink";
import { breaksOf } from "../data/terminal";
import { href, query } from "../url";
import { useTallScroll } from "./tall_scroll";
import { useFind } from "./use_find";
import type { Rows } from "./use_find";
import { useLog } from "./use_log";

const ROW_PX = 18;
const LINE_MAX = 4000; // letters of a line that are drawn where it is not wrapped
const ONE_LINE_MAX_BYTES = 4 * 1024 * 1024;
const OVERSCAN_ROWS = 10;
const PAD_PX = 12;
const BAR_PX = 12; // for a scroll bar at its bottom
const MIN_PX = 80;

const shortText = (text: string) =>
  text.length <= LINE_MAX
    ? text
    : `${text.slice(0, LINE_MAX)} … ${text.length - LINE_MAX} more characters (“Wrap” shows them)`;

const plainRows = (lines: readonly string[]): Rows => ({
  count: lines.length,
  line: (row) => row,
  text: (row) => shortText(lines[row]),
  rowOf: (line) => line,
});

function wrappedRows(lines: readonly string[], columns: number): Rows {
  const first = new Uint32Array(lines.length + 1); // row of each line
  const starts: number[] = [];
  const lineOf: number[] = [];
  lines.forEach((text, line) => {
    first[line] = starts.length;
    for (const start of text.length <= columns / 2 ? [0] : breaksOf(text, columns)) {
      starts.push(start);
      lineOf.push(line);
    }
  });
  first[lines.length] = starts.length;
  const endOf = (row: number) => (lineOf[row + 1] === lineOf[row] ? starts[row + 1] : undefined);
  return {
    count: starts.length,
    line: (row) => lineOf[row],
    text: (row) => {
      const text = lines[lineOf[row]];
      return letterOf(inkBefore(text, starts[row])) + text.slice(starts[row], endOf(row));
    },
    rowOf(line, letter) {
      const place = placeOf(lines[line], letter);
      let row = first[line];
      while (row + 1 < first[line + 1] && starts[row + 1] <= place) row++;
      return row;
    },
  };
}

const inkClass = (ink: number) => `ink-${ink % 8}${ink >= 8 ? " strong" : ""}`;

// 1 for each letter that is part of what was looked for.
function marksOf(text: string, wanted: string): Uint8Array {
  const marks = new Uint8Array(text.length);
  const lower = text.toLowerCase();
  if (wanted === "") return marks;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length))
    marks.fill(1, at, at + wanted.length);
  return marks;
}

// Its text in its inks, with each place that was looked for marked.
function Letters({ text, wanted }: { text: string; wanted: string }) {
  const plain = plainOf(text);
  const marks = marksOf(plain, wanted);
  const parts: ComponentChildren[] = [];
  let [from, to, ink] = [0, 0, 0];
  const close = () => {
    const part = plain.slice(from, to);
    if (part === "") return;
    if (marks[from] === 1) parts.push(<mark>{part}</mark>);
    else parts.push(ink === 0 ? part : <span class={inkClass(ink)}>{part}</span>);
    from = to;
  };
  for (let i = 0; i < text.length; i++) {
    const next = inkAt(text, i);
    if (next >= 0 || marks[to] !== marks[from]) close();
    if (next >= 0) ink = next;
    else to++;
  }
  close();
  return <>{parts}</>;
}

function whatIsSeen(window: LogWindow): string {
  const size = formatBytes(window.sizeBytes);
  if (window.sizeBytes === 0) return "empty";
  if (!hasEarlier(window) && !hasLater(window)) return `complete, ${size}`;
  const read = formatBytes(toOf(window) - fromOf(window));
  if (!hasLater(window)) return `the last ${read} of ${size}`;
  return hasEarlier(window) ? `${read} of ${size}` : `the first ${read} of ${size}`;
}

export interface LogProps {
  readonly path: string; // behind /api/v1
  readonly label: string;
  readonly isGrowing: boolean;
  // Where it opens, with what the address has as `find` marked; else at its end.
  readonly at?: LogPlace;
}

export interface LogPlace {
  readonly rank: number;
  readonly byte: number; // where a line begins
}

export function Log({ path, label, isGrowing, at }: LogProps) {
  const [rank, setRank] = useState(at?.rank ?? 0);
  const opensAt = useRef(at);
  const log = useLog(
    rank === 0 ? path : `${path}?rank=${rank}`,
    isGrowing,
    opensAt.current !== undefined,
  );
  const { window } = log;
  const whole = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [isWrapped, setIsWrapped] = useState(false);
  const [letterPx, setLetterPx] = useState(7.8);
  const lines = useMemo(() => (window === null ? [] : allLines(window)), [window]);
  const [columns, setColumns] = useState(80);
  const rows = useMemo(
    () => (isWrapped ? wrappedRows(lines, columns) : plainRows(lines)),
    [lines, isWrapped, columns],
  );
  const scroll = useTallScroll(scroller, rows.count * ROW_PX + 2 * PAD_PX, 0);
  useEffect(() => {
    setColumns(Math.max(Math.floor((scroll.widthPx - 2 * PAD_PX) / letterPx), 10));
  }, [scroll.widthPx, letterPx]);
  useLetterWidth(scroller, setLetterPx);
  const isAtEnd = useStay(scroll, rows, window);
  const find = useFind({
    log,
    rows,
    lines,
    path: `${path}_lines`,
    rank,
    first: at === undefined ? "" : (query.peek().get("find") ?? ""),
    onFound: (row) => scroll.goTo(row * ROW_PX - scroll.heightPx / 3),
  });
  useEffect(() => {
    const place = opensAt.current;
    opensAt.current = undefined;
    if (place === undefined) return;
    void find.show(place.byte).then(() => whole.current?.scrollIntoView({ block: "nearest" }));
  }, []);

  // Near the top, what is before comes by itself; but not without end where it
  // is all one line.
  const asked = useRef({ window: null as LogWindow | null, rowCount: 0, inVainBytes: 0 });
  const isNearTop = scroll.heightPx > 0 && scroll.topPx < 3 * ROW_PX;
  useEffect(() => {
    if (!isNearTop || window === null || !hasEarlier(window)) return;
    if (asked.current.window === window || (scroller.current?.scrollTop ?? 0) > 3 * ROW_PX) return;
    const isInVain = rows.count === asked.current.rowCount;
    const inVainBytes = isInVain ? asked.current.inVainBytes + PIECE_BYTES : 0;
    if (inVainBytes > ONE_LINE_MAX_BYTES) return;
    asked.current = { window, rowCount: rows.count, inVainBytes };
    void log.earlier();
  }, [isNearTop, window, rows.count]);
  useEffect(() => {
    if (isAtEnd && window !== null && hasLater(window)) void log.later();
  }, [isAtEnd, window]);

  if (log.error !== null && window === null) return <LogError error={log.error} />;
  const first = Math.max(Math.floor((scroll.topPx - PAD_PX) / ROW_PX) - OVERSCAN_ROWS, 0);
  const end = Math.min(
    Math.ceil((scroll.topPx + scroll.heightPx) / ROW_PX) + OVERSCAN_ROWS,
    rows.count,
  );
  const shown = [];
  for (let row = first; row < end; row++) shown.push(row);
  return (
    <div ref={whole} class="log">
      <div class="log-tools">
        <form
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            void find.previous();
          }}
        >
          <input
            class="input"
            type="search"
            placeholder="find in the log"
            aria-label={`find in ${label}`}
            value={find.wanted}
            onInput={(event) => find.setWanted(event.currentTarget.value)}
          />
          <button type="submit" class="btn btn-small" disabled={find.wanted === ""}>
            Previous
          </button>
          <button
            type="button"
            class="btn btn-small"
            disabled={find.wanted === ""}
            onClick={() => void find.next()}
          >
            Next
          </button>
          {find.isBusy && (
            <button type="button" class="btn btn-small" onClick={find.stop}>
              Stop
            </button>
          )}
        </form>
        <span class="log-said muted small" role="status">
          {find.said}
        </span>
        {log.ranks > 1 && (
          <Choose
            label="Rank"
            value={String(rank)}
            choices={Array.from({ length: log.ranks }, (_, i) => ({ id: `${i}`, text: `${i}` }))}
            onChoose={(id) => {
              setRank(Number(id));
              find.setWanted("");
            }}
          />
        )}
        <div class="btns">
          {!isArchive() && (
            <a
              class="btn btn-small"
              href={href(
                `${path.split("/jobs")[0]}/logs`,
                new Map(find.wanted === "" ? [] : [["find", find.wanted]]),
              )}
            >
              All logs
            </a>
          )}
          <button
            type="button"
            class="btn btn-small"
            aria-pressed={isWrapped}
            onClick={() => setIsWrapped(!isWrapped)}
          >
            Wrap
          </button>
          <button
            type="button"
            class="btn btn-small"
            onClick={() => void log.begin().then(() => scroll.goTo(0))}
          >
            Beginning
          </button>
          <button
            type="button"
            class="btn btn-small"
            onClick={() => void log.end().then(() => scroll.goTo(Infinity))}
          >
            End
          </button>
        </div>
      </div>
      <div
        ref={scroller}
        class="log-text"
        role="region"
        aria-label={label}
        tabIndex={0}
        style={{
          height: `min(60vh, ${Math.max(MIN_PX, rows.count * ROW_PX + 2 * PAD_PX + BAR_PX)}px)`,
        }}
      >
        <div class="log-all" style={{ height: `${scroll.physicalPx}px` }}>
          <div
            class="log-rows"
            style={{ transform: `translateY(${first * ROW_PX + PAD_PX + scroll.shiftPx}px)` }}
          >
            {shown.map((row) => (
              <div
                key={row + (window?.first ?? 0)}
                class={`log-row${rows.line(row) === find.line ? " is-found" : ""}`}
              >
                <Letters text={rows.text(row)} wanted={find.wanted.toLowerCase()} />
              </div>
            ))}
          </div>
        </div>
      </div>
      <p class="muted small">
        {window !== null && whatIsSeen(window)}
        {window === null && "Loading …"}
        {isGrowing && window !== null && !hasLater(window) && ", live"}
        {log.error !== null && `; ${log.error.message}`}
      </p>
    </div>
  );
}

function LogError({ error }: { error: Error }) {
  const isElsewhere = error instanceof ApiError && error.kind === "not_in_file";
  return (
    <p class="muted">
      {isElsewhere
        ? "This file does not contain the log."
        : `Cannot read the log: ${error.message}`}
    </p>
  );
}

function useLetterWidth(
  scroller: { readonly current: HTMLElement | null },
  set: (letterPx: number) => void,
): void {
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const context = document.createElement("canvas").getContext("2d");
    if (context === null) return;
    context.font = getComputedStyle(element).font;
    set(context.measureText("0".repeat(100)).width / 100);
  }, []);
}

// Keeps at the end who is there when lines come; keeps in its place who reads
// when lines come above. Whether it is at the end.
function useStay(
  scroll: ReturnType<typeof useTallScroll>,
  rows: Rows,
  window: LogWindow | null,
): boolean {
  const rowCount = rows.count;
  const before = useRef({ rowCount: 0, from: -1, isAtEnd: true });
  const highestPx = rowCount * ROW_PX + 2 * PAD_PX - scroll.heightPx;
  const isAtEnd = scroll.topPx >= highestPx - 2 * ROW_PX;
  useLayoutEffect(() => {
    const old = before.current;
    const from = window === null ? -1 : fromOf(window);
    const more = rowCount - old.rowCount;
    if (old.isAtEnd && more !== 0 && (window === null || !hasLater(window))) scroll.goTo(Infinity);
    else if (window !== null && from < old.from)
      scroll.goTo(scroll.topPx + rows.rowOf(window.pieces[0].lines, 0) * ROW_PX);
    before.current = { rowCount, from, isAtEnd: more !== 0 ? old.isAtEnd : isAtEnd };
  }, [window, rowCount, isAtEnd]);
  return isAtEnd;
}
