// SPDX-License-Identifier: GPL-3.0-or-later
// The table of a run's trials (or of a workflow's jobs): all of them, in any
// order, with any of their columns.
import { useComputed } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import { toggleCompared } from "../model/compared";
import { bestRows } from "../model/best";
import { IN_RUN } from "../data/columns";
import { sortOf, sortText, sortedRows, withSort } from "../data/sort";
import type { SortKey } from "../data/sort";
import { formatMany } from "../shell/format";
import { Sign } from "../shell/states";
import type { Column, RunModel, Table, ViewProps } from "../types";
import { heldText } from "../url";
import { ColumnFilter } from "../widgets/column_filter";
import { Popover } from "../widgets/popover";
import { VirtualTable } from "../widgets/virtual_table";
import type { GridColumn } from "../widgets/virtual_table";
import "../css/trials.css";
import { defaultNames, labelOf, namesOf, rowWord, textOf, titleOf } from "./trial_columns";
import { TableTools } from "./table_tools";

const NARROWEST_PX = 74;
const WIDEST_PX = 260;
const CHARACTER_PX = 8.6;
const HEAD_EXTRA_PX = 56; // room for the sign of its order, and its button
const SAMPLE_ROWS = 60;

const heldColumns = heldText("columns");
const heldSort = heldText("sort");

// Wide enough for some of its cells and for its head.
function widthOf(table: Table, column: Column, label: string): number {
  const step = Math.max(Math.floor(table.rows / SAMPLE_ROWS), 1);
  let longest = 0;
  for (let row = 0; row < table.rows; row += step)
    longest = Math.max(longest, textOf(column, row).length);
  const isSigned = column.name === "state";
  const cells = longest * CHARACTER_PX + 22 + (isSigned ? 20 : 0);
  const head = label.length * 8.2 + HEAD_EXTRA_PX;
  const extra = column.name === "number" ? 34 : 0; // its box and the mark of the best
  return Math.round(Math.max(NARROWEST_PX, Math.min(Math.max(cells, head) + extra, WIDEST_PX)));
}

function gridColumns(
  run: RunModel,
  columns: readonly Column[],
  keys: readonly SortKey[],
): GridColumn[] {
  const table = run.table.peek();
  return columns.map((column) => {
    const label = labelOf(run, table, column.name);
    const place = keys.findIndex(({ name }) => name === column.name);
    return {
      key: column.name,
      label,
      title: titleOf(column.name),
      widthPx: widthOf(table, column, label),
      isNumber: column.kind !== "words" && column.kind !== "time",
      isFiltered: run.filters.value.has(column.name),
      sort: place < 0 ? "none" : keys[place].isDescending ? "descending" : "ascending",
      sortPlace: keys.length > 1 ? place + 1 : 0,
    };
  });
}

// The number, with the box that chooses it for comparison, and a mark.
function NumberCell({
  text,
  canCompare,
  isBest,
  isFront,
}: {
  text: string;
  canCompare: boolean;
  isBest: boolean;
  isFront: boolean;
}) {
  return (
    <>
      {canCompare && <span class="compare-box" data-select aria-hidden="true" />}
      {isBest && (
        <span class="best-mark" title={isFront ? "on the Pareto front" : "best"}>
          <span aria-hidden="true">{isFront ? "◆" : "★"}</span>
          <span class="visually-hidden">{isFront ? "on the Pareto front" : "best"}</span>
        </span>
      )}
      <span class="text">{text}</span>
    </>
  );
}

interface Menu {
  name: string;
  anchor: HTMLElement;
}

