// SPDX-License-Identifier: GPL-3.0-or-later
// A chart is drawn once, by a function that is given a Painter: that of a canvas,
// or one that writes down what is drawn as SVG, its texts as texts.
import { withoutTurns } from "../data/turns";

export type Picture = HTMLCanvasElement | OffscreenCanvas | ImageBitmap;

interface Style {
  fillStyle: string | CanvasGradient | CanvasPattern;
  strokeStyle: string | CanvasGradient | CanvasPattern;
  lineWidth: number;
  lineCap: CanvasLineCap;
  lineJoin: CanvasLineJoin;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
}

// What of a canvas' context charts use.
export interface Painter extends Style {
  save(): void;
  restore(): void;
  translate(x: number, y: number): void;
  rotate(radians: number): void;
  scale(x: number, y: number): void;
  beginPath(): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void;
  rect(x: number, y: number, width: number, height: number): void;
  arc(x: number, y: number, radius: number, from: number, to: number): void;
  closePath(): void;
  fill(): void;
  stroke(): void;
  clip(): void;
  fillRect(x: number, y: number, width: number, height: number): void;
  strokeRect(x: number, y: number, width: number, height: number): void;
  fillText(text: string, x: number, y: number): void;
  measureText(text: string): { width: number };
  setLineDash(segments: number[]): void;
  drawImage(image: Picture, x: number, y: number, width: number, height: number): void;
}

export interface SvgPainter extends Painter {
  readonly isVector: true;
  text(): string; // the whole file
}

export const isVector = (painter: Painter): painter is SvgPainter => "isVector" in painter;

type Matrix = readonly [number, number, number, number, number, number];

const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

const times = (m: Matrix, n: Matrix): Matrix => [
  m[0] * n[0] + m[2] * n[1],
  m[1] * n[0] + m[3] * n[1],
  m[0] * n[2] + m[2] * n[3],
  m[1] * n[2] + m[3] * n[3],
  m[0] * n[4] + m[2] * n[5] + m[4],
  m[1] * n[4] + m[3] * n[5] + m[5],
];

