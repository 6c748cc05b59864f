// SPDX-License-Identifier: GPL-3.0-or-later
// A grid of any number of rows, of which only those on the screen are in the
// document. It scrolls by itself, and the keyboard goes to every cell: arrows,
// PageUp, PageDown, Home, End; Enter opens a row (or sorts, in the head), Space
// selects it, F opens a column's menu, Ctrl+C copies a cell.
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import "../css/virtual_table.css";
import { useTallScroll } from "./tall_scroll";

export interface GridColumn {
  readonly key: string;
  readonly label: string;
  readonly title: string; // said at more length
  readonly widthPx: number;
  readonly isNumber: boolean;
  readonly isFiltered: boolean;
  readonly sort: "ascending" | "descending" | "none";
  readonly sortPlace: number; // among several that it is sorted by; 0: alone
}

export interface GridProps {
  readonly label: string;
  readonly columns: readonly GridColumn[]; // the first stays when it scrolls
  readonly rowCount: number;
  // All cells are made anew when this is another one.
  readonly version: unknown;
  readonly keyOf: (place: number) => number;
  readonly text: (place: number, column: number) => string;
  readonly cell: (place: number, column: number) => ComponentChildren;
  readonly rowClass: (place: number) => string;
  readonly isSelected: (place: number) => boolean;
  readonly hovered: ReadonlySignal<number>; // a key
  readonly onHover: (key: number) => void;
  readonly onOpen: (place: number) => void;
  readonly onSelect: (place: number) => void;
  readonly onSort: (column: number, isAdded: boolean) => void;
  readonly onMenu: (column: number, anchor: HTMLElement) => void;
}

interface Place {
  readonly row: number; // -1: the head
  readonly column: number;
}

const HEAD_PX = 34;
const OVERSCAN_ROWS = 8;
const rowHeightPx = () => (matchMedia("(pointer: coarse)").matches ? 40 : 30);

// Where each column begins, and where the last one ends.
function edges(columns: readonly GridColumn[]): number[] {
  const result = [0];
  for (const { widthPx } of columns) result.push(result[result.length - 1] + widthPx);
  return result;
}

// The columns on the screen but for the first, which always is: [first, end).
function columnsIn(starts: readonly number[], leftPx: number, widthPx: number): [number, number] {
  const count = starts.length - 1;
  let first = 1;
  while (first < count && starts[first + 1] <= leftPx + starts[1]) first++;
  let end = first;
  while (end < count && starts[end] < leftPx + widthPx) end++;
  return [first, end];
}

// Where a key leads; null: it does not move.
function moved(key: string, at: Place, page: number, props: GridProps): Place | null {
  const { row, column } = at;
  const last = props.rowCount - 1;
  switch (key) {
    case "ArrowDown":
      return { row: Math.min(row + 1, last), column };
    case "ArrowUp":
      return { row: Math.max(row - 1, -1), column };
    case "ArrowRight":
      return { row, column: Math.min(column + 1, props.columns.length - 1) };
    case "ArrowLeft":
      return { row, column: Math.max(column - 1, 0) };
    case "PageDown":
      return { row: Math.min(Math.max(row, 0) + page, last), column };
    case "PageUp":
      return { row: Math.max(row - page, Math.min(0, last)), column };
    case "Home":
      return { row: Math.min(0, last), column };
    case "End":
      return { row: last, column };
    default:
      return null;
  }
}

const sortMarks = { ascending: "▲", descending: "▼", none: "" };

