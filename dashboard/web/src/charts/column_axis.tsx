// SPDX-License-Identifier: GPL-3.0-or-later
// A column of a run as an axis.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { RunModel } from "../types";
import { useLog } from "./controls";
import { columnTitle, finiteValues, isBetterAsLog, missingNotes, valuesOf } from "./rows";
import type { RowValue } from "./rows";
import { extent, makeScale, scaleNote, scaleOfColumn } from "./scales";
import type { Scale } from "./scales";

export interface ColumnAxis {
  readonly column: string; // its name
  readonly of: RowValue;
  readonly values: Float64Array; // the finite ones of all rows
  readonly scale: Scale;
  readonly label: string;
  readonly notes: readonly string[]; // who of the selection is not on it
  readonly control: ComponentChildren; // a switch to a logarithm, where it may be one
}

// A parameter's scale is the space's. What may be a logarithm is one where its
// numbers are better seen so, or as the reader says; held in the URL under `key`.
export function useColumnAxis(
  run: RunModel,
  name: string,
  key: string,
  switchText = "Log",
): ColumnAxis {
  const log = useLog(key);
  const table = run.table.value;
  const { mask } = run.selection.value;
  const column = table.byName.get(name) ?? table.columns[0];
  const param = run.params.find((one) => `param:${one.name}` === column.name);
  const data = useMemo(() => {
    const of = valuesOf(column);
    const values = finiteValues(table, new Uint8Array(table.rows).fill(1), of);
    const own = scaleOfColumn(column, table.rows, param);
    return { of, values, own, isBetterAsLog: isBetterAsLog(values) };
  }, [table, column, param]);
  const { of, values, own } = data;
  const mayBeLog = own.kind === "log" || own.kind === "linear";
  const isLog = mayBeLog && log.isLog(own.kind === "log" || (!param && data.isBetterAsLog));
  const scale = useMemo(() => {
    if (!mayBeLog || isLog === (own.kind === "log")) return own;
    const kind = isLog ? "log" : "linear";
    const { min, max } = extent(values, values.length, kind);
    return makeScale(kind, min, max);
  }, [own, values, isLog]);
  const notes = useMemo(
    () =>
      missingNotes(table, mask, of, {
        name: columnTitle(column.name),
        isNan: column.isNan,
        holds: isLog ? (value) => value > 0 : undefined,
      }),
    [table, mask, of, isLog],
  );
  return {
    column: column.name,
    of,
    values,
    scale,
    label: columnTitle(column.name) + scaleNote(scale),
    notes,
    control: mayBeLog ? log.control(switchText, isLog) : null,
  };
}
