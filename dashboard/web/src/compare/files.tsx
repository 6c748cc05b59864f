// SPDX-License-Identifier: GPL-3.0-or-later
// The files of two runs against each other.
import { useHeldText, Choose } from "../charts/controls";
import { Difference } from "./difference";
import type { Comparison } from "./model";
import { linesOf, useOrigins } from "./origin";

export function Files({ comparison }: { comparison: Comparison }) {
  const { runs } = comparison;
  const left = useHeldText("left");
  const right = useHeldText("right");
  const find = (held: string, fallback: number) =>
    runs.find(({ id }) => String(id) === held) ?? runs[Math.min(fallback, runs.length - 1)];
  const [one, other] = [find(left.value, 0), find(right.value, 1)];
  const key = runs.map(({ document }) => document.state).join();
  const origins = useOrigins([one.id, other.id], key);
  const [before, after] = [origins.get(one.id), origins.get(other.id)];
  const choices = runs.map(({ id, document }) => ({ id: String(id), text: document.name }));
  const problem = [before, after].find((origin) => origin instanceof Error);
  return (
    <section class="card" aria-label="Difference of the files">
      <div class="card-head">
        <h2>Difference of the files</h2>
        <div class="chart-controls">
          <Choose label="From" value={String(one.id)} choices={choices} onChoose={(id) => (left.value = id)} />
          <Choose label="To" value={String(other.id)} choices={choices} onChoose={(id) => (right.value = id)} />
        </div>
      </div>
      {problem instanceof Error ? (
        <p class="problem">Cannot read the files: {problem.message}</p>
      ) : before === undefined || after === undefined || before instanceof Error || after instanceof Error ? (
        <p class="muted">Reading …</p>
      ) : (
        <Difference
          key={`${one.id} ${other.id}`}
          label={`Lines of ${one.document.name} and ${other.document.name}`}
          before={linesOf(before)}
          after={linesOf(after)}
        />
      )}
    </section>
  );
}
