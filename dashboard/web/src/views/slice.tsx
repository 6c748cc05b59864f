// SPDX-License-Identifier: GPL-3.0-or-later
// Slices: an objective over each parameter.
import { useMemo } from "preact/hooks";
import { cloudPoints, makeCloud, paintCloud, paintCloudMarks } from "../charts/cloud";
import type { Cloud } from "../charts/cloud";
import { useColors } from "../charts/colors";
import { useColumnAxis } from "../charts/column_axis";
import { filterTo } from "../charts/controls";
import { useObjective } from "../charts/objective";
import type { PanelSpec } from "../charts/panel";
import { Panels } from "../charts/panels";
import {
  columnTitle,
  counted,
  finiteValues,
  missingNotes,
  rangeText,
  rowText,
  selectedText,
  valueName,
  valuesOf,
} from "../charts/rows";
import { padded, scaleNote, scaleOfColumn } from "../charts/scales";
import type { Scale } from "../charts/scales";
import { rowsTable } from "../charts/tables";
import { useTheme } from "../charts/theme";
import type { Column, SpaceParam, Table, ViewProps } from "../types";

const HEIGHT_PX = 236;
const JITTER = 0.6; // of a category's band

// Not random: the same trial always lies at the same place. Fractions of
// multiples of the golden ratio lie evenly.
const GOLDEN = 0.6180339887498949;
const spread = (row: number) => ((row * GOLDEN) % 1) - 0.5;

const BANDS_MAX = 12;
const ROOM = 0.025; // at both ends

// How wide on the scale those lie beside each other that have the same value; 0
// where the values are not few.
function jitterOf(scale: Scale, param: SpaceParam): number {
  if (scale.kind === "category") return JITTER / scale.ticks(Infinity).length;
  const step = param.step ?? 1;
  const isFew = param.kind === "int" && (scale.max - scale.min) / step <= BANDS_MAX;
  return isFew && scale.kind === "linear" ? (JITTER * step) / (scale.max - scale.min) : 0;
}

interface Side {
  scale: Scale;
  of(row: number): number;
}

function cloudOf(table: Table, x: Side, y: Side, jitter: number): Cloud {
  const cloud = makeCloud(table.rows, x, y);
  for (let index = 0; jitter > 0 && index < cloud.count; index++)
    cloud.x[index] += jitter * spread(cloud.rows[index]);
  return cloud;
}

export function SliceView({ run }: ViewProps) {
  const theme = useTheme();
  const table = run.table.value;
  const { mask } = run.selection.value;
  const { objective, control: objectiveControl } = useObjective(run, "slice.objective");
  const { colors, legend, control: colorControl, name: colorName } = useColors(run, "slice.colour");
  const up = useColumnAxis(run, valueName(objective), "slice.y");
  const values = useMemo(() => finiteValues(table, mask, up.of), [mask, up.of]);
  const params = run.params.filter(({ name }) => table.byName.has(`param:${name}`));
  const grounds = useMemo(() => {
    const y = padded(up.scale);
    return params.map((param) => {
      const column = table.byName.get(`param:${param.name}`) as Column;
      const whole = scaleOfColumn(column, table.rows, param);
      const jitter = jitterOf(whole, param);
      const x = padded(whole, ROOM + jitter / 2);
      const across = { scale: x, of: valuesOf(column) };
      const cloud = cloudOf(table, across, { scale: y, of: up.of }, jitter);
      return { param, column, x, y, cloud };
    });
  }, [table, up.scale]);

  const panels = useMemo(
    () =>
      grounds.map(({ param, column, x, y, cloud }): PanelSpec => {
        const names = [column.name, valueName(objective), colorName];
        return {
          id: param.name,
          x: { scale: x, label: param.name + scaleNote(x) },
          y: { scale: y, label: up.label },
          paint: (painter, area) => paintCloud(painter, cloud, area, { mask, colors, theme }),
          paintMarked: (painter, area, marked) =>
            paintCloudMarks(painter, cloud, area, marked, theme),
          points: cloudPoints(cloud, mask, (row) => rowText(table, row, [...new Set(names)])),
          onDrag: (box) => {
            if (box.x) filterTo(run, column.name, x, box.x);
            if (box.y) filterTo(run, valueName(objective), y, box.y);
          },
        };
      }),
    [grounds, mask, colors, theme, objective],
  );
  const notes = useMemo(
    () => [
      ...up.notes,
      ...grounds.flatMap(({ column, param }) =>
        param.when === undefined
          ? []
          : missingNotes(table, mask, valuesOf(column), { name: columnTitle(column.name) }),
      ),
    ],
    [grounds, mask, up.notes],
  );
  const summary =
    `${selectedText(run)}: ${objective.metric} over each of ${counted(params.length, "parameter")}` +
    (values.length > 0 ? `, ${rangeText(values)}.` : ". No values yet.");
  return (
    <Panels
      run={run}
      title="Slices"
      file={`${run.document.value.name}-slices`}
      summary={summary}
      notes={notes}
      panels={panels}
      height={HEIGHT_PX}
      below={legend}
      table={() =>
        rowsTable(table, mask, [
          "state",
          valueName(objective),
          ...params.map(({ name }) => `param:${name}`),
        ])
      }
      controls={
        <>
          {objectiveControl}
          {colorControl}
          {up.control}
        </>
      }
    />
  );
}
