// SPDX-License-Identifier: GPL-3.0-or-later
// What happened to a trial: why it was suggested, its attempts and their logs,
// and what its schedule decided.
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api";
import { formatNumber } from "../data/columns";
import { formatBytes, formatTime } from "../data/format";
import { nowMs } from "../shell/clock";
import { formatDuration, formatMany, timeOf, unitOf } from "../shell/format";
import { ofPart } from "../shell/part";
import { Sign } from "../shell/states";
import type { RunModel } from "../types";
import { query } from "../url";
import type { LogProps } from "../widgets/log";
import type {
  Answer,
  Attempt,
  JobDocument,
  LastMetric,
  RungReached,
  WhyJob,
  WhyTrial,
} from "./trial_document";

const Log = ofPart<LogProps>("logs", "Log");

// Why an attempt ended, for people.
const causes: Record<string, string> = {
  ok: "succeeded",
  exit: "failed",
  signal: "killed",
  timeout: "exceeded its time limit",
  oom: "exceeded its memory limit",
  node_fail: "node failed",
  preempted: "preempted by another job",
  launch_error: "could not start",
  lost: "lost with its machine or process",
  cancelled: "cancelled",
  no_metric: "no value of the objective in its output",
  setup_failed: "setup failed",
};

// jobState: of its trial; one that its schedule stopped is cancelled too.
export function causeWords(attempt: Attempt, jobState: string): string {
  if (attempt.cause === null) return attempt.state === "ended" ? "" : attempt.state;
  if (attempt.cause === "cancelled" && jobState === "stopped") return "stopped by the schedule";
  const detail =
    attempt.signal !== null
      ? ` (signal ${attempt.signal})`
      : attempt.exit_code !== null && attempt.exit_code !== 0
        ? ` (exit code ${attempt.exit_code})`
        : "";
  return `${causes[attempt.cause] ?? attempt.cause}${detail}`;
}

export function Missing({ error, what }: { error: Error; what: string }) {
  const isElsewhere = error instanceof ApiError && error.kind === "not_in_file";
  return (
    <p class="muted">
      {isElsewhere
        ? `This file does not contain the ${what}.`
        : `Cannot read the ${what}: ${error.message}`}
    </p>
  );
}

// ---- attempts ----

const isOver = ({ state }: Attempt) => state === "ended";

function took(attempt: Attempt): string {
  const startedMs = timeOf(attempt.started);
  const endedMs = timeOf(attempt.ended);
  if (Number.isNaN(startedMs)) return "";
  if (!Number.isNaN(endedMs)) return formatDuration(endedMs - startedMs);
  return isOver(attempt) ? "" : formatDuration(Math.max(0, nowMs.value - startedMs));
}

function AttemptFacts({
  attempt,
  jobState,
  then,
}: {
  attempt: Attempt;
  jobState: string;
  then: string | null;
}) {
  const fact = (name: string, text: string) =>
    text !== "" && (
      <>
        <dt>{name}</dt>
        <dd>{text}</dd>
      </>
    );
  return (
    <>
      <dl class="pairs">
        {fact("cause", causeWords(attempt, jobState))}
        {fact("next", then ?? "")}
        {fact("node", attempt.node ?? "")}
        {fact("started", formatTime(timeOf(attempt.started)))}
        {fact(isOver(attempt) ? "duration" : "running for", took(attempt))}
        {fact("CPU time", attempt.cpu_ms ? formatDuration(attempt.cpu_ms) : "")}
        {fact(
          "peak memory",
          attempt.max_rss_bytes ? formatBytes(attempt.max_rss_bytes) : "",
        )}
      </dl>
      {attempt.text !== null && <p class="problem">{attempt.text}</p>}
    </>
  );
}

// What all attempts come to together.
function AllAttempts({ run, job }: { run: RunModel; job: JobDocument }) {
  const unit = run.document.value.schedule?.resource ?? "";
  const parts = [
    `${formatMany(job.attempts.length, "attempt")} since ${formatTime(timeOf(job.started))}`,
    ...(job.duration_ms === null ? [] : [`${formatDuration(job.duration_ms)} together`]),
    ...(job.used ? [`${formatNumber(job.used)} ${unitOf(unit, job.used)} used`] : []),
  ];
  return <p class="muted">{parts.join(", ")}</p>;
}

export function Attempts({
  run,
  job,
  why,
}: {
  run: RunModel;
  job: JobDocument;
  why: WhyTrial | WhyJob | null;
}) {
  const { attempts } = job;
  const [wanted, setWanted] = useState(0); // 0: that of the address, or the last one
  // JOB.ATTEMPT.RANK.BYTE: a line of a log.
  const place = query.value.get("log") ?? "";
  const [of, number, rank, byte] = place.split(".").map(Number);
  useEffect(() => setWanted(0), [place]);
  const chosen = wanted || (of === job.id ? number : 0);
  const attempt = attempts.find((one) => one.number === chosen) ?? attempts[attempts.length - 1];
  if (attempt === undefined) return <p class="muted">Not started yet.</p>;
  const isPlaced = of === job.id && number === attempt.number && byte >= 0;
  const then =
    why !== null && "attempts" in why
      ? (why.attempts.find((one) => one.attempt === attempt.number)?.then ?? null)
      : null;
  return (
    <>
      {attempts.length > 1 && <AllAttempts run={run} job={job} />}
      {attempts.length > 1 && (
        <div class="btns" role="group" aria-label="Attempts">
          {attempts.map((one) => (
            <button
              key={one.number}
              type="button"
              class="btn btn-small"
              aria-pressed={one === attempt}
              onClick={() => setWanted(one.number)}
            >
              {one.number}
              <span class="muted">{one.cause ?? one.state}</span>
            </button>
          ))}
        </div>
      )}
      <AttemptFacts attempt={attempt} jobState={job.state} then={then} />
      <Log
        key={attempt.number + (isPlaced ? place : "")}
        path={`/runs/${run.id}/jobs/${job.id}/attempts/${attempt.number}/log`}
        label={`Log of attempt ${attempt.number}`}
        isGrowing={!isOver(attempt)}
        at={isPlaced ? { rank, byte } : undefined}
      />
    </>
  );
}