function Head({
  column,
  id,
  index,
  isActive,
  props,
}: {
  column: GridColumn;
  id: string;
  index: number;
  isActive: boolean;
  props: GridProps;
}) {
  const mark = sortMarks[column.sort] + (column.sortPlace > 0 ? String(column.sortPlace) : "");
  return (
    <div
      role="columnheader"
      id={id}
      class={`vt-head${column.isNumber ? " is-number" : ""}${isActive ? " is-active" : ""}`}
      style={{ width: `${column.widthPx}px` }}
      aria-colindex={index + 1}
      aria-sort={column.sort === "none" ? undefined : column.sort}
      title={column.title}
      data-column={column.key}
    >
      <span class="vt-head-label" onClick={(event) => props.onSort(index, event.shiftKey)}>
        {column.label}
        {mark !== "" && (
          <span class="vt-sort" aria-hidden="true">
            {mark}
          </span>
        )}
      </span>
      <button
        type="button"
        class={`vt-menu${column.isFiltered ? " is-filtered" : ""}`}
        tabIndex={-1}
        aria-label={`filter ${column.label}${column.isFiltered ? " (filtered)" : ""}`}
        onClick={(event) => props.onMenu(index, event.currentTarget)}
      >
        <svg viewBox="0 0 12 12" aria-hidden="true">
          <path d="M1 2h10L7 6.5V11L5 9.5v-3z" />
        </svg>
      </button>
    </div>
  );
}

