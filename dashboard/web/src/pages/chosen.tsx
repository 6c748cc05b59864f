// SPDX-License-Identifier: GPL-3.0-or-later
// What is chosen of a run: each filter can be taken away here.
import { columnTitle } from "../charts/rows";
import { withFilter } from "../model/selection";
import { formatNumber } from "../data/columns";
import { formatCount } from "../shell/format";
import { useKeys } from "../shell/keys";
import type { Filter, RunModel } from "../types";

const WORDS_MAX = 3;

export function filterWords(filter: Filter): string {
  if (filter.kind === "range") {
    if (filter.min === -Infinity) return `≤ ${formatNumber(filter.max)}`;
    if (filter.max === Infinity) return `≥ ${formatNumber(filter.min)}`;
    return `${formatNumber(filter.min)} to ${formatNumber(filter.max)}`;
  }
  if (filter.kind === "text") return `contains “${filter.text}”`;
  const words = filter.words.map((word) => word || "none");
  if (words.length === 0) return "nothing";
  if (words.length <= WORDS_MAX) return words.join(", ");
  return `${words.slice(0, WORDS_MAX).join(", ")} and ${words.length - WORDS_MAX} more`;
}

export function ChosenBar({ run }: { run: RunModel }) {
  const filters = run.filters.value;
  const { count } = run.selection.value;
  const all = run.table.value.rows;
  const things = run.document.value.kind === "workflow" ? "jobs" : "trials";
  const clear = () => {
    if (run.filters.peek().size === 0) return false;
    run.filters.value = new Map();
    return true;
  };
  useKeys("Run", [{ keys: "Escape", does: "clear all filters", run: clear }]);
  if (filters.size === 0) return null;
  return (
    <section class="chosen" aria-label="Selection">
      <span>
        <span class="chosen-count">{formatCount(count)}</span> of {formatCount(all)} {things}
        {count < all && <span class="muted">, {formatCount(all - count)} filtered out</span>}
      </span>
      {[...filters].map(([name, filter]) => (
        <span key={name} class="chip">
          <span class="ellipsis">
            <b>{columnTitle(name)}</b> {filterWords(filter)}
          </span>
          <button
            aria-label={`Remove the filter of ${columnTitle(name)}`}
            onClick={() => (run.filters.value = withFilter(run.filters.peek(), name, null))}
          >
            ×
          </button>
        </span>
      ))}
      <button class="btn btn-quiet btn-small" onClick={clear}>
        Clear all
      </button>
    </section>
  );
}
