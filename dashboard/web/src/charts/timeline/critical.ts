// SPDX-License-Identifier: GPL-3.0-or-later
// The critical path of a workflow: of the steps that the last one waited for, the
// one that ended last, and so on to a step that waited for none (Kelley & Walker,
// 1959, on what happened in place of what was planned).

export interface PathStep {
  readonly name: string;
  readonly began_ms: number | null;
  readonly ended_ms: number | null;
}

export interface PathGraph {
  readonly nodes: readonly PathStep[];
  readonly edges: readonly { from: number; to: number }[];
}

// Indices of nodes, from the first to the last; those that have not begun are not
// on it, one that runs ends now.
export function criticalPath({ nodes, edges }: PathGraph, nowMs: number): number[] {
  const needs = new Map<number, number[]>();
  for (const { from, to } of edges) needs.set(to, [...(needs.get(to) ?? []), from]);
  const endOf = (node: number) =>
    nodes[node].began_ms === null ? -Infinity : (nodes[node].ended_ms ?? nowMs);
  const latest = (some: readonly number[]) =>
    some.reduce((best, node) => (best < 0 || endOf(node) > endOf(best) ? node : best), -1);
  const path: number[] = [];
  let node = latest(nodes.map((_, i) => i));
  while (node >= 0 && endOf(node) > -Infinity && path.length < nodes.length) {
    path.unshift(node);
    node = latest(needs.get(node) ?? []);
  }
  return path;
}
