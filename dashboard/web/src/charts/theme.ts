// SPDX-License-Identifier: GPL-3.0-or-later
// The colours of charts: those of the style sheet (css/tokens.css), as they are
// now.
import { theme as chosen } from "../shell/theme";

export interface Theme {
  readonly ink: string; // texts
  readonly muted: string; // texts of less weight, axes
  readonly grid: string;
  readonly surface: string; // what a chart lies on
  readonly accent: string; // what is looked at
  readonly best: string;
  readonly stopped: string;
  readonly failed: string;
  readonly ghost: string; // what is filtered out
  readonly series: readonly string[]; // told apart side by side
  readonly ramp: readonly string[]; // from few to much
  readonly font: string; // for a canvas
}

const RAMP_STEPS = 32;
const SERIES = 8;
// The lightest of the ramp is for areas: a dot of it would not be seen.
const RAMP_FROM = 2;
const RAMP_TO = 5;

const hex = (byte: number) => Math.round(byte).toString(16).padStart(2, "0");
export const bytesOf = (color: string) =>
  [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)) as [number, number, number];

// Between two colours, #rrggbb both.
export function mixed(from: string, to: string, share: number): string {
  const end = bytesOf(to);
  return `#${bytesOf(from)
    .map((byte, i) => hex(byte + (end[i] - byte) * share))
    .join("")}`;
}

function smooth(stops: readonly string[]): string[] {
  return Array.from({ length: RAMP_STEPS }, (_, step) => {
    const place = (step / (RAMP_STEPS - 1)) * (stops.length - 1);
    const index = Math.min(stops.length - 2, Math.floor(place));
    return mixed(stops[index], stops[index + 1], place - index);
  });
}

const numbered = (name: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `${name}-${from + i}`);

function read(): Theme {
  const probe = document.createElement("span");
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  document.body.append(probe);
  // Whatever way a colour is written in, as #rrggbb.
  const color = (name: string): string => {
    probe.style.color = `var(--${name})`;
    if (pixel === null) return "#808080";
    pixel.fillStyle = getComputedStyle(probe).color;
    pixel.fillRect(0, 0, 1, 1);
    return `#${[...pixel.getImageData(0, 0, 1, 1).data.slice(0, 3)].map(hex).join("")}`;
  };
  const theme = {
    ink: color("text"),
    muted: color("chart-text"),
    grid: color("chart-grid"),
    surface: color("surface"),
    accent: color("series-1"),
    best: color("chart-best"),
    stopped: color("state-stopped"),
    failed: color("state-failed"),
    ghost: color("chart-faint"),
    series: numbered("series", 1, SERIES).map(color),
    ramp: smooth(numbered("ramp", RAMP_FROM, RAMP_TO).map(color)),
    font: getComputedStyle(document.body).fontFamily,
  };
  probe.remove();
  return theme;
}

let current: { name: string; theme: Theme } | undefined;

// Follows what the reader and their system choose.
export function useTheme(): Theme {
  const name = chosen.value;
  if (current?.name !== name) current = { name, theme: read() };
  return current.theme;
}

export const fontOf = (theme: Theme, sizePx = 11, weight = 400) =>
  `${weight} ${sizePx}px ${theme.font}`;
