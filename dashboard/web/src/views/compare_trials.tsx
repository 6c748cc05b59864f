// SPDX-License-Identifier: GPL-3.0-or-later
// Some trials side by side: what differs first, each against one of them.
import { useMemo } from "preact/hooks";
import { scaleOfColumn } from "../charts/scales";
import type { Scale } from "../charts/scales";
import { formatNumber, rowOf } from "../data/columns";
import { toggleCompared } from "../model/compared";
import { formatDuration, formatMany } from "../shell/format";
import { StateBadge } from "../shell/states";
import type { Column, RunModel, Table } from "../types";
import { heldNumber, heldText } from "../url";
import { labelOf, orderedNames, rowWord, textOf } from "./trial_columns";

const MOST = 40; // side by side
const NOT_COMPARED = new Set([
  "number",
  "job",
  "created",
  "started",
  "ended",
  "last_started",
  "last_duration",
  "last_used",
  "state",
]);

const heldBaseline = heldNumber("base");
const heldAll = heldText("all");

export interface Difference {
  readonly absolute: number;
  readonly ratio: number; // NaN where it says nothing
}

export function differenceOf(number: number, baseline: number): Difference | null {
  if (!Number.isFinite(number) || !Number.isFinite(baseline)) return null;
  const isRatio = baseline !== 0 && number / baseline > 0;
  return { absolute: number - baseline, ratio: isRatio ? number / baseline : NaN };
}

function differenceText({ absolute, ratio }: Difference, isDuration: boolean): string {
  if (absolute === 0) return "same";
  const size = Math.abs(absolute);
  const text = isDuration ? formatDuration(size) : formatNumber(Number(size.toPrecision(4)));
  const times = Number.isNaN(ratio) ? "" : ` · ×${formatNumber(Number(ratio.toPrecision(3)))}`;
  return `${absolute > 0 ? "+" : "−"}${text}${times}`;
}

interface Line {
  readonly column: Column;
  readonly scale: Scale;
  readonly isDifferent: boolean;
}

const isSame = (column: Column, a: number, b: number) =>
  Object.is(column.data[a], column.data[b]) || column.data[a] === column.data[b];

function linesOf(run: RunModel, table: Table, rows: readonly number[]): Line[] {
  const lines = orderedNames(table)
    .filter((name) => !NOT_COMPARED.has(name))
    .map((name) => {
      const column = table.byName.get(name) as Column;
      const param = run.params.find((one) => `param:${one.name}` === name);
      return {
        column,
        scale: scaleOfColumn(column, table.rows, param),
        isDifferent: rows.some((row) => !isSame(column, row, rows[0])),
      };
    });
  return lines.toSorted((a, b) => Number(b.isDifferent) - Number(a.isDifferent));
}

function ValueCell({ line, row, baseline }: { line: Line; row: number; baseline: number }) {
  const { column, scale, isDifferent } = line;
  const isWords = column.kind === "words";
  const unit = isWords ? NaN : scale.toUnit(column.data[row]);
  const difference =
    isWords || !isDifferent || row === baseline
      ? null
      : differenceOf(column.data[row], column.data[baseline]);
  const isOther = isWords && row !== baseline && !isSame(column, row, baseline);
  return (
    <td class={isOther ? "is-other" : undefined}>
      <span class="mono">{textOf(column, row) || <span class="faint">–</span>}</span>
      {difference !== null && (
        <span class="difference">{differenceText(difference, column.name === "duration")}</span>
      )}
      {isDifferent && Number.isFinite(unit) && (
        <span class="part-bar" aria-hidden="true">
          <span style={{ width: `${Math.max(0, Math.min(1, unit)) * 100}%` }} />
        </span>
      )}
    </td>
  );
}

function HeadCell({ run, row, isBaseline }: { run: RunModel; row: number; isBaseline: boolean }) {
  const table = run.table.value;
  const number = table.byName.get("number")?.data[row] ?? 0;
  const state = table.byName.get("state");
  const word = rowWord(run);
  return (
    <th scope="col">
      <span class="row">
        <button type="button" class="link" onClick={() => (run.focused.value = number)}>
          {word} {number}
        </button>
        <button
          type="button"
          class="btn btn-quiet btn-small"
          aria-label={`remove ${word} ${number} from the comparison`}
          onClick={() => toggleCompared(run, number)}
        >
          ×
        </button>
      </span>
      {state !== undefined && <StateBadge state={textOf(state, row)} />}
      <label class="check small">
        <input
          type="radio"
          name="baseline"
          checked={isBaseline}
          onChange={() => (heldBaseline.value = number)}
        />
        baseline
      </label>
    </th>
  );
}

