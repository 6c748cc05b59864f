// SPDX-License-Identifier: GPL-3.0-or-later
// What stands above the table: how much of it is shown, which columns, and ways
// to take what is shown elsewhere.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { csvOf, fileName, jsonOf, saveText } from "../charts/save";
import type { DataTable } from "../charts/save";
import { listText } from "../data/lists";
import { metricColumns } from "../model/metric_columns";
import { formatCount, formatMany } from "../shell/format";
import type { Column, Held, RunModel, Table } from "../types";
import { href, isOfRun, query } from "../url";
import { Popover } from "../widgets/popover";
import { defaultNames, exactCell, labelOf, namesOf, orderedNames, textOf } from "./trial_columns";

const MARKDOWN_ROWS_MAX = 1000;

export interface Shown {
  readonly run: RunModel;
  readonly table: Table;
  readonly rows: Uint32Array;
  readonly columns: readonly Column[];
}

export function exactTable({ run, table, rows, columns }: Shown): DataTable {
  return {
    columns: columns.map(({ name }) => labelOf(run, table, name)),
    rows: rows.length,
    cell: (place, column) => exactCell(columns[column], rows[place]),
  };
}

const inMarkdown = (text: string) => text.replace(/[\\|`*_<>[\]]/g, "\\$&").replace(/\s+/g, " ");

export function markdownOf({ run, table, rows, columns }: Shown): string {
  const line = (cells: readonly string[]) => `| ${cells.map(inMarkdown).join(" | ")} |`;
  const rule = columns.map(({ kind }) => (kind === "words" ? "---" : "---:")).join(" | ");
  const lines = Array.from(rows.subarray(0, MARKDOWN_ROWS_MAX), (row) =>
    line(columns.map((column) => textOf(column, row))),
  );
  const left = rows.length - lines.length;
  return [
    line(columns.map(({ name }) => labelOf(run, table, name))),
    `| ${rule} |`,
    ...lines,
    ...(left > 0 ? ["", `(${formatCount(left)} more rows are not shown)`] : []),
    "",
  ].join("\n");
}

// ---- the choice of columns ----

function ColumnChoice({ run, table, held }: { run: RunModel; table: Table; held: Held<string> }) {
  const known = new Set(table.columns.map(({ name }) => name));
  const metrics = metricColumns(run.metrics.value, run.objectives);
  const isUsual = (name: string) => {
    const title = name.replace(/^metric:/, "");
    return title !== name && !known.has(`value:${title}`) && !known.has(`outcome:${title}`);
  };
  const all = [...new Set([...orderedNames(table), ...metrics.filter(isUsual)])];
  const usual = defaultNames(table);
  const shown = held.value === "" ? usual : namesOf(held.value, table);
  const others = [...new Set([...all, ...metrics])].filter((name) => !shown.includes(name));
  const set = (names: readonly string[]) => {
    held.value = names.join() === usual.join() ? "" : listText(names);
  };
  const toggle = (name: string) =>
    set(shown.includes(name) ? shown.filter((one) => one !== name) : [...shown, name]);
  const move = (place: number, step: number) => {
    const names = [...shown];
    names.splice(place + step, 0, ...names.splice(place, 1));
    set(names);
  };
  const line = (name: string, place: number, buttons: ComponentChildren) => (
    <div class="choice" key={name}>
      <label>
        <input
          type="checkbox"
          checked={place >= 0}
          disabled={name === "number"}
          onChange={() => toggle(name)}
        />
        <span class="what">{labelOf(run, table, name)}</span>
      </label>
      {buttons}
    </div>
  );
  const mover = (name: string, place: number, step: number, sign: string, to: string) => (
    <button
      type="button"
      class="btn btn-quiet btn-icon"
      disabled={place === 0 || place + step < 1 || place + step >= shown.length}
      aria-label={`move ${labelOf(run, table, name)} ${to}`}
      onClick={() => move(place, step)}
    >
      {sign}
    </button>
  );
  return (
    <>
      <div class="btns">
        <button type="button" class="btn btn-small" onClick={() => set(all)}>
          All
        </button>
        <button type="button" class="btn btn-small" onClick={() => set(usual)}>
          Default
        </button>
      </div>
      <div class="choices">
        {shown.map((name, place) =>
          line(
            name,
            place,
            <>
              {mover(name, place, -1, "↑", "to the left")}
              {mover(name, place, 1, "↓", "to the right")}
            </>,
          ),
        )}
        {others.map((name) => line(name, -1, null))}
      </div>
    </>
  );
}

// ---- what is shown, elsewhere ----

function ExportChoice({ shown, onDone }: { shown: Shown; onDone: (said: string) => void }) {
  const name = (ending: string) => fileName(`${shown.run.document.peek().name}-table`, ending);
  const rows = formatMany(shown.rows.length, "row");
  const item = (text: string, act: () => void) => (
    <button type="button" class="btn btn-quiet" onClick={act}>
      {text}
    </button>
  );
  const saveCsv = () => {
    saveText(csvOf(exactTable(shown)), "text/csv", name("csv"));
    onDone(`${rows} saved`);
  };
  const saveJson = () => {
    saveText(jsonOf(exactTable(shown)), "application/json", name("json"));
    onDone(`${rows} saved`);
  };
  const copyMarkdown = async () => {
    await navigator.clipboard.writeText(markdownOf(shown));
    onDone(`${formatMany(Math.min(shown.rows.length, MARKDOWN_ROWS_MAX), "row")} copied`);
  };
  return (
    <>
      <p class="muted small">Exports {rows} with the present filters and order. Numbers are exact.</p>
      <div class="menu">
        {item("Save as CSV", saveCsv)}
        {item("Save as JSON", saveJson)}
        {item("Copy as Markdown", () => void copyMarkdown())}
      </div>
    </>
  );
}

type Open = { what: "columns" | "export"; anchor: HTMLElement } | null;

export function TableTools({
  shown,
  word,
  hasSort,
  onNoSort,
  columnsHeld,
}: {
  shown: Shown;
  word: string;
  hasSort: boolean;
  onNoSort: () => void;
  columnsHeld: Held<string>;
}) {
  const { run, table, rows, columns } = shown;
  const [open, setOpen] = useState<Open>(null);
  const [said, setSaid] = useState("");
  const opener = (what: "columns" | "export", text: string) => (
    <button
      type="button"
      class="btn btn-small"
      aria-haspopup="dialog"
      onClick={(event) => setOpen({ what, anchor: event.currentTarget })}
    >
      {text}
    </button>
  );
  const compared = run.compared.value;
  const all = formatMany(table.rows, word);
  const kept = new Map([...query.value].filter(([key]) => isOfRun(key)));
  return (
    <div class="trials-tools">
      <p class="trials-count">
        {rows.length === table.rows ? all : `showing ${formatCount(rows.length)} of ${all}`}
        <span class="muted" role="status">
          {said !== "" && ` · ${said}`}
        </span>
      </p>
      <div class="btns">
        {compared.length > 0 && (
          <a class="btn btn-small" href={href(`/runs/${run.id}/compare`, kept)}>
            Compare {compared.length}
          </a>
        )}
        {hasSort && (
          <button type="button" class="btn btn-small" onClick={onNoSort}>
            Sort by {word}
          </button>
        )}
        {opener("columns", `Columns ${columns.length}/${table.columns.length}`)}
        {opener("export", "Export")}
      </div>
      {open !== null && (
        <Popover
          anchor={open.anchor}
          label={open.what === "columns" ? "Columns" : "Export"}
          onClose={() => setOpen(null)}
        >
          {open.what === "columns" ? (
            <ColumnChoice run={run} table={table} held={columnsHeld} />
          ) : (
            <ExportChoice
              shown={shown}
              onDone={(text) => {
                setSaid(text);
                setOpen(null);
              }}
            />
          )}
        </Popover>
      )}
    </div>
  );
}
