// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a timeline: how many ran at once, and the bars of attempts in their
// lanes. Bars that are thinner than a pixel are added up, pixel by pixel.
import { makeScale } from "../scales";
import type { Painter } from "../svg";
import { bytesOf, fontOf } from "../theme";
import type { Theme } from "../theme";
import { endOf, looks, meanCounts, startOf } from "./bars";
import type { BarLook, Bars, Lanes } from "./bars";
import type { RungMarks } from "./rung_marks";

// What is to be seen: times in ms since 1970, lanes from 0.
export interface Window {
  readonly from: number;
  readonly to: number;
  readonly firstLane: number;
  readonly lastLane: number; // not included
}

export interface TimelineLook {
  readonly bars: Bars;
  readonly lanes: Lanes;
  readonly window: Window;
  readonly nowMs: number;
  readonly theme: Theme;
  readonly colors: Readonly<Record<BarLook | "waiting", string>>;
  readonly isSelected: Uint8Array; // [bars]
  readonly isCritical: Uint8Array; // [bars]
  readonly rungs: RungMarks;
}

export const LEFT = 60;
export const RIGHT = 10;
const COUNT_TOP = 14;
const COUNT_BOTTOM = 70;
export const LANES_TOP = 98;
export const LANES_BOTTOM = 8; // from the lower edge
const PITCH_MAX_PX = 26;
const THIN_PX = 1.5; // thinner bars are added up
const FLAT_PX = 3; // lower lanes are too
const SIGN_ROOM_PX = 16;
const NOTCH_PX = 3;
const LABEL_PX = 12;
const FADED = 0.22;

export interface Frame {
  readonly left: number;
  readonly width: number;
  readonly top: number;
  readonly height: number;
  readonly pitch: number; // of lanes
  x(timeMs: number): number;
  y(lane: number): number; // of its upper edge
}

export function frameOf({ from, to, firstLane, lastLane }: Window, width: number, height: number): Frame {
  const inner = Math.max(10, width - LEFT - RIGHT);
  const tall = height - LANES_TOP - LANES_BOTTOM;
  const pitch = Math.min(PITCH_MAX_PX, tall / Math.max(1, lastLane - firstLane));
  return {
    left: LEFT, width: inner, top: LANES_TOP, height: tall, pitch,
    x: (timeMs) => LEFT + ((timeMs - from) / (to - from)) * inner,
    y: (lane) => LANES_TOP + (lane - firstLane) * pitch,
  };
}

// What so many lanes need.
export const heightFor = (lanes: number) => LANES_TOP + lanes * PITCH_MAX_PX + LANES_BOTTOM;

// ---- how many at once ----

function paintCount(painter: Painter, look: TimelineLook, frame: Frame): void {
  const { bars, window, nowMs, colors, theme } = look;
  const cells = Math.round(frame.width);
  const span: [number, number] = [window.from, window.to];
  const running = meanCounts(bars.count, (bar) =>
    [startOf(bars, bar, nowMs), endOf(bars, bar, nowMs)], span, cells);
  const waiting = meanCounts(bars.count, (bar) =>
    [bars.waited[bar], startOf(bars, bar, nowMs)], span, cells);
  const both = running.map((count, cell) => count + waiting[cell]);
  const most = Math.max(1, ...both);
  const y = (count: number) => COUNT_BOTTOM - (count / most) * (COUNT_BOTTOM - COUNT_TOP);
  const area = (top: Float64Array, color: string, alpha: number) => {
    painter.beginPath();
    painter.moveTo(frame.left, COUNT_BOTTOM);
    top.forEach((count, cell) => {
      painter.lineTo(frame.left + cell, y(count));
      painter.lineTo(frame.left + cell + 1, y(count));
    });
    painter.lineTo(frame.left + cells, COUNT_BOTTOM);
    painter.closePath();
    painter.fillStyle = color;
    painter.globalAlpha = alpha;
    painter.fill();
    painter.globalAlpha = 1;
  };
  area(both, colors.waiting, 0.35);
  area(running, colors.running, 0.75);
  painter.font = fontOf(theme, 11);
  painter.fillStyle = theme.muted;
  painter.textAlign = "right";
  painter.textBaseline = "middle";
  painter.fillText(String(Math.round(most * 10) / 10), frame.left - 6, COUNT_TOP + 4);
  painter.fillText("0", frame.left - 6, COUNT_BOTTOM - 3);
}

