// SPDX-License-Identifier: GPL-3.0-or-later
// Any column over any other.
import { useMemo } from "preact/hooks";
import { cloudPoints, makeCloud, paintCloud, paintCloudMarks } from "../charts/cloud";
import { columnChoices, useColors } from "../charts/colors";
import { useColumnAxis } from "../charts/column_axis";
import { Choose, useDragging, useHeldText } from "../charts/controls";
import type { PanelSpec } from "../charts/panel";
import { Panels } from "../charts/panels";
import { columnTitle, counted, rowText, selectedText, valueName } from "../charts/rows";
import { rowsTable } from "../charts/tables";
import { useTheme } from "../charts/theme";
import type { RunModel, ViewProps } from "../types";

const HEIGHT_PX = 460;

function firstName(run: RunModel): string {
  return run.params.length > 0 ? `param:${run.params[0].name}` : "number";
}

// A column that the reader chose.
function useChosenAxis(run: RunModel, key: string, label: string, fallback: string) {
  const chosen = useHeldText(key, fallback);
  const axis = useColumnAxis(run, chosen.value, `${key}scale`, "log");
  const choose = (
    <Choose
      label={label}
      value={axis.column}
      choices={columnChoices(run)}
      onChoose={(id) => (chosen.value = id)}
    />
  );
  return {
    ...axis,
    control: (
      <>
        {choose}
        {axis.control}
      </>
    ),
  };
}

export function ScatterView({ run }: ViewProps) {
  const theme = useTheme();
  const table = run.table.value;
  const { mask } = run.selection.value;
  const x = useChosenAxis(run, "scatter.x", "Across", firstName(run));
  const y = useChosenAxis(
    run,
    "scatter.y",
    "Up",
    run.objectives.length > 0 ? valueName(run.objectives[0]) : "number",
  );
  const {
    colors,
    legend,
    control: colorControl,
    name: colorName,
  } = useColors(run, "scatter.colour");
  const dragging = useDragging(run, "scatter");
  const zoom = useMemo(
    () => dragging.use(x, y),
    [x.scale, y.scale, dragging.zoomKey, dragging.mode],
  );
  const cloud = useMemo(
    () => makeCloud(table.rows, { scale: zoom.x, of: x.of }, { scale: zoom.y, of: y.of }),
    [table, zoom],
  );
  const panels = useMemo((): PanelSpec[] => {
    const names = [...new Set([x.column, y.column, colorName])];
    return [
      {
        id: "scatter",
        x: { scale: zoom.x, label: x.label },
        y: { scale: zoom.y, label: y.label },
        paint: (painter, area) => paintCloud(painter, cloud, area, { mask, colors, theme }),
        paintMarked: (painter, area, marked) =>
          paintCloudMarks(painter, cloud, area, marked, theme),
        points: cloudPoints(cloud, mask, (row) => rowText(table, row, names)),
        onDrag: zoom.onDrag,
        onReset: zoom.onReset,
      },
    ];
  }, [cloud, mask, colors, theme]);
  const shown = useMemo(
    () => cloud.rows.subarray(0, cloud.count).filter((row) => mask[row] !== 0),
    [cloud, mask],
  );
  const [across, up] = [columnTitle(x.column), columnTitle(y.column)];
  return (
    <Panels
      run={run}
      title={`${up} over ${across}`}
      file={`${run.document.value.name}-scatter`}
      summary={`${selectedText(run)}; ${counted(shown.length, "trial")} ${shown.length === 1 ? "has" : "have"} both values.`}
      notes={[...new Set([...x.notes, ...y.notes])]}
      panels={panels}
      height={HEIGHT_PX}
      below={legend}
      table={() => rowsTable(table, mask, ["state", x.column, y.column, colorName])}
      controls={
        <>
          {x.control}
          {y.control}
          {colorControl}
          {dragging.control}
        </>
      }
    />
  );
}
