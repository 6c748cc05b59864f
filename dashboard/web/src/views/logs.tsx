// SPDX-License-Identifier: GPL-3.0-or-later
// A text in all logs of a run: the lines that have it, each with a link to its
// log. The server searches; a part of the page that is loaded later.
import { useEffect, useRef, useState } from "preact/hooks";
import { Check, useHeldText } from "../charts/controls";
import { rowOf } from "../data/columns";
import { formatBytes } from "../data/format";
import { searchLogs } from "../data/log_lines";
import type { LogLine, LogLines } from "../data/log_lines";
import { formatCount, formatMany } from "../shell/format";
import type { RunModel, ViewProps } from "../types";
import { href, query } from "../url";
import { rowTitle, rowWord } from "./trial_columns";

const LINES_STEP = 500; // that are looked for before it asks whether to go on
const ANSWER_LINES = 100;

interface Found {
  readonly lines: readonly LogLine[];
  readonly logs: number;
  readonly bytes: number;
  readonly unreadable: number;
  readonly undecided: number;
  readonly job: number; // that it came to
  readonly next: string | null;
}

const nothing: Found = {
  lines: [],
  logs: 0,
  bytes: 0,
  unreadable: 0,
  undecided: 0,
  job: 0,
  next: "",
};

const withAnswer = (found: Found, answer: LogLines): Found => ({
  lines: found.lines.concat(answer.lines),
  logs: found.logs + answer.logs,
  bytes: found.bytes + answer.bytes,
  unreadable: found.unreadable + answer.unreadable,
  undecided: found.undecided + answer.undecided,
  job: answer.at?.job ?? found.job,
  next: answer.next,
});

// What is looked for: a query of log_lines.
type Wanted = Readonly<Record<"text" | "ignore_case" | "regex", string>>;

function useSearch(path: string) {
  const [found, setFound] = useState<Found | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const aborter = useRef(new AbortController());
  const wanted = useRef<Wanted | null>(null);
  useEffect(() => () => aborter.current.abort(), []);

  const search = async (from: Found) => {
    aborter.current.abort();
    const mine = (aborter.current = new AbortController());
    const asked: Record<string, string | number> = { ...wanted.current, limit: ANSWER_LINES };
    if (from.next) asked.after = from.next;
    let now = from;
    setFound(now);
    setError(null);
    setIsBusy(true);
    try {
      for await (const answer of searchLogs(path, asked, mine.signal)) {
        now = withAnswer(now, answer);
        if (aborter.current !== mine) return;
        setFound(now);
        if (now.lines.length >= from.lines.length + LINES_STEP) break;
      }
    } catch (problem) {
      if (!mine.signal.aborted) setError(problem as Error);
    }
    if (aborter.current === mine) setIsBusy(false);
  };
  return {
    found,
    error,
    isBusy,
    start: (next: Wanted) => {
      wanted.current = next;
      void search(nothing);
    },
    goOn: () => void search(found ?? nothing),
    stop: () => aborter.current.abort(),
  };
}

function whatIsFound(run: RunModel, found: Found, isBusy: boolean): string {
  const parts = [
    `${formatMany(found.lines.length, "line")} found`,
    `${formatMany(found.logs, "log")} searched (${formatBytes(found.bytes)})`,
  ];
  if (found.next !== null && found.job > 0)
    parts.push(`${isBusy ? "now" : "up to"} ${rowWord(run)} ${found.job}`);
  if (found.unreadable > 0) parts.push(`${formatMany(found.unreadable, "log")} not readable`);
  if (found.undecided > 0)
    parts.push(`${formatMany(found.undecided, "line")} too complex for the regular expression`);
  return parts.join(", ");
}

function Line({ run, line }: { run: RunModel; line: LogLine }) {
  const { job, attempt, rank, byte } = line;
  const place = [job, attempt, rank, byte].join(".");
  const isCurrent = query.value.get("log") === place;
  const kept = new Map([...query.value, ["trial", `${job}`], ["log", place]]);
  return (
    <tr class={isCurrent ? "current" : ""}>
      <td class="num">
        <a href={href(`/runs/${run.id}/logs`, kept)}>{job}</a>
      </td>
      <td class="num">{rank > 0 ? `${attempt}, rank ${rank}` : attempt}</td>
      <td class="num">{formatCount(line.line)}</td>
      <td class="log-hit">
        {line.before}
        <mark>{line.match}</mark>
        {line.after}
        {line.is_cut && <span class="muted"> …</span>}
      </td>
    </tr>
  );
}

export function LogsView({ run }: ViewProps) {
  const find = useHeldText("find");
  const matchCase = useHeldText("case");
  const regex = useHeldText("regex");
  const [draft, setDraft] = useState(find.value);
  const { found, error, isBusy, start, goOn, stop } = useSearch(`/runs/${run.id}/log_lines`);
  const begun = useRef("");
  const begin = (text: string) => {
    begun.current = text;
    start({
      text,
      ignore_case: matchCase.peek() === "" ? "1" : "0",
      regex: regex.peek() === "" ? "0" : "1",
    });
  };
  // The address has a text when it opens, and another one by a link of a log beside it.
  useEffect(() => {
    if (find.value === "" || find.value === begun.current) return;
    setDraft(find.value);
    begin(find.value);
  }, [find.value]);
  const table = run.table.value;
  const { mask } = run.selection.value;
  const lines = found?.lines.filter(({ job }) => mask[rowOf(table, job)] !== 0) ?? [];
  const left = (found?.lines.length ?? 0) - lines.length;
  return (
    <div class="card logs">
      <form
        class="row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          begin(draft);
          find.value = draft;
        }}
      >
        <input
          class="input"
          type="search"
          placeholder="find in all logs"
          aria-label="find in all logs"
          value={draft}
          onInput={(event) => setDraft(event.currentTarget.value)}
        />
        <button type="submit" class="btn btn-small btn-primary" disabled={draft === ""}>
          Search
        </button>
        {isBusy && (
          <button type="button" class="btn btn-small" onClick={stop}>
            Stop
          </button>
        )}
        <Check
          label="Match case"
          isOn={matchCase.value !== ""}
          onChange={(isOn) => (matchCase.value = isOn ? "1" : "")}
        />
        <Check
          label="Regular expression"
          isOn={regex.value !== ""}
          onChange={(isOn) => (regex.value = isOn ? "1" : "")}
        />
      </form>
      <p class="muted small" role="status">
        {found !== null && whatIsFound(run, found, isBusy)}
        {left > 0 && `; ${formatMany(left, "line")} outside the selection`}
      </p>
      {error !== null && <p class="problem">{error.message}</p>}
      {lines.length > 0 && (
        <div class="table-scroll" role="region" tabIndex={0} aria-label="Lines">
          <table class="table table-plain">
            <thead>
              <tr>
                <th scope="col" class="num">
                  {rowTitle(run)}
                </th>
                <th scope="col" class="num">
                  Attempt
                </th>
                <th scope="col" class="num">
                  Line
                </th>
                <th scope="col">Text</th>
              </tr>
            </thead>
            <tbody>
              {lines.map((line) => (
                <Line key={`${line.job}.${line.attempt}.${line.rank}.${line.line}`} run={run} line={line} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {found !== null && found.next !== null && !isBusy && error === null && (
        <button type="button" class="btn btn-small" onClick={goOn}>
          Continue
        </button>
      )}
    </div>
  );
}
