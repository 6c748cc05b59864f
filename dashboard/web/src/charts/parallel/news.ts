// SPDX-License-Identifier: GPL-3.0-or-later
// What of a table the lines' worker does not have yet.
import { rowsSince } from "../../data/columns";
import type { Numbers, Objective, Table } from "../../types";
import type { Axis, AxisSpec } from "./axes";
import type { AxisData, Rows } from "./painter";

// What it was sent: all up to a seq, by these axes and this objective.
export interface Sent {
  readonly seq: number;
  readonly specs: ReadonlyMap<string, string>; // by the axis' name, as texts
  readonly objective: Objective | undefined;
}

const specOf = ({ kind, min, max, bands, hasNone }: Axis): AxisSpec => ({
  kind, min, max, bands, hasNone,
});

const picked = (data: Numbers, rows: number, list: Uint32Array | null) =>
  list === null ? data.slice(0, rows) : Float64Array.from(list, (row) => data[row]);

// sent null: nothing. after: what it was sent when it has the rows. The mask may
// be of rows too that came after the table's.
export function newsOf(
  sent: Sent | null,
  table: Table,
  axes: readonly Axis[],
  objective: Objective | undefined,
  mask: Uint8Array,
): { rows: Rows; after: Sent } {
  const isSame = sent !== null && sent.objective?.metric === objective?.metric &&
    axes.every(({ name }) => sent.specs.has(name));
  const list = isSame ? rowsSince(table, sent.seq) : null;
  const specs = new Map(axes.map((axis) => [axis.name, JSON.stringify(specOf(axis))]));
  const axisData = (axis: Axis): AxisData => {
    const isWhole = list === null || sent?.specs.get(axis.name) !== specs.get(axis.name);
    const data = table.byName.get(axis.name)?.data ?? new Float64Array(0);
    const spec = specOf(axis);
    return { name: axis.name, spec, isWhole, data: picked(data, table.rows, isWhole ? null : list) };
  };
  const values = objective && table.byName.get(`value:${objective.metric}`)?.data;
  const rows = {
    rows: table.rows,
    list,
    axes: axes.map(axisData),
    values: values === undefined ? null : picked(values, table.rows, list),
    isLess: objective?.goal !== "maximize",
    mask: mask.subarray(0, table.rows),
  };
  return { rows, after: { seq: table.seq, specs, objective } };
}
