// SPDX-License-Identifier: GPL-3.0-or-later
// A trial's values, beside the best one's and in their rank, and its parameters,
// each in its range.
import { useMemo } from "preact/hooks";
import { scaleOfColumn } from "../charts/scales";
import type { Scale } from "../charts/scales";
import { formatNumber } from "../data/columns";
import { bestOf, bestRow, candidates } from "../model/best";
import { formatCount } from "../shell/format";
import type { Column, Objective, RunModel, Table } from "../types";
import { textOf } from "./trial_columns";

// The value's place among those of trials that may be the best: 1 is the best.
export function rankOf(
  table: Table,
  objective: Objective,
  row: number,
): { rank: number; of: number } | null {
  const values = table.byName.get(`value:${objective.metric}`)?.data;
  const mask = candidates(table);
  if (values === undefined || !mask[row] || !Number.isFinite(values[row])) return null;
  const sign = objective.goal === "maximize" ? -1 : 1;
  let rank = 1;
  let of = 0;
  for (let other = 0; other < table.rows; other++) {
    if (!mask[other] || !Number.isFinite(values[other])) continue;
    of++;
    if (sign * values[other] < sign * values[row]) rank++;
  }
  return { rank, of };
}

// "0.021 (12 %) above the best, trial 9"
function againstBest(
  table: Table,
  objective: Objective,
  row: number,
  repeats: number,
): string {
  const best = bestOf(table, objective, repeats);
  const values = table.byName.get(`value:${objective.metric}`)?.data;
  if (best === null || values === undefined || !Number.isFinite(values[row])) return "";
  const number = table.byName.get("number")?.data[best.row] ?? 0;
  const name = repeats > 1 ? "mean of the best setting" : "best";
  if (best.row === row && repeats === 1) return "best";
  const difference = values[row] - best.value;
  if (difference === 0) return `equal to the ${name}, trial ${number}`;
  const part = Math.abs(difference / best.value) * 100;
  const percent = Number.isFinite(part) ? ` (${formatNumber(Number(part.toPrecision(3)))} %)` : "";
  const size = formatNumber(Number(Math.abs(difference).toPrecision(4)));
  return `${size}${percent} ${difference > 0 ? "above" : "below"} the ${name}, trial ${number}`;
}

export function TrialValues({ run, row }: { run: RunModel; row: number }) {
  const table = run.table.value;
  const ranks = useMemo(
    () => run.objectives.map((objective) => rankOf(table, objective, row)),
    [table, row],
  );
  return (
    <dl class="trial-values">
      {run.objectives.map((objective, index) => {
        const column = table.byName.get(`value:${objective.metric}`);
        const rank = ranks[index];
        return (
          <div key={objective.metric}>
            <dt>
              {objective.metric} <span class="faint">({objective.goal})</span>
            </dt>
            <dd>
              <span class="trial-value">{(column && textOf(column, row)) || "none"}</span>
              <span class="muted">
                {rank !== null && ` rank ${formatCount(rank.rank)} of ${formatCount(rank.of)} ·`}
                {` ${againstBest(table, objective, row, run.repeats)}`}
              </span>
            </dd>
          </div>
        );
      })}
      {table.columns
        .filter(({ name }) => name.startsWith("outcome:"))
        .map((column) => (
          <div key={column.name}>
            <dt>
              {column.name.slice("outcome:".length)} <span class="faint">(constrained)</span>
            </dt>
            <dd>
              <span class="trial-value">{textOf(column, row) || "none"}</span>
            </dd>
          </div>
        ))}
    </dl>
  );
}

const percent = (unit: number) => `${Math.max(0, Math.min(1, unit)) * 100}%`;

// Where a value lies between the ends of its range, and where the best one does.
function RangeBar({ scale, value, best }: { scale: Scale; value: number; best: number }) {
  const at = scale.toUnit(value);
  const bestAt = scale.toUnit(best);
  if (!Number.isFinite(at)) return null;
  return (
    <span
      class="range-bar"
      aria-hidden="true"
      title={`from ${scale.text(scale.min)} to ${scale.text(scale.max)}`}
    >
      {Number.isFinite(bestAt) && <span class="range-best" style={{ left: percent(bestAt) }} />}
      <span class="range-at" style={{ left: percent(at) }} />
    </span>
  );
}

export const paramColumns = (table: Table): Column[] =>
  table.columns.filter(({ name }) => name.startsWith("param:"));

export function TrialParams({ run, row }: { run: RunModel; row: number }) {
  const table = run.table.value;
  const columns = paramColumns(table);
  const scales = useMemo(
    () =>
      columns.map((column) =>
        scaleOfColumn(
          column,
          table.rows,
          run.params.find(({ name }) => `param:${name}` === column.name),
        ),
      ),
    [table, run],
  );
  const [objective] = run.objectives;
  const best = useMemo(
    () => (run.objectives.length === 1 ? bestRow(table, objective, run.repeats) : -1),
    [table, run],
  );
  if (columns.length === 0) return <p class="muted">No parameters.</p>;
  return (
    <>
      <table class="table table-plain trial-params">
        <thead>
          <tr>
            <th scope="col">parameter</th>
            <th scope="col" class="num">
              value
            </th>
            <th scope="col">range</th>
          </tr>
        </thead>
        <tbody>
          {columns.map((column, index) => (
            <tr key={column.name}>
              <th scope="row">{column.name.slice("param:".length)}</th>
              <td class="num mono">
                {textOf(column, row) || <span class="faint">inactive</span>}
              </td>
              <td>
                <RangeBar
                  scale={scales[index]}
                  value={
                    column.kind === "words" && column.data[row] === column.none
                      ? NaN
                      : column.data[row]
                  }
                  best={best < 0 ? NaN : column.data[best]}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {best >= 0 && best !== row && (
        <p class="muted small">
          The thin mark is the best trial, {table.byName.get("number")?.data[best]}.
        </p>
      )}
    </>
  );
}
