// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of logs with a text, as the server finds them: an answer has those of as
// much as it searches at a time, and where to go on (dashboard/api/log_lines.c).
import { getJson } from "../api";

export interface LogLine {
  readonly job: number;
  readonly attempt: number;
  readonly rank: number;
  readonly line: number;
  readonly byte: number; // where it begins
  readonly before: string;
  readonly match: string;
  readonly after: string;
  readonly is_cut: boolean;
}

export interface LogLines {
  readonly lines: readonly LogLine[];
  readonly count: number;
  readonly logs: number; // searched to their ends
  readonly bytes: number; // searched
  readonly unreadable: number; // logs
  readonly undecided: number; // lines
  readonly at: {
    readonly job: number;
    readonly byte: number;
    readonly size_bytes: number;
  } | null;
  readonly next: string | null; // null: that was all
}

// path: of log_lines, behind /api/v1.
export async function* searchLogs(
  path: string,
  query: Readonly<Record<string, string | number>>,
  signal: AbortSignal,
): AsyncGenerator<LogLines, void, void> {
  const asked = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, `${value}`]));
  for (;;) {
    const answer = await getJson<LogLines>(`${path}?${asked.toString()}`, signal);
    yield answer;
    if (answer.next === null) return;
    asked.set("after", answer.next);
  }
}
