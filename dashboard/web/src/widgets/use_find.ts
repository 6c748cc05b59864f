// SPDX-License-Identifier: GPL-3.0-or-later
// Looks for a text in a log, upwards and downwards: in what is here, and beyond
// that the server does.
import { useEffect, useRef, useState } from "preact/hooks";
import { isArchive } from "../api";
import { plainOf } from "../data/ink";
import { searchLogs } from "../data/log_lines";
import type { LogLine } from "../data/log_lines";
import { fromOf, hasEarlier, hasLater, toOf } from "../data/log_window";
import type { LogReader } from "./use_log";

// Rows of the screen: which line, and which letters of it.
export interface Rows {
  readonly count: number;
  line(row: number): number;
  text(row: number): string;
  rowOf(line: number, letter: number): number;
}

interface FindProps {
  readonly log: LogReader;
  readonly rows: Rows;
  readonly lines: readonly string[];
  readonly path: string; // of the log's log_lines
  readonly rank: number;
  readonly first: string; // what is wanted at first
  onFound(row: number): void;
}

const lowerOf = (text: string) => plainOf(text).toLowerCase();

export function useFind(props: FindProps) {
  const { log, lines } = props;
  const [wanted, setWanted] = useState(props.first);
  const [found, setFound] = useState<number | null>(null); // counted as the window does
  const [said, setSaid] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const aborter = useRef(new AbortController());
  const firstLine = log.window?.first ?? 0;
  const line = found === null ? -1 : found - firstLine;
  const now = useRef({ ...props, line, firstLine });
  now.current = { ...props, line, firstLine };
  useEffect(() => () => aborter.current.abort(), []);

  const has = (text: string) => lowerOf(text).includes(wanted.toLowerCase());
  const go = (at: number) => {
    const { lines: here, rows, onFound } = now.current;
    if (at < 0 || at >= here.length) return;
    const letter = lowerOf(here[at]).indexOf(wanted.toLowerCase());
    setFound(at + now.current.firstLine);
    setSaid("");
    onFound(rows.rowOf(at, Math.max(letter, 0)));
  };
  // Another place of the log, with the line that begins there.
  const show = async (byte: number) => {
    const at = await log.at(byte);
    await new Promise((resolve) => setTimeout(resolve)); // until it is drawn
    if (at >= 0) go(at - now.current.firstLine); // earlier lines may have come
    else setSaid("the log has changed");
  };
  // limits: in which part of the log; the last line of it, where they say so.
  const lookBeyond = async (
    limits: Record<string, number>,
    signal: AbortSignal,
  ): Promise<LogLine | undefined> => {
    const { path, rank } = now.current;
    const query = { text: wanted, rank, limit: 1, ...limits };
    let last: LogLine | undefined;
    for await (const answer of searchLogs(path, query, signal)) {
      last = answer.lines[0] ?? last;
      if (last !== undefined && limits.last === undefined) break;
      const end = limits.until ?? answer.at?.size_bytes ?? 0;
      const part = end > 0 ? Math.floor((100 * (answer.at?.byte ?? 0)) / end) : 100;
      setSaid(`searching … ${part}%`);
    }
    return last;
  };
  const beyond = async (where: string, limits: Record<string, number> | null) => {
    if (limits === null || isArchive()) return setSaid(`not found ${where}`);
    aborter.current.abort();
    const mine = (aborter.current = new AbortController());
    setIsBusy(true);
    try {
      const next = await lookBeyond(limits, mine.signal);
      if (next === undefined) setSaid(`not found ${where}`);
      else await show(next.byte);
    } catch (error) {
      if (!mine.signal.aborted) setSaid((error as Error).message);
    }
    if (aborter.current === mine) setIsBusy(false);
  };
  const next = async () => {
    const at = lines.findIndex((text, index) => index > line && has(text));
    if (at >= 0) return go(at);
    const isMore = log.window !== null && hasLater(log.window);
    return beyond("below", isMore ? { from: toOf(log.window) } : null);
  };
  const previous = async () => {
    const at = lines.slice(0, line >= 0 ? line : lines.length).findLastIndex(has);
    if (at >= 0) return go(at);
    const isMore = log.window !== null && hasEarlier(log.window);
    return beyond("above", isMore ? { until: fromOf(log.window), last: 1 } : null);
  };
  return {
    wanted,
    line,
    said,
    isBusy,
    next,
    previous,
    show,
    stop: () => {
      aborter.current.abort();
      setSaid("stopped");
    },
    setWanted: (text: string) => {
      aborter.current.abort();
      setWanted(text);
      setFound(null);
      setSaid("");
    },
  };
}