function paintTimes(painter: Painter, look: TimelineLook, frame: Frame): void {
  const { window, theme } = look;
  const scale = makeScale("time", window.from, window.to);
  painter.font = fontOf(theme, 11);
  painter.strokeStyle = theme.grid;
  painter.lineWidth = 1;
  painter.textAlign = "center";
  painter.textBaseline = "middle";
  for (const { value, text } of scale.ticks(frame.width / 90)) {
    const x = Math.round(frame.x(value)) + 0.5;
    painter.beginPath();
    painter.moveTo(x, COUNT_TOP);
    painter.lineTo(x, COUNT_BOTTOM);
    painter.moveTo(x, LANES_TOP - 6);
    painter.lineTo(x, frame.top + frame.height);
    painter.stroke();
    painter.fillStyle = theme.muted;
    const room = painter.measureText(text).width / 2;
    if (x + room > frame.left + frame.width + RIGHT) continue;
    painter.fillText(text, x, (COUNT_BOTTOM + LANES_TOP - 6) / 2 + 1);
  }
}

// ---- bars ----

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly height: number;
}

// Cells of thin bars: how much of each is covered, by look.
interface Grid {
  readonly columns: number;
  readonly rows: number;
  readonly rowPx: number;
  readonly cover: Float32Array; // [rows][columns][looks], then one of faded ones
}

const KINDS = looks.length + 1; // the last: not selected

function makeGrid(frame: Frame): Grid {
  const rowPx = Math.max(frame.pitch, 2);
  const columns = Math.ceil(frame.width);
  const rows = Math.ceil(frame.height / rowPx);
  return { columns, rows, rowPx, cover: new Float32Array(columns * rows * KINDS) };
}

function addToGrid(grid: Grid, row: number, kind: number, from: number, to: number): void {
  if (row < 0 || row >= grid.rows) return;
  const last = Math.min(grid.columns - 1, Math.floor(to));
  for (let column = Math.max(0, Math.floor(from)); column <= last; column++) {
    const part = Math.min(to, column + 1) - Math.max(from, column);
    // However short it was, something of it is seen.
    grid.cover[(row * grid.columns + column) * KINDS + kind] += Math.max(part, 0.02);
  }
}

