// SPDX-License-Identifier: GPL-3.0-or-later
// Which trials are the best: of one objective the first with its best value (or of
// the setting with the best mean), of several the Pareto front. Only those that succeeded and are feasible count,
// as `smtune best` has it.
import { paretoRows } from "../charts/pareto";
import type { Column, Objective, RunModel, Table } from "../types";
import { hypervolume } from "./front";

// 1 where a row may be the best.
export function candidates(table: Table): Uint8Array {
  const state = table.byName.get("state");
  const violation = table.byName.get("violation");
  const succeeded = state?.words.indexOf("succeeded") ?? -1;
  const mask = new Uint8Array(table.rows);
  for (let row = 0; row < table.rows; row++)
    mask[row] = Number(state?.data[row] === succeeded && !((violation?.data[row] ?? 0) > 0));
  return mask;
}

const signOf = (objective: Objective) => (objective.goal === "maximize" ? -1 : 1);

const valuesOf = (table: Table, objective: Objective): Column | undefined =>
  table.byName.get(`value:${objective.metric}`);

// The objective's values, turned so that less is better; NaN: it does not count.
function costs(table: Table, objective: Objective, mask: Uint8Array): Float64Array {
  const column = valuesOf(table, objective);
  const sign = signOf(objective);
  const result = new Float64Array(table.rows).fill(NaN);
  for (let row = 0; column !== undefined && row < table.rows; row++)
    if (mask[row] && Number.isFinite(column.data[row])) result[row] = sign * column.data[row];
  return result;
}

export interface Best {
  readonly row: number; // of several trials of a setting: the first that counts
  readonly value: number; // their mean
}

// The best trial or, where several trials evaluate each setting, the best mean of
// a setting: those that lack trials come last. null: there is none.
export function bestOf(table: Table, objective: Objective, repeats: number): Best | null {
  const values = valuesOf(table, objective)?.data;
  const numbers = table.byName.get("number")?.data;
  const mask = candidates(table);
  const sign = signOf(objective);
  let best = { row: -1, setting: -1, count: 0, value: NaN };
  let now = best;
  const compare = () => {
    const isBetter = now.count === best.count && sign * now.value < sign * best.value;
    if (now.count > best.count || isBetter) best = now;
  };
  for (let row = 0; values !== undefined && row < table.rows; row++) {
    if (mask[row] === 0 || !Number.isFinite(values[row])) continue;
    const setting = Math.floor(((numbers?.[row] ?? 0) - 1) / repeats);
    if (setting !== now.setting) {
      compare();
      now = { row, setting, count: 0, value: 0 };
    }
    now.count++;
    now.value += (values[row] - now.value) / now.count;
  }
  compare();
  return best.row < 0 ? null : best;
}

// -1: there is none.
export const bestRow = (table: Table, objective: Objective, repeats: number): number =>
  bestOf(table, objective, repeats)?.row ?? -1;

// The Pareto front of several objectives, in the order of the first.
function frontRows(table: Table, objectives: readonly Objective[]): number[] {
  const mask = candidates(table);
  const of = objectives.map((objective) => costs(table, objective, mask));
  const rows: number[] = [];
  for (let row = 0; row < table.rows; row++)
    if (of.every((cost) => cost[row] === cost[row])) rows.push(row);
  return paretoRows(of, Uint32Array.from(rows));
}

export interface Front {
  readonly count: number; // of trials on it
  readonly volume: number; // NaN: not known
}

export function frontOf(table: Table, objectives: readonly Objective[]): Front {
  const rows = frontRows(table, objectives);
  const values = objectives.map((objective) => valuesOf(table, objective)?.data);
  const points = rows.map((row) =>
    objectives.map((objective, i) => signOf(objective) * (values[i]?.[row] ?? NaN)));
  return { count: rows.length, volume: hypervolume(points) };
}

export function bestRows(table: Table, { objectives, repeats }: RunModel): ReadonlySet<number> {
  if (objectives.length > 1) return new Set(frontRows(table, objectives));
  const best = objectives.length === 1 ? bestRow(table, objectives[0], repeats) : -1;
  return new Set(best < 0 ? [] : [best]);
}
