// SPDX-License-Identifier: GPL-3.0-or-later
// What an operator may do to a run, as buttons beside its name and as keys.
import { useKeys } from "../shell/keys";
import { mayAct } from "../shell/session";
import type { RunModel, TrialCounts } from "../types";
import { openPause, openResume, openRetry, openStop } from "./engine";
import { openEnqueue } from "./enqueue";
import { openNote, openTags } from "./notes";

export interface Standing {
  run: RunModel;
  state: string; // of the run, as people see it
  counts: TrialCounts;
  note: string;
  tags: readonly string[];
}

interface Action {
  title: string;
  key: string;
  applies: (standing: Standing) => boolean;
  open: (standing: Standing) => void;
}

const isOn = ({ state }: Standing) => state === "running" || state === "paused";

const actions: readonly Action[] = [
  {
    title: "Pause",
    key: "a p",
    applies: ({ state }) => state === "running",
    open: ({ run }) => openPause(run),
  },
  {
    title: "Resume",
    key: "a r",
    applies: ({ state }) => state === "paused",
    open: ({ run }) => openResume(run),
  },
  { title: "Stop", key: "a s", applies: isOn, open: ({ run }) => openStop(run) },
  {
    title: "Retry failed",
    key: "a f",
    applies: (standing) => isOn(standing) && standing.counts.failed > 0,
    open: ({ run }) => openRetry(run),
  },
  {
    title: "Enqueue",
    key: "a e",
    applies: (standing) => isOn(standing) && standing.run.params.length > 0,
    open: ({ run }) => openEnqueue(run, run.focused.peek()),
  },
  { title: "Note", key: "a n", applies: () => true, open: ({ run, note }) => openNote(run, 0, note) },
  { title: "Tags", key: "a t", applies: () => true, open: ({ run, tags }) => openTags(run, [], tags) },
];

function Buttons(standing: Standing) {
  const shown = actions.filter((action) => action.applies(standing));
  useKeys(
    "Actions",
    shown.map((action) => ({
      keys: action.key,
      does: action.title.toLowerCase(),
      run: () => action.open(standing),
    })),
    [shown.map((action) => action.key).join()],
  );
  return (
    <div class="btns">
      {shown.map((action) => (
        <button
          key={action.key}
          class="btn btn-small"
          title={action.key}
          onClick={() => action.open(standing)}
        >
          {action.title}
        </button>
      ))}
    </div>
  );
}

export function ActionButtons(standing: Standing) {
  return mayAct.value ? <Buttons {...standing} /> : null;
}
