// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a log by ranges of its bytes: its end first or a place of it, what is
// before that when it is asked for, and what comes behind it as long as it grows.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getRange } from "../api";
import {
  PIECE_BYTES,
  countLines,
  cutOf,
  fromOf,
  hasEarlier,
  hasLater,
  openWindow,
  toOf,
  withEarlier,
  withLater,
} from "../data/log_window";
import type { LogWindow } from "../data/log_window";

const FOLLOW_MS = 1000;

export interface LogReader {
  readonly window: LogWindow | null; // null: nothing has come yet
  readonly error: Error | null;
  readonly ranks: number; // that have a log like this one; 1: there is only it
  // The piece before, or behind, what is there. False where there is none.
  earlier(): Promise<boolean>;
  later(): Promise<boolean>;
  // Another place: the log's first piece, or its last.
  begin(): Promise<void>;
  end(): Promise<void>;
  // The piece around the line that begins at a byte; which line of it that is,
  // or -1.
  at(byte: number): Promise<number>;
}

// path: of the log, behind /api/v1. isGrowing: somebody may still write to it.
// waits: it is not opened at its end, but where the caller wants.
export function useLog(path: string, isGrowing: boolean, waits: boolean): LogReader {
  const [window, setWindow] = useState<LogWindow | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [ranks, setRanks] = useState(1);
  const reader = useMemo(() => makeReader(path, setWindow, setError, setRanks), [path]);

  useEffect(() => {
    if (!waits) void reader.end();
    return reader.close;
  }, [reader]);
  const wasGrowing = useRef(isGrowing);
  useEffect(() => {
    const more = () => {
      if (!document.hidden && reader.isAtEnd()) void reader.later();
    };
    // What was written between the last look and its end.
    if (wasGrowing.current && !isGrowing) more();
    wasGrowing.current = isGrowing;
    if (!isGrowing) return undefined;
    const timer = setInterval(more, FOLLOW_MS);
    return () => clearInterval(timer);
  }, [reader, isGrowing]);

  return { window, error, ranks, ...reader };
}

function makeReader(
  path: string,
  onWindow: (window: LogWindow) => void,
  onError: (error: Error | null) => void,
  onRanks: (ranks: number) => void,
) {
  const aborter = new AbortController();
  let window: LogWindow | null = null;
  let decoder = new TextDecoder(); // of what comes behind the window
  let decodedTo = -1;
  let wasAtEnd = true; // what is seen goes to where the log ended
  let last: Promise<unknown> = Promise.resolve();

  const show = (next: LogWindow) => {
    window = next;
    onWindow(next);
  };
  // One question after the other; an error is shown, and the next may go well.
  const ask = <T>(question: () => Promise<T>, otherwise: T): Promise<T> => {
    const answer = last.then(async () => {
      if (aborter.signal.aborted) return otherwise;
      try {
        const result = await question();
        onError(null);
        return result;
      } catch (error) {
        if (!aborter.signal.aborted) onError(error as Error);
        return otherwise;
      }
    });
    last = answer;
    return answer;
  };
  const open = async (from: number) => {
    const piece = await getRange(path, from, PIECE_BYTES, aborter.signal);
    onRanks(piece.ranks);
    const cut = piece.from > 0 ? cutOf(piece.bytes) : { at: 0, isInLine: false };
    decoder = new TextDecoder();
    const text = decoder.decode(piece.bytes.subarray(cut.at), { stream: true });
    decodedTo = piece.from + piece.bytes.length;
    wasAtEnd = from < 0;
    show(openWindow(text, piece.from + cut.at, decodedTo, piece.sizeBytes, cut.isInLine));
    return { ...piece, cut: cut.at };
  };
  const at = async (byte: number) => {
    const from = Math.max(0, byte - PIECE_BYTES / 2);
    const piece = await open(from);
    wasAtEnd = window !== null && !hasLater(window);
    const before = byte - piece.from;
    return before < piece.bytes.length
      ? countLines(piece.bytes.subarray(piece.cut, before))
      : -1; // it has become shorter
  };
  const later = async () => {
    if (window === null) {
      await open(-PIECE_BYTES);
      return true;
    }
    const to = toOf(window);
    const piece = await getRange(path, to, PIECE_BYTES, aborter.signal);
    onRanks(piece.ranks);
    if (piece.sizeBytes < to) await open(-PIECE_BYTES); // it was written anew
    if (piece.bytes.length === 0 || piece.sizeBytes < to) return false;
    if (to !== decodedTo) decoder = new TextDecoder();
    const text = decoder.decode(piece.bytes, { stream: true });
    decodedTo = to + piece.bytes.length;
    show(withLater(window, text, decodedTo, piece.sizeBytes));
    wasAtEnd = !hasLater(window);
    return true;
  };
  const earlier = async () => {
    if (window === null || !hasEarlier(window)) return false;
    const to = fromOf(window);
    const from = Math.max(0, to - PIECE_BYTES);
    const { bytes } = await getRange(path, from, to - from, aborter.signal);
    const cut = from > 0 ? cutOf(bytes) : { at: 0, isInLine: false };
    const text = new TextDecoder().decode(bytes.subarray(cut.at));
    show(withEarlier(window, text, from + cut.at, cut.isInLine));
    wasAtEnd &&= !hasLater(window);
    return true;
  };
  return {
    earlier: () => ask(earlier, false),
    later: () => ask(later, false),
    begin: () => ask(async () => void (await open(0)), undefined),
    end: () => ask(async () => void (await open(-PIECE_BYTES)), undefined),
    at: (byte: number) => ask(() => at(byte), -1),
    isAtEnd: () => wasAtEnd,
    close: () => aborter.abort(),
  };
}
