// SPDX-License-Identifier: GPL-3.0-or-later
// Parallel coordinates as a picture that is saved: axes and texts as such, and
// lines too where they are few; else as they are on the screen.
import type { Objective, Table } from "../../types";
import type { Painter } from "../svg";
import { fontOf } from "../theme";
import type { Theme } from "../theme";
import { marksOf, placeOfRow } from "./axes";
import type { Axis } from "./axes";
import { yOf } from "./axis_view";
import type { AxisPlace } from "./axis_view";
import { shadeTable } from "../shades";
import { rankEdges, rankOf } from "./histogram";

export interface ParallelPicture {
  readonly table: Table;
  readonly theme: Theme;
  readonly placed: readonly { axis: Axis; place: AxisPlace }[];
  readonly width: number;
  readonly height: number;
  readonly objective: Objective | undefined; // what they are coloured by
  readonly rows: Uint32Array | null; // from the worst to the best; null: too many
  readonly lines: HTMLCanvasElement | null; // as they are on the screen
}

const NAME_Y = 20;
const MARK_PITCH_PX = 38;

function paintRows(painter: Painter, picture: ParallelPicture, rows: Uint32Array): void {
  const { table, theme, placed, objective } = picture;
  const colours = shadeTable(theme);
  const values = Float64Array.from(table.byName.get(`value:${objective?.metric}`)?.data ?? [])
    .subarray(0, table.rows);
  const edges = rankEdges(values);
  painter.lineWidth = 1;
  painter.globalAlpha = Math.min(0.85, Math.max(0.2, 14 / Math.sqrt(rows.length)));
  rows.forEach((row) => {
    const rank = rankOf(values[row], edges, objective?.goal !== "maximize");
    painter.strokeStyle = rank ? `rgb(${colours.subarray(rank * 3, rank * 3 + 3).join()})` : theme.muted;
    painter.beginPath();
    placed.forEach(({ axis, place }, index) => {
      const y = yOf(place, placeOfRow(axis, table, row));
      if (index === 0) painter.moveTo(place.x, y);
      else painter.lineTo(place.x, y);
    });
    painter.stroke();
  });
  painter.globalAlpha = 1;
}

function paintAxis(painter: Painter, theme: Theme, axis: Axis, place: AxisPlace): void {
  painter.strokeStyle = theme.muted;
  painter.lineWidth = 1;
  painter.beginPath();
  painter.moveTo(place.x, place.top);
  painter.lineTo(place.x, place.bottom);
  painter.stroke();
  painter.fillStyle = theme.ink;
  painter.textBaseline = "middle";
  painter.font = fontOf(theme, 10);
  painter.textAlign = "left";
  for (const { place: at, text } of marksOf(axis, (place.bottom - place.top) / MARK_PITCH_PX))
    if (text) painter.fillText(text, place.x + 5, yOf(place, at));
  painter.font = fontOf(theme, 12, 600);
  painter.textAlign = "center";
  painter.fillText(axis.label, place.x, NAME_Y);
}

export function paintParallel(painter: Painter, picture: ParallelPicture): void {
  const { theme, placed, rows, lines, width, height } = picture;
  if (rows !== null) paintRows(painter, picture, rows);
  else if (lines !== null) painter.drawImage(lines, 0, 0, width, height);
  for (const { axis, place } of placed) paintAxis(painter, theme, axis, place);
}
