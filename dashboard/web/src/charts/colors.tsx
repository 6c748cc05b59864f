// SPDX-License-Identifier: GPL-3.0-or-later
// Dots coloured by a column: a ramp for numbers, a colour a word for words.
import { useMemo } from "preact/hooks";
import { IN_RUN } from "../data/columns";
import { metricColumns } from "../model/metric_columns";
import type { Column, RunModel, Table } from "../types";
import type { CloudColors } from "./cloud";
import { Choose, useHeldText } from "./controls";
import type { Choice } from "./controls";
import { Legend } from "./legend";
import { columnTitle, isBetterAsLog, valuesOf } from "./rows";
import { extent, makeScale, scaleNote, valueText } from "./scales";
import { useTheme } from "./theme";
import type { Theme } from "./theme";

// What of a trial can be an axis or a colour, in the order of the table, and then
// what can be read of each metric.
export function columnChoices(run: RunModel): readonly Choice[] {
  const names = run.table.value.columns
    .map(({ name }) => name)
    .filter((name) => !["job", "nans"].includes(name));
  const others = metricColumns(run.metrics.value, run.objectives);
  return [...new Set([...names, ...others])].map((id) => ({
    id,
    text: id.startsWith("metric:") ? `last ${columnTitle(id)}` : columnTitle(id),
  }));
}

function byWords(column: Column, theme: Theme) {
  const used = [...new Set(Array.from(column.data))].sort((a, b) => a - b);
  const place = new Map(used.map((word, index) => [word, index]));
  const colorOf = (index: number) => theme.series[index % theme.series.length];
  const text = (word: number) => column.words[word] ?? "none";
  const colors: CloudColors = {
    palette: used.map((_, index) => colorOf(index)),
    of: (row) => place.get(column.data[row]) ?? 0,
  };
  const legend = (
    <Legend
      items={used
        .slice(0, 24)
        .map((word, index) => ({ sign: "dot" as const, color: colorOf(index), text: text(word) }))}
    />
  );
  return { colors, legend };
}

function byNumbers(table: Table, column: Column, theme: Theme) {
  const of = valuesOf(column);
  const values = Float64Array.from({ length: table.rows }, (_, row) => of(row));
  const finite = values.filter(Number.isFinite);
  const kind = column.kind !== "time" && isBetterAsLog(finite) ? "log" : "linear";
  const { min, max } = extent(finite, finite.length, kind);
  const scale = makeScale(kind, min, max);
  const steps = theme.ramp.length;
  const unknown = steps;
  const colors: CloudColors = {
    palette: [...theme.ramp, theme.muted],
    of: (row) => {
      const unit = scale.toUnit(values[row]);
      return unit >= 0 && unit <= 1 ? Math.min(steps - 1, Math.floor(unit * steps)) : unknown;
    },
  };
  const text =
    column.kind === "time" ? (value: number) => new Date(value).toLocaleString() : valueText;
  const legend = (
    <p class="chart-ramp">
      <span>
        {columnTitle(column.name)}
        {scaleNote({ kind })}
      </span>
      <span>{Number.isNaN(min) ? "" : text(min)}</span>
      <svg
        width="120"
        height="8"
        viewBox={`0 0 ${steps} 1`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {theme.ramp.map((color, index) => (
          <rect key={color} x={index} y="0" width="1.05" height="1" fill={color} />
        ))}
      </svg>
      <span>{Number.isNaN(max) ? "" : text(max)}</span>
    </p>
  );
  return { colors, legend };
}

// The colours that the reader chose, held in the URL under `key`. none: what it is
// called that all have the same one, where that may be chosen.
export function useColors(run: RunModel, key: string, none?: string) {
  const theme = useTheme();
  const table = run.table.value;
  const usual = table.byName.has(IN_RUN) ? "run" : "number";
  const chosen = useHeldText(key, none === undefined ? usual : "");
  const column = table.byName.get(chosen.value) ??
    (none === undefined ? table.byName.get(usual) : undefined);
  const made = useMemo(() => {
    if (column === undefined)
      return { colors: { palette: [theme.accent], of: () => 0 }, legend: null };
    return column.kind === "words" ? byWords(column, theme) : byNumbers(table, column, theme);
  }, [table, column, theme]);
  const control = (
    <Choose
      label="Colour"
      value={column?.name ?? ""}
      choices={[...(none === undefined ? [] : [{ id: "", text: none }]), ...columnChoices(run)]}
      onChoose={(id) => (chosen.value = id)}
    />
  );
  return { ...made, control, name: column?.name ?? "" };
}
