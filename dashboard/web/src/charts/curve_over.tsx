// SPDX-License-Identifier: GPL-3.0-or-later
// What learning curves lie over: the schedule's resource, steps, or time.
import type { RunModel, Table } from "../types";
import { Choose, useHeldText } from "./controls";
import type { Across } from "./curve_lines";

export type Over = "resource" | "step" | "time";

const SECOND_MS = 1000;

// Times count from the start of the trial's first attempt.
export function acrossOf(table: Table, over: Over): Across {
  const started = table.byName.get("started")?.data;
  if (over === "step") return ({ raw }) => raw;
  if (over === "resource") return ({ steps }) => steps;
  return ({ times }, row) => times.map((time) => (time - (started?.[row] ?? NaN)) / SECOND_MS);
}

// What the curves may lie over, and what they do.
export function useOver(run: RunModel) {
  const resource = run.document.value.schedule?.resource;
  const choices = [
    ...(resource === undefined ? [] : [{ id: "resource", text: resource }]),
    { id: "step", text: "step" },
    { id: "time", text: "time" },
  ];
  const chosen = useHeldText("curves.over");
  const { id, text } = choices.find((choice) => choice.id === chosen.value) ?? choices[0];
  const control = (
    <Choose label="Over" value={id} choices={choices} onChoose={(next) => (chosen.value = next)} />
  );
  return { over: id as Over, unit: id === "time" ? "seconds since its start" : text, control };
}
