// SPDX-License-Identifier: GPL-3.0-or-later
// A workflow's steps with the states of their copies.
import { useComputed } from "@preact/signals";
import { withFilter } from "../model/selection";
import { countStates } from "../pages/counts";
import { CountsBar, CountsWords } from "../shell/states";
import type { RunModel, Table, TrialCounts, ViewProps } from "../types";

interface Step {
  name: string;
  counts: TrialCounts;
}

// In the order in which they came.
function stepsOf(table: Table): Step[] {
  const step = table.byName.get("step");
  if (step === undefined) return [];
  return step.words.map((name, word) => {
    const mask = new Uint8Array(table.rows);
    let all = 0;
    for (let row = 0; row < table.rows; row++) all += mask[row] = Number(step.data[row] === word);
    return { name, counts: { ...countStates(table, mask), all } };
  });
}

const choose = (run: RunModel, name: string) => {
  const filter = { kind: "words", words: [name] } as const;
  run.filters.value = withFilter(run.filters.peek(), "step", filter);
};

export function Steps({ run }: ViewProps) {
  const steps = useComputed(() => stepsOf(run.table.value)).value;
  if (steps.length === 0) return <p class="muted">No step has started yet.</p>;
  return (
    <table class="table table-plain">
      <thead>
        <tr>
          <th>Step</th>
          <th class="num">Copies</th>
          <th class="wide">States</th>
        </tr>
      </thead>
      <tbody>
        {steps.map(({ name, counts }) => (
          <tr key={name}>
            <td>
              <button
                class="btn btn-quiet btn-small"
                title="show only this step"
                onClick={() => choose(run, name)}
              >
                {name}
              </button>
            </td>
            <td class="num">{counts.all}</td>
            <td>
              <CountsBar counts={counts} />
              <CountsWords counts={counts} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
