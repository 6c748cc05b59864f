// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a graph of steps: their states by colour and sign, matrices as one box.
import { formatDuration } from "../../shell/format";
import { lookOf } from "../../shell/states";
import { colour } from "../../shell/theme";
import { fitted } from "../axes";
import type { Painter } from "../svg";
import { fontOf } from "../theme";
import type { Theme } from "../theme";
import type { Graph, GraphNode } from "./document";

export interface Camera {
  readonly scale: number;
  readonly x: number; // of the graph's corner, in CSS pixels
  readonly y: number;
}

export interface GraphLook {
  readonly graph: Graph;
  readonly theme: Theme;
  readonly camera: Camera;
  readonly nowMs: number;
  readonly isFound: (node: number) => boolean; // others are faint
}

const TEXT_SCALE_MIN = 0.45; // smaller than this, texts are not to be read
const PAD_PX = 10;
const BAR_PX = 4;
const FAINT = 0.25;

const signs: Record<string, string> = {
  succeeded: "✓", failed: "✗", running: "▶", waiting: "◷", paused: "Ⅱ", stopped: "■",
  skipped: "»", interrupted: "↯", pending: "·", cancelled: "⊘",
};

export const isPlaced = (node: GraphNode) => node.x !== undefined;

// "×128: 100 ✓ 20 ▶ 8 ✗, 70 cached", a note, or how long it took.
export function noteOf(node: GraphNode, nowMs: number): string {
  if (node.copies > 1) {
    const parts = Object.entries(node.jobs)
      .filter(([, count]) => count > 0)
      .map(([state, count]) => `${count} ${signs[state] ?? state}`);
    const cached = node.cached ? `, ${node.cached} cached` : "";
    return `×${node.copies}${parts.length > 0 ? `: ${parts.join(" ")}` : ""}${cached}`;
  }
  if (node.note) return node.note;
  if (node.cached) return "cached";
  if (node.began_ms === null) return node.detail ?? "";
  return formatDuration((node.ended_ms ?? nowMs) - node.began_ms);
}

function paintEdges(painter: Painter, look: GraphLook): void {
  const { graph, theme } = look;
  painter.lineWidth = 1.5;
  for (const { from, to, points } of graph.edges) {
    const isFollowed = graph.nodes[from].state === "succeeded" && graph.nodes[to].began_ms !== null;
    painter.strokeStyle = isFollowed ? theme.muted : theme.ghost;
    painter.globalAlpha = look.isFound(from) && look.isFound(to) ? 1 : FAINT;
    painter.beginPath();
    points.forEach(([x, y], i) => {
      if (i === 0) return painter.moveTo(x, y);
      const [x0, y0] = points[i - 1];
      const middle = (y0 + y) / 2;
      return painter.bezierCurveTo(x0, middle, x, middle, x, y);
    });
    painter.stroke();
  }
}

// How much of a matrix is done, along the lower edge.
function paintProgress(painter: Painter, node: GraphNode, x: number, y: number, width: number): void {
  let at = x;
  for (const [state, count] of Object.entries(node.jobs)) {
    const part = (count / node.copies) * width;
    painter.fillStyle = colour(`state-${lookOf(state)}`);
    painter.fillRect(at, y, part, BAR_PX);
    at += part;
  }
}

function paintNode(painter: Painter, look: GraphLook, node: GraphNode): void {
  const { x = 0, y = 0, width = 0, height = 0 } = node;
  const state = lookOf(node.state);
  const ink = colour(`state-${state}`);
  painter.fillStyle = look.theme.surface;
  painter.fillRect(x, y, width, height);
  painter.fillStyle = colour(`soft-${state}`);
  painter.fillRect(x, y, width, height);
  painter.strokeStyle = ink;
  painter.lineWidth = state === "running" ? 2 : 1;
  painter.setLineDash(state === "waiting" || state === "skipped" ? [4, 3] : []);
  painter.strokeRect(x, y, width, height);
  painter.setLineDash([]);
  if (node.copies > 1) paintProgress(painter, node, x, y + height - BAR_PX, width);
  if (look.camera.scale < TEXT_SCALE_MIN || node.kind === "join") return;
  const room = width - 2 * PAD_PX;
  const head = node.headHeight ?? height;
  const owner = node.within === undefined ? "" : look.graph.nodes[node.within].name;
  const name = node.name.slice(owner.length); // "[3]" in its step's box
  const note = noteOf(node, look.nowMs);
  painter.textAlign = "left";
  painter.textBaseline = "middle";
  painter.fillStyle = ink;
  painter.font = fontOf(look.theme, 13, 600);
  painter.fillText(signs[state], x + PAD_PX, y + head * (note ? 0.33 : 0.5));
  painter.fillStyle = look.theme.ink;
  painter.fillText(fitted(painter, name, room - 18), x + PAD_PX + 18, y + head * (note ? 0.33 : 0.5));
  painter.fillStyle = look.theme.muted;
  painter.font = fontOf(look.theme, 11);
  painter.fillText(fitted(painter, note, room), x + PAD_PX, y + head * 0.7);
}

export function paintGraph(painter: Painter, look: GraphLook, width: number, height: number): void {
  const { graph, camera } = look;
  painter.save();
  painter.translate(camera.x, camera.y);
  painter.scale(camera.scale, camera.scale);
  paintEdges(painter, look);
  graph.nodes.forEach((node, index) => {
    const [left, top] = [camera.x + (node.x ?? 0) * camera.scale, camera.y + (node.y ?? 0) * camera.scale];
    const isSeen = left < width && top < height && left + (node.width ?? 0) * camera.scale > 0 &&
      top + (node.height ?? 0) * camera.scale > 0;
    if (!isSeen) return;
    painter.globalAlpha = look.isFound(index) ? 1 : FAINT;
    paintNode(painter, look, node);
  });
  painter.restore();
}
