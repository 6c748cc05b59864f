// SPDX-License-Identifier: GPL-3.0-or-later
// One trial (or a workflow's job), as a page and beside another view.
import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { openRetry } from "../actions/engine";
import { openEnqueue } from "../actions/enqueue";
import { openNote, openTags } from "../actions/notes";
import { rowOf } from "../data/columns";
import { bestRows } from "../model/best";
import { toggleCompared, withOnly } from "../model/compared";
import { nowMs } from "../shell/clock";
import { useKeys } from "../shell/keys";
import { runs } from "../shell/runs";
import { mayAct } from "../shell/session";
import { StateBadge } from "../shell/states";
import type { RunModel, ViewProps } from "../types";
import { href, isOfRun, query } from "../url";
import "../css/trial.css";
import { CurvesView } from "./curves";
import { isWorkflow, rowTitle, rowWord, textOf } from "./trial_columns";
import { useAnswer } from "./trial_document";
import type { JobDocument, WhyJob, WhyTrial } from "./trial_document";
import { TrialParams, TrialValues } from "./trial_setting";
import { Attempts, Metrics, Missing, Rungs, Why } from "./trial_story";

// What of a row says that its documents are others now.
const STAMPS = ["state", "attempts", "cause", "last_started", "ended", "reached", "rung"];

function stampOf(run: RunModel, row: number): string {
  const table = run.table.value;
  const values = STAMPS.map((name) => table.byName.get(name)?.data[row]);
  return [run.document.value.state, ...values].join();
}

const FRESH_MS = 3000;

function isOn(run: RunModel): boolean {
  const state = runs.value?.get(run.id)?.state ?? run.document.value.state;
  return state === "running" || state === "paused";
}

// The next number behind (or before) it that all filters let through; 0: none.
function neighbour(run: RunModel, step: 1 | -1): number {
  const table = run.table.peek();
  const { mask } = run.selection.peek();
  const numbers = table.byName.get("number")?.data;
  let row = rowOf(table, run.focused.peek()) + step;
  while (row >= 0 && row < table.rows && !mask[row]) row += step;
  return row >= 0 && row < table.rows ? (numbers?.[row] ?? 0) : 0;
}

function step(run: RunModel, by: 1 | -1): boolean {
  const next = neighbour(run, by);
  if (next !== 0) run.focused.value = next;
  return next !== 0;
}