// ---- metrics ----

export function Metrics({ metrics }: { metrics: readonly LastMetric[] }) {
  if (metrics.length === 0) return <p class="muted">No metrics reported.</p>;
  return (
    <div class="table-scroll" role="region" tabIndex={0} aria-label="Last values">
      <table class="table table-plain">
        <thead>
          <tr>
            <th scope="col">metric</th>
            <th scope="col" class="num">
              last value
            </th>
            <th scope="col" class="num">
              at step
            </th>
            <th scope="col" class="num">
              points
            </th>
          </tr>
        </thead>
        <tbody>
          {metrics.map(({ name, value, step, points }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="num mono">{value === null ? "" : formatNumber(value)}</td>
              <td class="num">{step ?? ""}</td>
              <td class="num">{points}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// ---- its schedule ----

const decisions: Record<string, string> = {
  continue: "continued",
  stop: "stopped",
  pause: "paused",
  promote: "promoted",
};

export function Rungs({ rungs, resource }: { rungs: readonly RungReached[]; resource: string }) {
  return (
    <ol class="plain rungs">
      {rungs.map((rung, index) => (
        <li key={index}>
          <Sign
            state={
              rung.decision === "stop"
                ? "stopped"
                : rung.decision === "pause"
                  ? "paused"
                  : "succeeded"
            }
          />
          <span>
            <b>{decisions[rung.decision] ?? rung.decision}</b> at {formatNumber(rung.resource)}{" "}
            {unitOf(resource, rung.resource)}
            {rung.up_to !== null && `, up to ${formatNumber(rung.up_to)}`}
            {rung.reason && <span class="muted"> · {rung.reason}</span>}
          </span>
          <time class="faint small" dateTime={rung.time ?? ""}>
            {formatTime(timeOf(rung.time))}
          </time>
        </li>
      ))}
    </ol>
  );
}

// ---- why it is there ----

const number = (value: number | null) => (value === null ? "" : formatNumber(value));

// Sentences, from what is known.
export function whyWords(why: WhyTrial): string[] {
  const words: string[] = [];
  if (why.method !== null) {
    const step = why.step === null ? "" : `, step “${why.step}”`;
    words.push(`Suggested by ${why.method}${step}.`);
  }
  if (why.method_reason !== null) words.push(`Reason for this method: ${why.method_reason}.`);
  if (why.parent !== null) words.push(`Started from the checkpoint of trial ${why.parent}.`);
  if (why.same_as !== null) words.push(`Same setting as trial ${why.same_as}.`);
  if (why.mean !== null) {
    const spread = why.deviation === null ? "" : ` ± ${number(why.deviation)}`;
    const outcome = why.value === null ? "" : `, actual value ${number(why.value)}`;
    words.push(`Predicted value ${number(why.mean)}${spread}${outcome}.`);
  }
  if (why.acquisition !== null)
    words.push(`Acquisition value ${number(why.acquisition)}.`);
  if (why.incumbent !== null)
    words.push(`Best trial at that time: trial ${why.incumbent} with ${number(why.incumbent_value)}.`);
  if (why.known !== null)
    words.push(
      `Based on ${formatMany(why.known, "result")}${
        why.unfinished ? `, with ${formatMany(why.unfinished, "unfinished trial")}` : ""
      }.`,
    );
  if (why.note !== null) words.push(`${why.note[0].toUpperCase()}${why.note.slice(1)}.`);
  return words;
}

function WhyOfJob({ why }: { why: WhyJob }) {
  return (
    <>
      {why.reason !== null && <p>{why.reason}</p>}
      {why.rules.length > 0 && (
        <dl class="pairs">
          {why.rules.map(({ rule, text, line }) => (
            <>
              <dt>{rule}</dt>
              <dd>
                <code>{text}</code>
                {line !== null && <span class="faint"> line {line}</span>}
              </dd>
            </>
          ))}
        </dl>
      )}
    </>
  );
}

// A text in which each trial that it names opens.
function TrialText({ run, text }: { run: RunModel; text: string }) {
  const parts = text.split(/\b(trial \d+)\b/);
  return (
    <p>
      {parts.map((part, index) =>
        index % 2 === 0 ? (
          part
        ) : (
          <button
            type="button"
            class="link"
            onClick={() => (run.focused.value = Number(part.slice("trial ".length)))}
          >
            {part}
          </button>
        ),
      )}
    </p>
  );
}

export function Why({ run, answer }: { run: RunModel; answer: Answer<WhyTrial | WhyJob> }) {
  const { value, error } = answer;
  if (value === null)
    return error === null ? <p class="muted">Loading …</p> : <Missing error={error} what="reason" />;
  if ("rules" in value) return <WhyOfJob why={value} />;
  return <TrialText run={run} text={whyWords(value).join(" ")} />;
}
