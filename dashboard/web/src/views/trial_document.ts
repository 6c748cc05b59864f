// SPDX-License-Identifier: GPL-3.0-or-later
// What the server says of one trial, or of one job of a workflow: the documents
// that `smtune show RUN N` and `smtune why RUN N` print as JSON.
import { useEffect, useState } from "preact/hooks";
import { getJson } from "../api";

export interface Attempt {
  number: number;
  state: string;
  cause: string | null;
  exit_code: number | null;
  signal: number | string | null;
  started: string | null;
  ended: string | null;
  cpu_ms: number | null;
  max_rss_bytes: number | null;
  text: string | null;
  node?: string | null;
}

export interface RungReached {
  resource: number;
  rung: number;
  last: number | null;
  best: number | null;
  decision: string;
  up_to: number | null;
  reason: string | null;
  time: string | null;
}

export interface LastMetric {
  name: string;
  step: number | null;
  value: number | null;
  points: number;
}

export interface JobDocument {
  id: number;
  state: string;
  cause: string | null;
  started: string | null; // its first attempt
  duration_ms: number | null; // of all attempts
  used?: number | null; // of the schedule's resource
  attempts: Attempt[];
  metrics: LastMetric[];
  rungs?: RungReached[];
  // of a workflow's job
  job?: string;
  reason?: string | null;
  command?: string;
  place?: string;
  matrix?: Record<string, unknown>;
  retry_at?: string | null;
  cached_from?: string | number | null;
  runs_below?: { id: number; name: string; state?: string }[];
  tags?: string[];
  note?: string | null;
}

export interface WhyTrial {
  method: string | null;
  method_reason: string | null;
  step: string | null;
  acquisition: number | null;
  mean: number | null;
  deviation: number | null;
  value: number | null;
  incumbent: number | null;
  incumbent_value: number | null;
  known: number | null;
  unfinished: number | null;
  same_as: number | null;
  parent: number | null;
  note: string | null;
}

export interface WhyJob {
  reason: string | null;
  rules: { rule: string; line: number | null; text: string }[];
  needs: { step?: string; state?: string }[];
  attempts: { attempt: number; then: string | null; line: number | null }[];
}

export interface Answer<T> {
  readonly value: T | null; // null: nothing has come yet
  readonly error: Error | null;
}

// Asked again when the stamp is another one; what was there stays meanwhile.
export function useAnswer<T>(path: string, stamp: string): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T> & { path: string }>({
    value: null,
    error: null,
    path,
  });
  useEffect(() => {
    const aborter = new AbortController();
    getJson<T>(path, aborter.signal).then(
      (value) => setAnswer({ value, error: null, path }),
      (error: Error) => {
        if (!aborter.signal.aborted)
          setAnswer((old) => ({ value: old.path === path ? old.value : null, error, path }));
      },
    );
    return () => aborter.abort();
  }, [path, stamp]);
  return answer.path === path ? answer : { value: null, error: null };
}