// A command that shows the same in a terminal.
function Command({ text }: { text: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1500);
  };
  return (
    <p class="trial-command">
      <code>{text}</code>
      <button type="button" class="btn btn-quiet btn-small" onClick={() => void copy()}>
        {isCopied ? "copied" : "copy"}
      </button>
    </p>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card trial-part" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

// What may be done to it.
function Actions({ run, row, job }: { run: RunModel; row: number; job: JobDocument | null }) {
  if (!mayAct.value) return null;
  const table = run.table.value;
  const number = table.byName.get("number")?.data[row] ?? 0;
  const state = table.byName.get("state");
  const isFailed = state !== undefined && textOf(state, row) === "failed";
  const button = (text: string, open: () => void) => (
    <button type="button" class="btn btn-small" onClick={open}>
      {text}
    </button>
  );
  return (
    <div class="btns">
      {isOn(run) && isFailed && button("Retry", () => openRetry(run, [number]))}
      {isOn(run) &&
        run.params.length > 0 &&
        button("Enqueue similar", () => openEnqueue(run, number))}
      {button("Note", () => openNote(run, number, job?.note ?? ""))}
      {button("Tags", () => openTags(run, [number], job?.tags ?? []))}
    </div>
  );
}

// A run's name as a shell takes it.
const quoted = (name: string) =>
  /^[\w.-]+$/.test(name) ? name : `'${name.replace(/'/g, "'\\''")}'`;

function Head({
  run,
  row,
  number,
  close,
}: {
  run: RunModel;
  row: number;
  number: number;
  close?: () => void;
}) {
  const table = run.table.value;
  const word = rowWord(run);
  const isBest = bestRows(table, run).has(row);
  const isCompared = run.compared.value.includes(number);
  const state = table.byName.get("state");
  const stepName = table.byName.get("step");
  const kept = new Map([...query.value].filter(([key]) => isOfRun(key)));
  return (
    <header class="trial-head">
      <h2>
        {rowTitle(run)} {number}
        {stepName !== undefined && <span class="muted"> {textOf(stepName, row)}</span>}
      </h2>
      {state !== undefined && <StateBadge state={textOf(state, row)} />}
      {isBest && (
        <span class="best-mark small">
          ★ {run.objectives.length > 1 ? "on the Pareto front" : "best"}
        </span>
      )}
      <div class="btns trial-buttons">
        <button
          type="button"
          class="btn btn-small btn-icon"
          title={`previous ${word} ( [ )`}
          aria-label={`previous ${word}`}
          onClick={() => step(run, -1)}
        >
          ‹
        </button>
        <button
          type="button"
          class="btn btn-small btn-icon"
          title={`next ${word} ( ] )`}
          aria-label={`next ${word}`}
          onClick={() => step(run, 1)}
        >
          ›
        </button>
        <button
          type="button"
          class="btn btn-small"
          aria-pressed={isCompared}
          onClick={() => toggleCompared(run, number)}
        >
          Compare
        </button>
        {close !== undefined && (
          <a class="btn btn-small" href={href(`/runs/${run.id}/trial`, kept)}>
            Full page
          </a>
        )}
        {close !== undefined && (
          <button type="button" class="btn btn-small btn-icon" aria-label="Close" onClick={close}>
            ×
          </button>
        )}
      </div>
    </header>
  );
}

function Trial({ run, number, close }: { run: RunModel; number: number; close?: () => void }) {
  const row = rowOf(run.table.value, number);
  const stamp = stampOf(run, row);
  const path = `/runs/${run.id}/jobs/${number}`;
  // What people wrote, and the metrics of what runs; a run that has ended has no
  // other news.
  const news = useComputed(() =>
    isOn(run) ? Math.floor(nowMs.value / FRESH_MS) : run.table.value.seq,
  );
  const job = useAnswer<JobDocument>(path, `${stamp},${news.value}`);
  const why = useAnswer<WhyTrial | WhyJob>(`${path}/why`, stamp);
  const word = rowWord(run);
  useKeys(rowTitle(run), [
    { keys: "]", does: `next ${word}`, run: () => step(run, 1) },
    { keys: "[", does: `previous ${word}`, run: () => step(run, -1) },
  ]);
  const rungs = job.value?.rungs ?? [];
  const { name, schedule } = run.document.value;
  return (
    <article class="trial">
      {row < 0 && (
        <h2>
          {rowTitle(run)} {number}
        </h2>
      )}
      {row >= 0 && <Head run={run} row={row} number={number} close={close} />}
      <div class="row spread">
        <Command text={`smtune show ${quoted(name)} ${number}`} />
        {row >= 0 && <Actions run={run} row={row} job={job.value} />}
      </div>
      {job.value !== null && <Remarks job={job.value} />}
      {row < 0 && (
        <p class="problem">
          This run has no {word} {number}.
        </p>
      )}
      {row >= 0 && (
        <>
          <div class="trial-column">
            {!isWorkflow(run) && (
              <>
                <Part title={run.objectives.length > 1 ? "Values" : "Value"}>
                  <TrialValues run={run} row={row} />
                </Part>
                <Part title="Parameters">
                  <TrialParams run={run} row={row} />
                </Part>
              </>
            )}
            {job.value !== null && <JobFacts job={job.value} />}
            <Part title={isWorkflow(run) ? "Reason" : "Reason for this setting"}>
              <Why run={run} answer={why} />
            </Part>
            {rungs.length > 0 && (
              <Part title="Schedule">
                <Rungs rungs={rungs} resource={schedule?.resource ?? ""} />
              </Part>
            )}
          </div>
          <div class="trial-column">
            <Part title="Attempts">
              {job.value !== null && <Attempts run={run} job={job.value} why={why.value} />}
              {job.value === null && job.error !== null && (
                <Missing error={job.error} what="attempts" />
              )}
            </Part>
            {job.value !== null && (
              <Part title="Metrics">
                <Metrics metrics={job.value.metrics} />
              </Part>
            )}
          </div>
        </>
      )}
    </article>
  );
}

// What people wrote on it.
function Remarks({ job: { note, tags = [] } }: { job: JobDocument }) {
  if (!note && tags.length === 0) return null;
  return (
    <div class="trial-remarks">
      {tags.length > 0 && (
        <p class="tags">
          {tags.map((tag) => (
            <span key={tag} class="tag">
              {tag}
            </span>
          ))}
        </p>
      )}
      {note && <p class="trial-note">{note}</p>}
    </div>
  );
}

function JobFacts({ job }: { job: JobDocument }) {
  const matrix = Object.entries(job.matrix ?? {});
  if (job.command === undefined && matrix.length === 0) return null;
  return (
    <Part title="Command">
      {job.command !== undefined && <pre class="trial-pre" tabIndex={0}>{job.command}</pre>}
      <dl class="pairs">
        {matrix.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd class="mono">{typeof value === "string" ? value : JSON.stringify(value)}</dd>
          </>
        ))}
        {job.place !== undefined && (
          <>
            <dt>defined in</dt>
            <dd class="mono">{job.place}</dd>
          </>
        )}
      </dl>
    </Part>
  );
}

export function TrialView({ run }: ViewProps) {
  const number = run.focused.value;
  const focused = useMemo(() => withOnly(run, () => [run.focused.value]), [run]);
  if (number === 0) return <p class="empty">No {rowWord(run)} selected: open one in the table.</p>;
  return (
    <div class="trial-page">
      <Trial run={run} number={number} />
      {run.objectives.length > 0 && <CurvesView run={focused} />}
    </div>
  );
}

// Beside the view from which it was opened, until it is closed.
export function TrialPanel({ run }: ViewProps) {
  const number = run.focused.value;
  const panel = useRef<HTMLElement>(null);
  const close = () => {
    if (run.focused.peek() === 0) return false;
    run.focused.value = 0;
    return true;
  };
  useEffect(() => {
    panel.current?.scrollTo(0, 0);
  }, [number]);
  useKeys(rowTitle(run), [{ keys: "Escape", does: "close", run: close }]);
  if (number === 0) return null;
  return (
    <aside ref={panel} class="trial-panel" aria-label={`${rowWord(run)} ${number}`} tabIndex={-1}>
      <Trial run={run} number={number} close={close} />
    </aside>
  );
}