// Each trial as a line over all parameters that differ, and its values.
function Lines({
  lines,
  rows,
  numbers,
}: {
  lines: readonly Line[];
  rows: readonly number[];
  numbers: readonly number[];
}) {
  const axes = lines.filter(
    ({ column, isDifferent }) => isDifferent && /^(param|value):/.test(column.name),
  );
  if (axes.length < 2) return null;
  const points = (row: number) =>
    axes
      .map(({ column, scale }, index) => {
        const isNone = column.kind === "words" && column.data[row] === column.none;
        const unit = isNone ? NaN : scale.toUnit(column.data[row]);
        return Number.isFinite(unit) ? `${index * 100 + 50},${94 - unit * 84}` : null;
      })
      .filter((point) => point !== null)
      .join(" ");
  return (
    <figure class="compare-lines">
      <svg
        viewBox={`0 0 ${axes.length * 100} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Trials ${numbers.join(", ")} as lines over ${axes.map(({ column }) => column.name).join(", ")}; the table has their numbers`}
      >
        {axes.map(({ column }, index) => (
          <line
            key={column.name}
            class="axis"
            x1={index * 100 + 50}
            x2={index * 100 + 50}
            y1={10}
            y2={94}
          />
        ))}
        {rows.map((row, index) => (
          <polyline key={row} class={`series-${((index + 1) % 8) + 1}`} points={points(row)} />
        ))}
      </svg>
      <div class="compare-axes" aria-hidden="true">
        {axes.map(({ column }) => (
          <span key={column.name} class="ellipsis">
            {column.name.replace(/^\w+:/, "")}
          </span>
        ))}
      </div>
      <figcaption class="row small">
        {rows.map((row, index) => (
          <span key={row} class={`series-${((index + 1) % 8) + 1}`}>
            <span class="series-key" aria-hidden="true" /> {numbers[index]}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

export function CompareTrials({ run }: { run: RunModel }) {
  const table = run.table.value;
  const compared = run.compared.value;
  const word = rowWord(run);
  const rows = compared
    .map((number) => rowOf(table, number))
    .filter((row) => row >= 0)
    .slice(0, MOST);
  const lines = useMemo(() => linesOf(run, table, rows), [table, rows.join()]);
  const numbers = rows.map((row) => table.byName.get("number")?.data[row] ?? 0);
  const wanted = rowOf(table, heldBaseline.value);
  const baseline = rows.includes(wanted) ? wanted : rows[0];
  const isAll = heldAll.value !== "";
  const shown = lines.filter(({ isDifferent }) => isAll || isDifferent);
  if (rows.length === 0)
    return (
      <section class="card" aria-label={`Compared ${word}s`}>
        <h2>Compared {word}s</h2>
        <p class="muted">
          Select {word}s with their boxes in the table (Space), or with “Compare” on the page of a{" "}
          {word}.
        </p>
      </section>
    );
  return (
    <section class="card" aria-label={`Compared ${word}s`}>
      <div class="card-head">
        <h2>
          {formatMany(rows.length, word)} side by side
        </h2>
        {compared.length > rows.length && (
          <span class="muted">
            of {compared.length}: at most {MOST} are shown
          </span>
        )}
        <div class="btns">
          <button
            type="button"
            class="btn btn-small"
            aria-pressed={!isAll}
            onClick={() => (heldAll.value = isAll ? "" : "1")}
          >
            Only differences
          </button>
          <button type="button" class="btn btn-small" onClick={() => (run.compared.value = [])}>
            Clear
          </button>
        </div>
      </div>
      <div class="table-scroll" role="region" tabIndex={0} aria-label="Comparison">
        <table class="table compare">
          <thead>
            <tr>
              <td />
              {rows.map((row) => (
                <HeadCell key={row} run={run} row={row} isBaseline={row === baseline} />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((line) => (
              <tr key={line.column.name} class={line.isDifferent ? undefined : "muted"}>
                <th scope="row">{labelOf(run, table, line.column.name)}</th>
                {rows.map((row) => (
                  <ValueCell key={row} line={line} row={row} baseline={baseline} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length === 0 && <p class="muted">No differences.</p>}
      <Lines lines={lines} rows={rows} numbers={numbers} />
    </section>
  );
}
