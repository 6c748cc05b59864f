// SPDX-License-Identifier: GPL-3.0-or-later
// Requests to a run's engine: stop, pause, resume, retry.
import { useState } from "preact/hooks";
import { openDialog } from "../shell/dialog";
import { formatMany } from "../shell/format";
import type { RunModel } from "../types";
import { ActionForm, Choice } from "./form";

interface Props {
  run: RunModel;
}

const nameOf = (run: RunModel) => run.document.peek().name;

export const thingOf = (run: RunModel) =>
  run.document.peek().kind === "workflow" ? "job" : "trial";

function Stop({ run }: Props) {
  const [drain, setDrain] = useState(false);
  return (
    <ActionForm
      title={`Stop ${nameOf(run)}?`}
      run={run.id}
      verb="stop"
      button="Stop"
      isDangerous
      body={() => ({ drain })}
      done="run stopping"
    >
      <p>
        {drain
          ? `No new ${thingOf(run)}s start. The run stops when its running ${thingOf(run)}s have finished.`
          : `Running ${thingOf(run)}s are stopped now and start again when you resume the run.`}{" "}
        Finished results are kept. <code>smtune resume {nameOf(run)}</code> resumes the run.
      </p>
      <Choice
        label={`Let running ${thingOf(run)}s finish`}
        explains="(drain)"
        isOn={drain}
        set={setDrain}
      />
    </ActionForm>
  );
}

function Pause({ run }: Props) {
  const [now, setNow] = useState(false);
  return (
    <ActionForm
      title={`Pause ${nameOf(run)}?`}
      run={run.id}
      verb="pause"
      button="Pause"
      body={() => ({ now })}
      done="run paused"
    >
      <p>
        No new {thingOf(run)}s start until you resume the run here or with{" "}
        <code>smtune resume</code>.{" "}
        {now
          ? "Running ones are stopped now and start again from their checkpoints."
          : "Running ones finish, and their results count."}
      </p>
      <Choice
        label={`Also stop running ${thingOf(run)}s`}
        explains="(frees the machine now)"
        isOn={now}
        set={setNow}
      />
    </ActionForm>
  );
}

function Resume({ run }: Props) {
  return (
    <ActionForm
      title={`Resume ${nameOf(run)}?`}
      run={run.id}
      verb="resume"
      button="Resume"
      body={() => ({})}
      done="run resumed"
    >
      <p>The run starts {thingOf(run)}s again.</p>
    </ActionForm>
  );
}

// jobs: their numbers; none: all that failed.
function Retry({ run, jobs }: Props & { jobs: readonly number[] }) {
  const [force, setForce] = useState(false);
  const which = jobs.length === 0 ? `All failed ${thingOf(run)}s` : `${thingOf(run)} ${jobs.join(", ")}`;
  const many = jobs.length === 1 ? `${thingOf(run)} ${jobs[0]}` : formatMany(jobs.length, thingOf(run));
  return (
    <ActionForm
      title={jobs.length === 0 ? `Retry failed ${thingOf(run)}s?` : `Retry ${many}?`}
      run={run.id}
      verb="retry"
      button="Retry"
      body={() => (jobs.length === 0 ? { failed: true } : { jobs, force })}
      done="retry started"
    >
      <p>
        <b>{which}</b> {jobs.length === 1 ? "runs" : "run"} again with the same setting, its
        checkpoints and all its retries. The new result replaces the old one, also for the search.
      </p>
      {jobs.length > 0 && (
        <Choice
          label={`Also ${thingOf(run)}s that succeeded`}
          explains="(discards their results)"
          isOn={force}
          set={setForce}
        />
      )}
    </ActionForm>
  );
}

export const openStop = (run: RunModel) => openDialog(() => <Stop run={run} />);
export const openPause = (run: RunModel) => openDialog(() => <Pause run={run} />);
export const openResume = (run: RunModel) => openDialog(() => <Resume run={run} />);
export const openRetry = (run: RunModel, jobs: readonly number[] = []) =>
  openDialog(() => <Retry run={run} jobs={jobs} />);
