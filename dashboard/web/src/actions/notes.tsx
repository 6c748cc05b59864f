// SPDX-License-Identifier: GPL-3.0-or-later
// What people write on a run, or on its trials: a note, tags.
import { useState } from "preact/hooks";
import { openDialog } from "../shell/dialog";
import type { RunModel } from "../types";
import { thingOf } from "./engine";
import { ActionForm } from "./form";

// job: its number; 0: the run itself.
interface NoteProps {
  run: RunModel;
  job: number;
  text: string;
}

const titleOf = (run: RunModel, job: number) =>
  job > 0 ? `${thingOf(run)} ${job}` : run.document.peek().name;

function Note({ run, job, text: first }: NoteProps) {
  const [text, setText] = useState(first);
  return (
    <ActionForm
      title={`Note on ${titleOf(run, job)}`}
      run={run.id}
      verb="note"
      button="Save"
      body={() => (job > 0 ? { job, text } : { text })}
      done="note saved"
    >
      <div class="field">
        <label for="note-text">Text (empty: removes the note)</label>
        <textarea
          id="note-text"
          class="textarea"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
    </ActionForm>
  );
}

interface TagsProps {
  run: RunModel;
  jobs: readonly number[]; // none: the run itself
  tags: readonly string[];
}

const wordsOf = (text: string) => [
  ...new Set(text.split(/[\s,]+/).filter((word) => word !== "")),
];

function Tags({ run, jobs, tags }: TagsProps) {
  const [text, setText] = useState("");
  const [removed, setRemoved] = useState<readonly string[]>([]);
  const body = () => {
    const add = wordsOf(text);
    if (add.length === 0 && removed.length === 0) return "enter a tag to add, or remove one";
    return { ...(jobs.length > 0 ? { jobs } : {}), add, remove: removed };
  };
  return (
    <ActionForm
      title={`Tags of ${jobs.length > 1 ? `${jobs.length} ${thingOf(run)}s` : titleOf(run, jobs[0] ?? 0)}`}
      run={run.id}
      verb="tag"
      button="Save"
      body={body}
      done="tags saved"
    >
      <div class="tags">
        {tags.filter((tag) => !removed.includes(tag)).map((tag) => (
          <span key={tag} class="tag">
            {tag}
            <button
              type="button"
              aria-label={`Remove ${tag}`}
              onClick={() => setRemoved([...removed, tag])}
            >
              ×
            </button>
          </span>
        ))}
      </div>
      <div class="field">
        <label for="tag-text">Add tags, separated by spaces</label>
        <input
          id="tag-text"
          class="input"
          autocomplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
    </ActionForm>
  );
}

export const openNote = (run: RunModel, job: number, text: string) =>
  openDialog(() => <Note run={run} job={job} text={text} />);
export const openTags = (run: RunModel, jobs: readonly number[], tags: readonly string[]) =>
  openDialog(() => <Tags run={run} jobs={jobs} tags={tags} />);
