// SPDX-License-Identifier: GPL-3.0-or-later
// What a run's engine is asked to do: stop, pause, resume, retry.
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
      button="Stop it"
      isDangerous
      body={() => ({ drain })}
      done="the run stops"
    >
      <p>
        {drain
          ? `No more ${thingOf(run)}s are started; those that run go on to their end, and then the run is stopped.`
          : `Those ${thingOf(run)}s that run are ended now, and start again when the run is resumed.`}{" "}
        Nothing is lost of what has ended. <code>smtune resume {nameOf(run)}</code> goes on with it.
      </p>
      <Choice
        label="Let what runs come to its end"
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
      button="Pause it"
      body={() => ({ now })}
      done="the run is paused"
    >
      <p>
        No more {thingOf(run)}s are started until it is resumed here or by{" "}
        <code>smtune resume</code>.{" "}
        {now
          ? "Those that run are ended now, and start again with their checkpoints."
          : "Those that run go on to their end, and their results count."}
      </p>
      <Choice
        label={`End running ${thingOf(run)}s too`}
        explains="the machine is needed now"
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
      button="Resume it"
      body={() => ({})}
      done="the run goes on"
    >
      <p>It goes on where it was paused: {thingOf(run)}s are started again.</p>
    </ActionForm>
  );
}

// jobs: their numbers; none: all that failed.
function Retry({ run, jobs }: Props & { jobs: readonly number[] }) {
  const [force, setForce] = useState(false);
  const which = jobs.length === 0 ? `All ${thingOf(run)}s that failed` : `${thingOf(run)} ${jobs.join(", ")}`;
  const many = jobs.length === 1 ? `${thingOf(run)} ${jobs[0]}` : formatMany(jobs.length, thingOf(run));
  return (
    <ActionForm
      title={jobs.length === 0 ? "Retry what failed?" : `Retry ${many}?`}
      run={run.id}
      verb="retry"
      button="Retry"
      body={() => (jobs.length === 0 ? { failed: true } : { jobs, force })}
      done="it is tried again"
    >
      <p>
        <b>{which}</b> {jobs.length === 1 ? "runs" : "run"} again with the same setting, its
        checkpoints and all its retries anew. The new result takes the old one's place, for the
        search too.
      </p>
      {jobs.length > 0 && (
        <Choice
          label="Also what succeeded"
          explains="its result is given up"
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
