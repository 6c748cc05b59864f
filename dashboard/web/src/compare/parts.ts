// SPDX-License-Identifier: GPL-3.0-or-later
// What the charts of a comparison ask of its runs.
import type { Objective, RunModel } from "../types";
import type { Comparison } from "./model";

export const namesOf = ({ runs }: Comparison) => runs.map(({ document }) => document.name);

export const objectiveOf = (model: RunModel, metric: string): Objective | undefined =>
  model.objectives.find((objective) => objective.metric === metric);

const firstOf = ({ runs }: Comparison, place: number) =>
  runs.slice(0, place).reduce((sum, { table }) => sum + table.rows, 0);

// The part of the selection that is of one run; all of it, as long as the table of
// all trials is an older one.
export function maskOf(comparison: Comparison, place: number): Uint8Array {
  const { mask } = comparison.run.selection.peek();
  const { rows } = comparison.runs[place].table;
  const first = firstOf(comparison, place);
  return mask.length < first + rows
    ? new Uint8Array(rows).fill(1)
    : mask.subarray(first, first + rows);
}

// Where a run's row is in the table of all trials.
export const rowOfAll = (comparison: Comparison, place: number, row: number) =>
  firstOf(comparison, place) + row;