export function VirtualTable(props: GridProps) {
  const { columns, rowCount } = props;
  const id = useId();
  const rowPx = useMemo(rowHeightPx, []);
  const scroller = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<Place>({ row: -1, column: 0 });
  const scroll = useTallScroll(scroller, rowCount * rowPx, HEAD_PX);
  const starts = useMemo(() => edges(columns), [columns]);
  const rows = useRef(new Map<number, { stamp: string; row: VNode }>());

  const active = {
    row: Math.min(at.row, rowCount - 1),
    column: Math.min(at.column, columns.length - 1),
  };
  const [firstColumn, endColumn] = columnsIn(starts, scroll.leftPx, scroll.widthPx);
  const first = Math.max(Math.floor(scroll.topPx / rowPx) - OVERSCAN_ROWS, 0);
  const end = Math.min(
    Math.ceil((scroll.topPx + scroll.heightPx) / rowPx) + OVERSCAN_ROWS,
    rowCount,
  );
  const widthPx = starts[columns.length];
  const idOf = ({ row, column }: Place) => `${id}-${row}-${column}`;

  useMemo(() => rows.current.clear(), [props.version, columns, firstColumn, endColumn]);
  useHoverMark(scroller, props.hovered);

  const columnsShown = [0];
  for (let column = firstColumn; column < endColumn; column++) columnsShown.push(column);
  const leadPx = starts[firstColumn] - starts[1];

  const cellOf = (row: number, column: number) => (
    <div
      key={column}
      role="gridcell"
      id={idOf({ row, column })}
      class={`vt-cell${columns[column].isNumber ? " is-number" : ""}${
        row === active.row && column === active.column ? " is-active" : ""
      }`}
      style={{ width: `${columns[column].widthPx}px` }}
      aria-colindex={column + 1}
      data-column={column}
    >
      {props.cell(row, column)}
    </div>
  );
  const makeRow = (place: number) => {
    const isSelected = props.isSelected(place);
    const activeColumn = place === active.row ? active.column : -1;
    const stamp = `${isSelected} ${activeColumn} ${rowCount}`;
    const made = rows.current.get(place);
    if (made?.stamp === stamp) return made.row;
    const [pinned, ...others] = columnsShown;
    const row = (
      <div
        key={props.keyOf(place)}
        role="row"
        class={`vt-row ${props.rowClass(place)}${isSelected ? " is-selected" : ""}`}
        style={{ height: `${rowPx}px` }}
        aria-rowindex={place + 2}
        aria-selected={isSelected}
        data-place={place}
        data-key={props.keyOf(place)}
      >
        {cellOf(place, pinned)}
        {leadPx > 0 && <span class="vt-lead" style={{ width: `${leadPx}px` }} />}
        {others.map((column) => cellOf(place, column))}
      </div>
    );
    rows.current.set(place, { stamp, row });
    return row;
  };

  const go = (next: Place) => {
    setAt(next);
    if (next.row >= 0) scroll.showRow(next.row * rowPx, rowPx);
    if (next.column > 0)
      scroll.showColumn(starts[next.column] - starts[1], starts[next.column + 1]);
  };
  const menuAt = (column: number) =>
    scroller.current?.querySelector<HTMLElement>(
      `[data-column="${CSS.escape(columns[column].key)}"] .vt-menu`,
    );

  const act = (event: KeyboardEvent): boolean => {
    const { row, column } = active;
    if (event.key === "Enter") {
      if (row < 0) props.onSort(column, event.shiftKey);
      else props.onOpen(row);
      return true;
    }
    if (event.key === " " && row >= 0) {
      props.onSelect(row);
      return true;
    }
    const isMenu = event.key === "f" || (event.key === "ArrowDown" && event.altKey);
    const anchor = isMenu ? menuAt(column) : null;
    if (anchor) props.onMenu(column, anchor);
    return isMenu;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return;
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && event.key === "c" && getSelection()?.isCollapsed && active.row >= 0) {
      void navigator.clipboard?.writeText(props.text(active.row, active.column));
      return;
    }
    if (isCommand && event.key !== "Home" && event.key !== "End") return;
    const page = Math.max(Math.floor(scroll.heightPx / rowPx) - 1, 1);
    if (!act(event)) {
      const next = moved(event.key, active, page, props);
      if (next === null) return;
      go(next);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const placeOf = (event: Event): Place | null => {
    const element = event.target as Element;
    const row = element.closest<HTMLElement>("[data-place]");
    const cell = element.closest<HTMLElement>('[role="gridcell"]');
    if (row === null || cell === null) return null;
    return { row: Number(row.dataset.place), column: Number(cell.dataset.column) };
  };
  const onClick = (event: MouseEvent) => {
    const place = placeOf(event);
    if (place === null || getSelection()?.isCollapsed === false) return;
    setAt(place);
    if (
      (event.target as Element).closest("[data-select]") !== null ||
      event.ctrlKey ||
      event.metaKey
    )
      props.onSelect(place.row);
    else props.onOpen(place.row);
  };

  const placesShown = [];
  for (let place = first; place < end; place++) placesShown.push(place);
  if (rows.current.size > 4 * placesShown.length + 100) rows.current.clear();

  return (
    <div
      ref={scroller}
      class="vt"
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={rowCount + 1}
      aria-colcount={columns.length}
      aria-multiselectable="true"
      aria-activedescendant={
        active.row < 0 || (active.row >= first && active.row < end) ? idOf(active) : undefined
      }
      onKeyDown={onKeyDown}
      onClick={onClick}
      onMouseMove={(event) => {
        const place = placeOf(event);
        props.onHover(place === null ? -1 : props.keyOf(place.row));
      }}
      onMouseLeave={() => props.onHover(-1)}
    >
      <div class="vt-heads" role="row" aria-rowindex={1} style={{ width: `${widthPx}px` }}>
        {columnsShown.map((column, index) => [
          index === 1 && leadPx > 0 && <span class="vt-lead" style={{ width: `${leadPx}px` }} />,
          <Head
            key={columns[column].key}
            column={columns[column]}
            id={idOf({ row: -1, column })}
            index={column}
            isActive={active.row < 0 && active.column === column}
            props={props}
          />,
        ])}
      </div>
      <div
        class="vt-body"
        role="rowgroup"
        style={{ height: `${scroll.physicalPx}px`, width: `${widthPx}px` }}
      >
        <div
          class="vt-rows"
          role="presentation"
          style={{ transform: `translateY(${first * rowPx + scroll.shiftPx}px)` }}
        >
          {placesShown.map(makeRow)}
        </div>
      </div>
    </div>
  );
}

// Marks the row that another view says the pointer is on, without drawing any.
function useHoverMark(
  scroller: { readonly current: HTMLElement | null },
  hovered: ReadonlySignal<number>,
): void {
  useEffect(
    () =>
      hovered.subscribe((key) => {
        const root = scroller.current;
        root?.querySelector(".vt-row.is-hovered")?.classList.remove("is-hovered");
        if (key >= 0)
          root?.querySelector(`.vt-row[data-key="${key}"]`)?.classList.add("is-hovered");
      }),
    [hovered],
  );
}
