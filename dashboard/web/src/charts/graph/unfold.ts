// SPDX-License-Identifier: GPL-3.0-or-later
// A graph in which one step's copies are seen: its box grows until they have
// room in it, and what is right of it or below makes way.
import type { Table } from "../../types";
import { numberOf, wordOf } from "../rows";
import type { Graph, GraphNode } from "./document";

const HEAD_PX = 42; // of the step's own texts
const WIDTH_PX = 96;
const HEIGHT_PX = 38;
const GAP_PX = 8;
const SHAPE = (2 * HEIGHT_PX) / WIDTH_PX; // about twice as wide as it is high

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const boxOf = ({ x = 0, y = 0, width = 0, height = 0 }: GraphNode): Box => ({ x, y, width, height });

// Rows of the table that are of a step.
function rowsOf(table: Table, name: string): number[] {
  const step = table.byName.get("step");
  const wanted = step?.words.indexOf(name) ?? -1;
  const rows: number[] = [];
  for (let row = 0; row < table.rows; row++) if (step?.data[row] === wanted) rows.push(row);
  return rows;
}

function nodeOfRow(table: Table, row: number, step: GraphNode): GraphNode {
  const column = (name: string) => table.byName.get(name)?.data[row] ?? NaN;
  const timeOf = (name: string) => (Number.isNaN(column(name)) ? null : column(name));
  const round = column("round");
  return {
    ...step,
    name: `${step.name}[${column("copy")}]${round > 1 ? `#${round}` : ""}`,
    state: wordOf(table, "state", row),
    job: numberOf(table, row),
    began_ms: timeOf("started"),
    ended_ms: timeOf("ended"),
  };
}

// Where a place goes when a box grows: along x only what is beside it.
function makeMove(old: Box, now: Box) {
  const along = (at: number, from: number, before: number, after: number) =>
    at <= from ? at
      : at >= from + before ? at + after - before : from + ((at - from) * after) / before;
  return ([x, y]: readonly [number, number]): [number, number] => [
    y >= old.y && y <= old.y + old.height ? along(x, old.x, old.width, now.width) : x,
    along(y, old.y, old.height, now.height),
  ];
}

// The graph as it is where there is no such step, or it has no copies.
export function unfolded(graph: Graph, name: string, table: Table): Graph {
  const owner = graph.nodes.findIndex((node) => node.name === name && node.copies > 1);
  const step = graph.nodes[owner];
  if (step?.x === undefined) return graph;
  const plain = { ...step, copies: 1, jobs: {}, note: null, detail: null };
  const copies = rowsOf(table, name).map((row) => nodeOfRow(table, row, plain));
  for (let copy = copies.length; copy < step.copies; copy++)
    copies.push({ ...plain, name: `${name}[${copy}]`, state: "waiting", began_ms: null });
  const columns = Math.ceil(Math.sqrt(copies.length * SHAPE));
  const rows = Math.ceil(copies.length / columns);
  const old = boxOf(step);
  const now = {
    ...old,
    width: Math.max(old.width, columns * (WIDTH_PX + GAP_PX) + GAP_PX),
    height: HEAD_PX + rows * (HEIGHT_PX + GAP_PX) + GAP_PX,
  };
  const move = makeMove(old, now);
  const nodes = graph.nodes.map((node, index) => {
    if (index === owner) return { ...node, ...now, headHeight: HEAD_PX };
    const [x, y] = move([node.x ?? 0, node.y ?? 0]);
    return node.x === undefined ? node : { ...node, x, y };
  });
  const placed = copies.map((copy, i) => ({
    ...copy,
    within: owner,
    layer: Math.floor(i / columns),
    x: now.x + GAP_PX + (i % columns) * (WIDTH_PX + GAP_PX),
    y: now.y + HEAD_PX + Math.floor(i / columns) * (HEIGHT_PX + GAP_PX),
    width: WIDTH_PX,
    height: HEIGHT_PX,
  }));
  // A line leaves a box beside it where it did before, and goes straight down
  // until it is past the one that has grown.
  const edges = graph.edges.map((edge) => ({
    ...edge,
    points: edge.points.flatMap((point, i): [number, number][] => {
      const moved = move(point);
      const isBeside = i === 0 && edge.from !== owner && graph.nodes[edge.from].layer === step.layer;
      return isBeside ? [[moved[0], point[1]], moved] : [moved];
    }),
  }));
  return {
    ...graph,
    width: graph.width + now.width - old.width,
    height: graph.height + now.height - old.height,
    nodes: [...nodes, ...placed],
    edges,
  };
}