const short = (number: number) => String(Math.round(number * 100) / 100);

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
// What XML cannot hold at all becomes the sign for that.
const escaped = (text: string) =>
  withoutTurns(text)
    .replace(/[&<>"]/g, (character) => ENTITIES[character])
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");

const anchors: Partial<Record<CanvasTextAlign, string>> = {
  center: "middle",
  right: "end",
  end: "end",
};
// By how much of the font's size a text moves down, so that it stands as on a canvas.
const baselines: Partial<Record<CanvasTextBaseline, number>> = {
  middle: 0.35,
  top: 0.8,
  hanging: 0.8,
  bottom: -0.2,
};

interface State extends Style {
  dash: number[];
  matrix: Matrix;
  clipId: string; // "": none
}

function fontAttributes(font: string): string {
  const [, weight = "400", size = "10", family = "sans-serif"] =
    /^(?:(\S+) )?([\d.]+)px (.*)$/.exec(font) ?? [];
  return `font-family="${escaped(family)}" font-size="${size}" font-weight="${weight}"`;
}

function dataUrl(image: Picture): string {
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d")?.drawImage(image, 0, 0);
  return canvas.toDataURL("image/png");
}

export function makeSvgPainter(
  width: number,
  height: number,
  about: { title: string; summary: string },
): SvgPainter {
  const out: string[] = [];
  const clips: string[] = [];
  const stack: State[] = [];
  const ruler = document.createElement("canvas").getContext("2d");
  let path: string[] = [];

  const point = (x: number, y: number) => {
    const [a, b, c, d, e, f] = painter.matrix;
    return `${short(a * x + c * y + e)} ${short(b * x + d * y + f)}`;
  };
  const growth = () => {
    const [a, b, c, d] = painter.matrix;
    return Math.sqrt(Math.abs(a * d - b * c));
  };
  const turn = (matrix: Matrix) => void (painter.matrix = times(painter.matrix, matrix));
  const common = () =>
    (painter.globalAlpha < 1 ? ` opacity="${short(painter.globalAlpha)}"` : "") +
    (painter.clipId === "" ? "" : ` clip-path="url(#${painter.clipId})"`);
  const box = (x: number, y: number, w: number, h: number) =>
    `M${point(x, y)}L${point(x + w, y)}L${point(x + w, y + h)}L${point(x, y + h)}Z`;
  const addFill = (d: string) =>
    void out.push(`<path d="${d}" fill="${String(painter.fillStyle)}"${common()}/>`);
  const addStroke = (d: string) => {
    const dash = painter.dash.length > 0 ? ` stroke-dasharray="${painter.dash.join(" ")}"` : "";
    const ends =
      (painter.lineCap === "butt" ? "" : ` stroke-linecap="${painter.lineCap}"`) +
      (painter.lineJoin === "miter" ? "" : ` stroke-linejoin="${painter.lineJoin}"`);
    const line = `stroke-width="${short(painter.lineWidth * growth())}"${dash}${ends}`;
    const color = String(painter.strokeStyle);
    out.push(`<path d="${d}" fill="none" stroke="${color}" ${line}${common()}/>`);
  };

  const painter: SvgPainter & State = {
    isVector: true,
    fillStyle: "#000000",
    strokeStyle: "#000000",
    lineWidth: 1,
    lineCap: "butt",
    lineJoin: "miter",
    globalAlpha: 1,
    font: "10px sans-serif",
    textAlign: "start",
    textBaseline: "alphabetic",
    dash: [],
    matrix: IDENTITY,
    clipId: "",
    save: () => {
      const { fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, globalAlpha } = painter;
      const { font, textAlign, textBaseline, dash, matrix, clipId } = painter;
      stack.push({
        fillStyle,
        strokeStyle,
        lineWidth,
        lineCap,
        lineJoin,
        globalAlpha,
        font,
        textAlign,
        textBaseline,
        dash,
        matrix,
        clipId,
      });
    },
    restore: () => void Object.assign(painter, stack.pop() ?? {}),
    translate: (x, y) => turn([1, 0, 0, 1, x, y]),
    scale: (x, y) => turn([x, 0, 0, y, 0, 0]),
    rotate: (angle) => {
      const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
      turn([cos, sin, -sin, cos, 0, 0]);
    },
    beginPath: () => void (path = []),
    moveTo: (x, y) => void path.push(`M${point(x, y)}`),
    lineTo: (x, y) => void path.push(`${path.length === 0 ? "M" : "L"}${point(x, y)}`),
    bezierCurveTo: (x1, y1, x2, y2, x, y) =>
      void path.push(`C${point(x1, y1)} ${point(x2, y2)} ${point(x, y)}`),
    rect: (x, y, w, h) => void path.push(box(x, y, w, h)),
    arc: (x, y, radius, from, to) => {
      const r = short(radius * growth());
      const at = (angle: number) =>
        point(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
      const begin = path.length === 0 || to - from >= 2 * Math.PI ? "M" : "L";
      const middle = (from + to) / 2;
      path.push(`${begin}${at(from)}A${r} ${r} 0 0 1 ${at(middle)}A${r} ${r} 0 0 1 ${at(to)}`);
    },
    closePath: () => void path.push("Z"),
    fill: () => addFill(path.join("")),
    stroke: () => addStroke(path.join("")),
    clip: () => {
      const id = `clip${clips.length + 1}`;
      const outer = painter.clipId === "" ? "" : ` clip-path="url(#${painter.clipId})"`;
      clips.push(`<clipPath id="${id}"${outer}><path d="${path.join("")}"/></clipPath>`);
      painter.clipId = id;
    },
    fillRect: (x, y, w, h) => addFill(box(x, y, w, h)),
    strokeRect: (x, y, w, h) => addStroke(box(x, y, w, h)),
    fillText: (text, x, y) => {
      const size = Number(/([\d.]+)px/.exec(painter.font)?.[1] ?? 10);
      const moved = times(painter.matrix, [1, 0, 0, 1, x, y]);
      const down = (baselines[painter.textBaseline] ?? 0) * size;
      const anchor = anchors[painter.textAlign];
      out.push(
        `<text transform="matrix(${moved.map(short).join(" ")})" y="${short(down)}" ` +
          `${fontAttributes(painter.font)} fill="${String(painter.fillStyle)}"` +
          `${anchor === undefined ? "" : ` text-anchor="${anchor}"`}${common()}>` +
          `${escaped(text)}</text>`,
      );
    },
    measureText: (text) => {
      if (ruler === null) return { width: text.length * 6 };
      ruler.font = painter.font;
      return ruler.measureText(text);
    },
    setLineDash: (segments) => void (painter.dash = segments),
    drawImage: (image, x, y, w, h) => {
      const matrix = painter.matrix.map(short).join(" ");
      out.push(
        `<image href="${dataUrl(image)}" x="${short(x)}" y="${short(y)}" width="${short(w)}" ` +
          `height="${short(h)}" preserveAspectRatio="none" transform="matrix(${matrix})"` +
          `${common()}/>`,
      );
    },
    text: () =>
      `<?xml version="1.0" encoding="UTF-8"?>\n` +
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" role="img">\n` +
      `<title>${escaped(about.title)}</title>\n<desc>${escaped(about.summary)}</desc>\n` +
      `<defs>${clips.join("")}</defs>\n${out.join("\n")}\n</svg>\n`,
  };
  return painter;
}
