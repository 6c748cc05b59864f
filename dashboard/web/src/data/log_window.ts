// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a log that is in memory: pieces that lie behind each other, which
// grow at both ends and are let go at the other one when they are too many.
import { collapse, linesOf } from "./terminal";
import type { Line } from "./terminal";

interface Piece {
  readonly from: number; // bytes
  readonly to: number;
  readonly lines: number; // that end in it
  readonly before: string; // of a line that began before it
}

export interface LogWindow {
  readonly pieces: readonly Piece[];
  readonly lines: readonly string[]; // as they are seen
  readonly open: Line; // the last one, without an end so far
  // The first line's text where it began before all pieces; null: it did not.
  readonly head: string | null;
  readonly sizeBytes: number; // of the whole log
  // A number for the first line that stays a line's own when others come before
  // it: only differences of such numbers say something.
  readonly first: number;
}

export const PIECE_BYTES = 256 * 1024;
export const WINDOW_BYTES = 24 * 1024 * 1024;

const NEWLINE = 10;
const RETURN = 13;
const nothing: Line = { shown: "", raw: "" };

export const fromOf = ({ pieces }: LogWindow) => pieces[0]?.from ?? 0;
export const toOf = ({ pieces }: LogWindow) => pieces[pieces.length - 1]?.to ?? 0;
export const hasEarlier = (window: LogWindow) => fromOf(window) > 0;
export const hasLater = (window: LogWindow) => toOf(window) < window.sizeBytes;

export const allLines = ({ lines, open }: LogWindow): readonly string[] =>
  open.shown === "" ? lines : [...lines, open.shown];

// Where a piece that begins somewhere is best cut: at a line's beginning, where
// there is none at a return, and never in a letter. It is not cut to nothing.
export function cutOf(bytes: Uint8Array): { at: number; isInLine: boolean } {
  const inner = bytes.subarray(0, -1);
  const newline = inner.indexOf(NEWLINE);
  if (newline >= 0) return { at: newline + 1, isInLine: false };
  const ret = inner.indexOf(RETURN);
  if (ret >= 0) return { at: ret + 1, isInLine: true };
  let at = 0;
  while (at < 3 && at < inner.length && (bytes[at] & 0xc0) === 0x80) at++;
  return { at, isInLine: true };
}

// How many lines end in it.
export const countLines = (bytes: Uint8Array) =>
  bytes.reduce((count, byte) => count + Number(byte === NEWLINE), 0);

const headOf = (lines: readonly string[], open: Line) => lines[0] ?? open.raw;

// A window of one piece. text: what its bytes say, behind the cut.
export function openWindow(
  text: string,
  from: number,
  to: number,
  sizeBytes: number,
  isInLine: boolean,
): LogWindow {
  const { ended, open } = linesOf("", text);
  return {
    pieces: [{ from, to, lines: ended.length, before: "" }],
    lines: ended,
    open,
    head: isInLine ? headOf(ended, open) : null,
    sizeBytes,
    first: 0,
  };
}

// What the log has more at its end.
export function withLater(
  window: LogWindow,
  text: string,
  to: number,
  sizeBytes: number,
): LogWindow {
  const { ended, open } = linesOf(window.open.raw, text);
  const piece = { from: toOf(window), to, lines: ended.length, before: window.open.raw };
  const lines = ended.length === 0 ? window.lines : window.lines.concat(ended);
  const head = window.head === null || window.lines.length > 0 ? window.head : headOf(lines, open);
  const pieces = joined([...window.pieces, piece]);
  return shortened({ ...window, pieces, lines, open, head, sizeBytes }, false);
}

// The piece before it.
export function withEarlier(
  window: LogWindow,
  text: string,
  from: number,
  isInLine: boolean,
): LogWindow {
  const { ended, open } = linesOf("", text);
  const [first, ...others] = window.pieces;
  const piece = { from, to: first.from, lines: ended.length, before: "" };
  let { lines, open: last } = window;
  if (window.head !== null) {
    const whole = collapse(open.raw + window.head);
    if (lines.length > 0) lines = [whole.shown, ...lines.slice(1)];
    else last = whole;
  }
  lines = ended.concat(lines);
  return shortened(
    {
      pieces: [piece, { ...first, before: open.raw }, ...others],
      lines,
      open: last,
      head: isInLine ? headOf(lines, last) : null,
      sizeBytes: window.sizeBytes,
      first: window.first - ended.length,
    },
    true,
  );
}

// Small pieces at the end (a log that is followed) become one.
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const [a, b] = pieces.slice(-2);
  if (b.to - a.from > PIECE_BYTES) return pieces;
  return [...pieces.slice(0, -2), { ...a, to: b.to, lines: a.lines + b.lines }];
}

function shortened(window: LogWindow, isAtEnd: boolean): LogWindow {
  let now = window;
  while (now.pieces.length > 1 && toOf(now) - fromOf(now) > WINDOW_BYTES)
    now = isAtEnd ? withoutLast(now) : withoutFirst(now);
  return now;
}

function withoutLast(window: LogWindow): LogWindow {
  const { lines, before } = window.pieces[window.pieces.length - 1];
  return {
    ...window,
    pieces: window.pieces.slice(0, -1),
    lines: window.lines.slice(0, window.lines.length - lines),
    open: before === "" ? nothing : collapse(before),
  };
}

function withoutFirst(window: LogWindow): LogWindow {
  const [first, ...pieces] = window.pieces;
  const lines = window.lines.slice(first.lines);
  const isInLine = pieces[0].before !== "";
  const head = isInLine ? headOf(lines, window.open) : null;
  return { ...window, pieces, lines, head, first: window.first + first.lines };
}
