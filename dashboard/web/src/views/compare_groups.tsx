// SPDX-License-Identifier: GPL-3.0-or-later
// What is chosen by filters against all others: where they differ most first.
import { useMemo } from "preact/hooks";
import { scaleOfColumn } from "../charts/scales";
import { formatNumber } from "../data/columns";
import { groupsOf } from "../model/groups";
import type { Group, Groups } from "../model/groups";
import { formatDuration, formatMany } from "../shell/format";
import type { RunModel } from "../types";
import { labelOf, rowWord } from "./trial_columns";

const WORDS_SHOWN = 6;
const HEIGHT = 34;

const isCompared = (name: string) =>
  /^(param|value|outcome):/.test(name) ||
  ["duration", "attempts", "cause", "state", "reached"].includes(name);

// How both lie: the chosen ones above the line, the rest below.
function Shares({ groups }: { groups: Groups }) {
  const { chosen, rest } = groups;
  const most = Math.max(...chosen.bins, ...rest.bins, 1e-9);
  const count = chosen.bins.length;
  const bar = (group: Group, isAbove: boolean) =>
    Array.from(group.bins, (share, bin) => {
      const height = (share / most) * (HEIGHT / 2 - 1);
      return (
        <rect
          key={bin}
          class={isAbove ? "bin-chosen" : "bin"}
          x={bin + 0.06}
          width={0.88}
          y={isAbove ? HEIGHT / 2 - height : HEIGHT / 2}
          height={height}
        />
      );
    });
  return (
    <svg
      class="histogram"
      viewBox={`0 0 ${count} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {bar(chosen, true)}
      {bar(rest, false)}
    </svg>
  );
}

const percent = (share: number) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

function groupText({ column }: Groups, group: Group): string {
  if (group.count === 0) return "none";
  if (column.kind !== "words")
    return column.name === "duration" ? formatDuration(group.median) : formatNumber(group.median);
  const order = column.words.map((word, index) => ({ word, share: group.bins[index] }));
  const shown = order.filter(({ share }) => share > 0).toSorted((a, b) => b.share - a.share);
  const text = shown.slice(0, WORDS_SHOWN).map(({ word, share }) => `${word} ${percent(share)}`);
  const left = shown.length - text.length;
  return text.join(", ") + (left > 0 ? `, ${left} more` : "");
}

export function CompareGroups({ run }: { run: RunModel }) {
  const table = run.table.value;
  const { mask, count } = run.selection.value;
  const rest = table.rows - count;
  const word = rowWord(run);
  const all = useMemo(() => {
    if (count === 0 || rest === 0) return [];
    return table.columns
      .filter(({ name }) => isCompared(name))
      .map((column) => {
        const param = run.params.find(({ name }) => `param:${name}` === column.name);
        return groupsOf(column, scaleOfColumn(column, table.rows, param), mask);
      })
      .toSorted((a, b) => b.distance - a.distance);
  }, [table, mask, run]);
  return (
    <section class="card" aria-label="Selection and rest">
      <h2>Selection and rest</h2>
      {all.length === 0 ? (
        <p class="muted">
          Filter {word}s in the table or brush a chart to compare the selection with the rest.
        </p>
      ) : (
        <>
          <p class="muted">
            {formatMany(count, `selected ${word}`)} and {formatMany(rest, "other")}: medians, and
            shares of words. The largest difference is first.
          </p>
          <div class="table-scroll" role="region" tabIndex={0} aria-label="Groups">
            <table class="table groups">
              <thead>
                <tr>
                  <td />
                  <th scope="col">
                    <span class="key-chosen" aria-hidden="true" /> selected
                  </th>
                  <th scope="col">
                    <span class="key-rest" aria-hidden="true" /> the rest
                  </th>
                  <th scope="col">distribution</th>
                  <th scope="col" class="num" title="0: equal, 1: nothing in common">
                    difference
                  </th>
                </tr>
              </thead>
              <tbody>
                {all.map((groups) => (
                  <tr key={groups.column.name}>
                    <th scope="row">{labelOf(run, table, groups.column.name)}</th>
                    <td>{groupText(groups, groups.chosen)}</td>
                    <td>{groupText(groups, groups.rest)}</td>
                    <td class="groups-picture">
                      <Shares groups={groups} />
                    </td>
                    <td class="num">{groups.distance.toFixed(2)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}