function gridImage(grid: Grid, look: TimelineLook, lanesPerRow: number): OffscreenCanvas | HTMLCanvasElement {
  const inks = [...looks.map((word) => look.colors[word]), look.theme.ghost].map(bytesOf);
  const image = new ImageData(grid.columns, grid.rows);
  for (let cell = 0; cell < grid.columns * grid.rows; cell++) {
    let all = 0;
    const color = [0, 0, 0];
    for (let kind = 0; kind < KINDS; kind++) {
      const cover = grid.cover[cell * KINDS + kind];
      if (cover === 0) continue;
      all += cover;
      for (let i = 0; i < 3; i++) color[i] += cover * inks[kind][i];
    }
    if (all === 0) continue;
    for (let i = 0; i < 3; i++) image.data[cell * 4 + i] = color[i] / all;
    image.data[cell * 4 + 3] = 255 * Math.min(1, 0.25 + (0.75 * all) / lanesPerRow);
  }
  const canvas = document.createElement("canvas");
  canvas.width = grid.columns;
  canvas.height = grid.rows;
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

function paintSign(painter: Painter, look: BarLook, x: number, y: number, color: string): void {
  painter.strokeStyle = color;
  painter.fillStyle = color;
  painter.lineWidth = 1.5;
  painter.beginPath();
  if (look === "succeeded") {
    painter.moveTo(x - 3, y);
    painter.lineTo(x - 1, y + 2.5);
    painter.lineTo(x + 3.5, y - 3);
  } else if (look === "failed") {
    painter.moveTo(x - 3, y - 3);
    painter.lineTo(x + 3, y + 3);
    painter.moveTo(x + 3, y - 3);
    painter.lineTo(x - 3, y + 3);
  } else if (look === "interrupted") {
    painter.moveTo(x + 1, y - 4);
    painter.lineTo(x - 2, y + 0.5);
    painter.lineTo(x + 2, y - 0.5);
    painter.lineTo(x - 1, y + 4);
  } else if (look === "stopped") {
    painter.rect(x - 2.5, y - 2.5, 5, 5);
  } else {
    painter.moveTo(x - 2, y - 3);
    painter.lineTo(x + 3, y);
    painter.lineTo(x - 2, y + 3);
    painter.closePath();
  }
  painter.stroke();
}

// A notch in both edges where a trial reached a rung; what is decided after its
// end has one there.
function paintRungs(painter: Painter, look: TimelineLook, frame: Frame, bar: number, box: Box): void {
  const { left, right, top, height } = box;
  const last = frame.x(endOf(look.bars, bar, look.nowMs)) - NOTCH_PX;
  painter.fillStyle = look.theme.surface;
  for (const { timeMs } of look.rungs.get(bar) ?? []) {
    const x = Math.min(frame.x(timeMs), last);
    if (x <= left || x >= right) continue;
    painter.fillRect(x, top, 1.5, NOTCH_PX);
    painter.fillRect(x, top + height - NOTCH_PX, 1.5, NOTCH_PX);
  }
}

function paintBar(painter: Painter, look: TimelineLook, frame: Frame, bar: number, from: number, to: number): void {
  const { bars, lanes, theme, colors } = look;
  const word = looks[bars.look[bar]];
  const gap = frame.pitch > 6 ? 1.5 : 0.5;
  const [top, height] = [frame.y(lanes.of[bar]) + gap, frame.pitch - 2 * gap];
  const [left, right] = [Math.max(from, frame.left), Math.min(to, frame.left + frame.width)];
  const isSelected = look.isSelected[bar] !== 0;
  painter.globalAlpha = isSelected ? 1 : FADED;
  painter.fillStyle = isSelected ? colors[word] : theme.muted;
  painter.fillRect(left, top, right - left, height);
  // A retry begins with a notch.
  if (bars.attempt[bar] > 1 && right - left > 4) {
    painter.fillStyle = theme.surface;
    painter.fillRect(left + 1.5, top, 1.5, height);
  }
  if (height > 2 * NOTCH_PX) paintRungs(painter, look, frame, bar, { left, right, top, height });
  painter.globalAlpha = 1;
  if (look.isCritical[bar] !== 0) {
    painter.strokeStyle = theme.ink;
    painter.lineWidth = 2;
    painter.strokeRect(left, top, right - left, height);
  }
  if (!isSelected || height < 9 || right - left < SIGN_ROOM_PX) return;
  const middle = top + height / 2;
  paintSign(painter, word, left + 10, middle, theme.surface);
  painter.font = fontOf(theme, 11);
  painter.textBaseline = "middle";
  painter.textAlign = "left";
  const text = `${bars.number[bar]}${bars.attempt[bar] > 1 ? ` ↻${bars.attempt[bar] - 1}` : ""}`;
  if (height < 12 || painter.measureText(text).width > right - left - 22) return;
  painter.fillStyle = theme.surface;
  painter.fillText(text, left + 18, middle + 0.5);
}

function paintWait(painter: Painter, look: TimelineLook, frame: Frame, bar: number): void {
  const { bars, lanes, nowMs } = look;
  const from = Math.max(frame.left, frame.x(bars.waited[bar]));
  const to = Math.min(frame.left + frame.width, frame.x(startOf(bars, bar, nowMs)));
  if (!(to - from > 1)) return;
  const y = frame.y(lanes.of[bar]) + frame.pitch / 2;
  painter.globalAlpha = look.isSelected[bar] !== 0 ? 0.8 : FADED;
  painter.fillStyle = look.colors.waiting;
  painter.fillRect(from, y - 1, to - from, 2);
  painter.globalAlpha = 1;
}

export interface Drawn {
  readonly thin: number; // bars that were added up
  readonly hidden: number; // bars outside of the window
}

function paintBars(painter: Painter, look: TimelineLook, frame: Frame): Drawn {
  const { bars, lanes, nowMs, window } = look;
  const right = frame.left + frame.width;
  const grid = makeGrid(frame);
  const wide: number[] = [];
  let hidden = 0;
  let thin = 0;
  for (let bar = 0; bar < bars.count; bar++) {
    const lane = lanes.of[bar];
    const [from, to] = [frame.x(startOf(bars, bar, nowMs)), frame.x(endOf(bars, bar, nowMs))];
    const isSeen = lane >= window.firstLane - 1 && lane < window.lastLane &&
      to >= frame.left && Math.min(from, frame.x(bars.waited[bar])) <= right;
    if (!isSeen) hidden++;
    else if (to - from >= THIN_PX && frame.pitch >= FLAT_PX) wide.push(bar);
    else if (!Number.isNaN(bars.started[bar])) {
      const row = Math.floor((frame.y(lane) - frame.top + 0.01) / grid.rowPx);
      const kind = look.isSelected[bar] !== 0 ? bars.look[bar] : KINDS - 1;
      addToGrid(grid, row, kind, from - frame.left, to - frame.left);
      thin++;
    }
    if (isSeen && frame.pitch >= FLAT_PX) paintWait(painter, look, frame, bar);
  }
  if (thin > 0) {
    const perRow = Math.max(1, grid.rowPx / frame.pitch);
    const image = gridImage(grid, look, perRow);
    if (painter instanceof CanvasRenderingContext2D) painter.imageSmoothingEnabled = false;
    painter.drawImage(image, frame.left, frame.top, grid.columns, grid.rows * grid.rowPx);
  }
  for (const bar of wide) {
    const [from, to] = [frame.x(startOf(bars, bar, nowMs)), frame.x(endOf(bars, bar, nowMs))];
    paintBar(painter, look, frame, bar, from, to);
  }
  return { thin, hidden };
}

function paintLabels(painter: Painter, look: TimelineLook, frame: Frame): void {
  const { lanes, window, theme } = look;
  painter.font = fontOf(theme, 11);
  painter.fillStyle = theme.muted;
  painter.textAlign = "right";
  painter.textBaseline = "middle";
  let freeFrom = -Infinity;
  for (let lane = Math.ceil(window.firstLane); lane < Math.min(window.lastLane, lanes.count); lane++) {
    const y = frame.y(lane) + frame.pitch / 2;
    const text = lanes.label(lane);
    if (text === "" || y < freeFrom) continue;
    const short = text.length > 9 ? `${text.slice(0, 8)}…` : text;
    painter.fillText(short, frame.left - 6, y);
    freeFrom = y + LABEL_PX;
  }
}

export function paintTimeline(painter: Painter, look: TimelineLook, width: number, height: number): Drawn {
  const frame = frameOf(look.window, width, height);
  paintTimes(painter, look, frame);
  paintCount(painter, look, frame);
  paintLabels(painter, look, frame);
  painter.save();
  painter.beginPath();
  painter.rect(frame.left, frame.top - 2, frame.width, frame.height + 4);
  painter.clip();
  const drawn = paintBars(painter, look, frame);
  painter.restore();
  return drawn;
}