export function TableView({ run }: ViewProps) {
  const table = run.table.value;
  const selection = run.selection.value;
  const keys = useMemo(() => sortOf(heldSort.value), [heldSort.value]);
  const isChosen = heldColumns.value !== "";
  const shapes = table.columns.length;
  const names = useMemo(
    () => (isChosen ? namesOf(heldColumns.value, table) : defaultNames(table)),
    [heldColumns.value, shapes, isChosen || table.seq],
  );
  const columns = names.map((name) => table.byName.get(name) as Column);
  const rows = useMemo(
    () => sortedRows(table, selection.mask, selection.count, keys),
    [table, selection, keys],
  );
  const best = useMemo(() => bestRows(table, run), [table, run]);
  const isFront = run.objectives.length > 1;
  const grid = useGridColumns(run, columns, keys);
  const [menu, setMenu] = useState<Menu | null>(null);
  const word = rowWord(run);
  const focused = run.focused.value;
  const compared = new Set(run.compared.value);
  const numbers = (table.byName.get("number") as Column).data;
  const version = useMemo(() => ({}), [table, rows, names.join(), best, focused]);
  const hovered = useComputed(() => run.hovered.value);

  const cell = (place: number, index: number) => {
    const column = columns[index];
    const row = rows[place];
    const text = textOf(column, row);
    if (column.name === "number")
      return (
        <NumberCell
          text={text}
          canCompare={!table.byName.has(IN_RUN)}
          isBest={best.has(row)}
          isFront={isFront}
        />
      );
    if (column.name !== "state") return <span class="text">{text}</span>;
    return (
      <>
        <Sign state={text} />
        <span class="text">{text}</span>
      </>
    );
  };
  const shown = { run, table, rows, columns };
  return (
    <section class="trials" aria-label={`Table of ${word}s`}>
      <TableTools
        shown={shown}
        word={word}
        hasSort={keys.length > 0}
        onNoSort={() => (heldSort.value = "")}
        columnsHeld={heldColumns}
      />
      {table.rows > 0 && (
        <VirtualTable
          label={`${formatMany(rows.length, word)} of ${run.document.value.name}`}
          columns={grid}
          rowCount={rows.length}
          version={version}
          keyOf={(place) => rows[place]}
          text={(place, index) => textOf(columns[index], rows[place])}
          cell={cell}
          rowClass={(place) => (numbers[rows[place]] === focused ? "is-open" : "")}
          isSelected={(place) => compared.has(numbers[rows[place]])}
          hovered={hovered}
          onHover={(row) => {
            if (run.hovered.peek() !== row) run.hovered.value = row;
          }}
          onOpen={(place) => (run.focused.value = numbers[rows[place]])}
          onSelect={(place) => toggleCompared(run, numbers[rows[place]])}
          onSort={(index, isAdded) =>
            (heldSort.value = sortText(withSort(keys, names[index], isAdded)))
          }
          onMenu={(index, anchor) => setMenu({ name: names[index], anchor })}
        />
      )}
      {table.rows > 0 && rows.length === 0 && (
        <p class="trials-none muted">No {word} matches the filters.</p>
      )}
      {table.rows === 0 && <p class="empty">No {word}s yet.</p>}
      {menu !== null && (
        <Popover anchor={menu.anchor} label={`Filter ${menu.name}`} onClose={() => setMenu(null)}>
          <h2>{labelOf(run, table, menu.name)}</h2>
          <p class="muted small">{titleOf(menu.name)}</p>
          <ColumnFilter run={run} column={table.byName.get(menu.name) as Column} />
        </Popover>
      )}
    </section>
  );
}

// The same array as long as nothing of it changed, so that the grid is not made
// anew; a width stays while the page is open.
function useGridColumns(
  run: RunModel,
  columns: readonly Column[],
  keys: readonly SortKey[],
): GridColumn[] {
  const last = useRef<{ text: string; columns: GridColumn[] }>({ text: "", columns: [] });
  const text = JSON.stringify([
    columns.map(({ name, kind }) => [name, kind, run.filters.value.has(name)]),
    keys,
    Math.ceil(Math.log2(run.table.value.rows + 1)),
  ]);
  if (text !== last.current.text) last.current = { text, columns: gridColumns(run, columns, keys) };
  return last.current.columns;
}
