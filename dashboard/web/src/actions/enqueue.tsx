// SPDX-License-Identifier: GPL-3.0-or-later
// A setting that somebody wants to be tried next.
import { useState } from "preact/hooks";
import { cellText, rowOf } from "../data/columns";
import { openDialog } from "../shell/dialog";
import type { RunModel, SpaceParam } from "../types";
import { ActionForm } from "./form";

type Texts = Readonly<Record<string, string>>;

function rangeText({ min, max, scale, step, when }: SpaceParam): string {
  const range = min === undefined ? "" : `${min} to ${max}`;
  const isScaled = scale !== undefined && scale !== "linear";
  return [
    range,
    step ? `step ${step}` : "",
    isScaled ? `${scale} scale` : "",
    when ? `when ${when}` : "",
  ].filter(Boolean).join(", ");
}

const choicesOf = ({ kind, values }: SpaceParam) =>
  values ?? (kind === "bool" ? [true, false] : undefined);

// The values as their file has them; a text says which one is wrong.
function settingOf(params: readonly SpaceParam[], texts: Texts): object | string {
  const setting: Record<string, unknown> = {};
  for (const param of params) {
    const text = (texts[param.name] ?? "").trim();
    if (text === "") continue;
    const choices = choicesOf(param);
    const value = choices ? choices.find((choice) => String(choice) === text) : Number(text);
    if (value === undefined || Number.isNaN(value)) return `${param.name}: “${text}” is not a number`;
    const { min = -Infinity, max = Infinity } = param;
    if (!choices && (Number(value) < min || Number(value) > max))
      return `${param.name}: ${text} is out of range: ${min} to ${max}`;
    setting[param.name] = value;
  }
  if (Object.keys(setting).length === 0) return "enter a value for at least one parameter";
  return setting;
}

// Those of a trial, in full.
function textsOf(run: RunModel, number: number): Texts {
  const table = run.table.peek();
  const row = rowOf(table, number);
  if (row < 0) return {};
  return Object.fromEntries(
    run.params.map(({ name }) => {
      const column = table.byName.get(`param:${name}`);
      if (column === undefined) return [name, ""];
      const value = column.data[row];
      return [name, column.kind === "real" && !Number.isNaN(value) ? String(value) : cellText(column, row)];
    }),
  );
}

interface FieldProps {
  param: SpaceParam;
  text: string;
  set: (text: string) => void;
}

function Field({ param, text, set }: FieldProps) {
  const id = `enqueue-${param.name}`;
  const choices = choicesOf(param);
  return (
    <div class="field">
      <label for={id}>
        {param.name} <span class="faint">{rangeText(param)}</span>
      </label>
      {choices ? (
        <select
          id={id}
          class="select"
          value={text}
          onChange={(event) => set(event.currentTarget.value)}
        >
          <option value="">chosen by the search</option>
          {choices.map((choice) => (
            <option key={String(choice)} value={String(choice)}>
              {String(choice)}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          class="input mono"
          inputMode="decimal"
          autocomplete="off"
          placeholder="chosen by the search"
          value={text}
          onInput={(event) => set(event.currentTarget.value)}
        />
      )}
    </div>
  );
}

function Enqueue({ run, trial }: { run: RunModel; trial: number }) {
  const [texts, setTexts] = useState<Texts>(() => textsOf(run, trial));
  const body = () => {
    const params = settingOf(run.params, texts);
    return typeof params === "string" ? params : { params };
  };
  return (
    <ActionForm
      title={trial > 0 ? `Enqueue a setting like trial ${trial}` : "Enqueue a setting"}
      run={run.id}
      verb="enqueue"
      button="Enqueue"
      body={body}
      done="setting enqueued"
    >
      <p class="muted">
        The next new trial evaluates the setting. It uses one trial of the budget. The search
        chooses values for empty fields.
      </p>
      <div class="fields">
        {run.params.map((param) => (
          <Field
            key={param.name}
            param={param}
            text={texts[param.name] ?? ""}
            set={(text) => setTexts({ ...texts, [param.name]: text })}
          />
        ))}
      </div>
    </ActionForm>
  );
}

// trial: the number of one whose setting the form begins with; 0: none.
export const openEnqueue = (run: RunModel, trial = 0) =>
  openDialog(() => <Enqueue run={run} trial={trial} />);
