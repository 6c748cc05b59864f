// SPDX-License-Identifier: GPL-3.0-or-later
// A dialog that does something to a run: what will happen, a form, and what the
// server said where it did not work.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { post } from "../api";
import { announce } from "../shell/announce";
import { Dialog, closeDialog } from "../shell/dialog";

export interface ActionFormProps {
  title: string;
  run: number;
  verb: string; // of DASHBOARD_VERBS
  button: string;
  isDangerous?: boolean;
  // What is sent; a text says what is wrong with the form instead.
  body: () => object | string;
  done: string; // announced on success
  children: ComponentChildren;
}

export function ActionForm(props: ActionFormProps) {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const send = async (event: Event) => {
    event.preventDefault();
    const body = props.body();
    if (typeof body === "string") return setProblem(body);
    setBusy(true);
    try {
      await post(`/runs/${props.run}/${props.verb}`, body);
      closeDialog();
      announce(props.done);
    } catch (error) {
      setProblem((error as Error).message);
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title}>
      <form class="form" onSubmit={(event) => void send(event)}>
        {props.children}
        {problem !== "" && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class="dialog-foot">
          <button type="button" class="btn" onClick={closeDialog}>
            Cancel
          </button>
          <button class={`btn btn-${props.isDangerous ? "danger" : "primary"}`} disabled={isBusy}>
            {props.button}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface ChoiceProps {
  label: string;
  explains: string;
  isOn: boolean;
  set: (isOn: boolean) => void;
}

export function Choice({ label, explains, isOn, set }: ChoiceProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => set(event.currentTarget.checked)}
      />
      <span>
        {label} <span class="muted">{explains}</span>
      </span>
    </label>
  );
}
