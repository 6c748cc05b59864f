// SPDX-License-Identifier: GPL-3.0-or-later
// The list of runs.
import { useEffect, useRef } from "preact/hooks";
import { formatNumber } from "../data/columns";
import { RUNS_MAX } from "../model/compared";
import { Ago, Since } from "../shell/clock";
import { formatCount, formatDuration, timeOf } from "../shell/format";
import { useKeys } from "../shell/keys";
import { Problem } from "../shell/messages";
import { runs, runsProblem } from "../shell/runs";
import { CountsBar, CountsWords, StateBadge } from "../shell/states";
import type { RunRow } from "../types";
import { heldNumber, heldNumbers, heldText, href, visit } from "../url";
import { arrange, columns, matches } from "./arrange";
import type { Placed } from "./arrange";
import { PART_ROWS, RunRows } from "./run_rows";

const text = heldText("q");
const state = heldText("state");
const tag = heldText("tag");
const order = heldText("sort", "-started");
const current = heldNumber("at");
const chosen = heldNumbers("runs"); // to be compared

function toggle(id: number): void {
  const now = chosen.peek();
  chosen.value = now.includes(id) ? now.filter((one) => one !== id) : [...now, id];
}

function Best({ row }: { row: RunRow }) {
  if (row.front)
    return (
      <>
        <span class="strong">{formatCount(row.front.trials)}</span>{" "}
        <span class="muted small">
          on the front
          {row.front.hypervolume !== null && `, hypervolume ${formatNumber(row.front.hypervolume)}`}
        </span>
      </>
    );
  if (row.best === null) return null;
  const metric = row.objectives[0]?.metric ?? "";
  return (
    <>
      <span class="strong">{formatNumber(row.best.value)}</span>{" "}
      <span class="muted small">{metric}</span>
    </>
  );
}

function Duration({ row }: { row: RunRow }) {
  if (row.state === "running" && row.started !== null) return <Since ms={timeOf(row.started)} />;
  return <>{row.duration_ms === null ? "" : formatDuration(row.duration_ms)}</>;
}

function Row({ row, level, place }: Placed & { place: number }) {
  return (
    <tr
      class={current.value === row.id ? "current" : ""}
      data-run={row.id}
      aria-rowindex={place + 2}
    >
      <td class="name">
        {level > 0 && (
          <span class="under" style={{ "--level": level }} aria-hidden="true">
            └
          </span>
        )}
        <input
          type="checkbox"
          aria-label={`Compare ${row.name}`}
          checked={chosen.value.includes(row.id)}
          onChange={() => toggle(row.id)}
        />
        <a href={href(`/runs/${row.id}`)}>{row.name}</a>
        {row.kind === "workflow" && <span class="faint small"> workflow</span>}
      </td>
      <td class="state">
        <StateBadge state={row.state} />
      </td>
      <td class="counts">
        {row.trials.all > 0 && <CountsBar counts={row.trials} />}
        <CountsWords counts={row.trials} />
      </td>
      <td class="num">
        <Best row={row} />
      </td>
      <td class="num muted">
        <Duration row={row} />
      </td>
      <td class="num muted">
        <Ago ms={timeOf(row.started ?? row.created)} />
      </td>
      <td class="tags-cell">
        {row.tags.length > 0 && (
          <div class="tags">
            {row.tags.map((name) => (
              <button key={name} class="tag" onClick={() => (tag.value = name)}>
                {name}
              </button>
            ))}
          </div>
        )}
      </td>
    </tr>
  );
}

function Head() {
  const [, sign, key] = /^(-?)(.*)$/.exec(order.value) ?? [];
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th
            key={column.key}
            class={column.isNumber ? "num" : ""}
            aria-sort={key !== column.key ? undefined : sign ? "descending" : "ascending"}
          >
            <button
              onClick={() => (order.value = key === column.key && sign ? column.key : `-${column.key}`)}
            >
              {column.title} {key === column.key && (sign ? "↓" : "↑")}
            </button>
          </th>
        ))}
        <th>Tags</th>
      </tr>
    </thead>
  );
}

function Chosen({ placed }: { placed: readonly Placed[] }) {
  const count = chosen.value.length;
  if (count === 0) return null;
  const all = placed.slice(0, RUNS_MAX).map(({ row }) => row.id);
  return (
    <div class="btns">
      <a class="btn" href={href("/compare", new Map([["runs", chosen.value.join()]]))}>
        Compare {count}
      </a>
      <button class="btn btn-quiet" onClick={() => (chosen.value = all)}>
        Choose {placed.length > RUNS_MAX ? `the first ${RUNS_MAX}` : "all"}
      </button>
      <button class="btn btn-quiet" onClick={() => (chosen.value = [])}>
        Choose none
      </button>
    </div>
  );
}

interface FiltersProps {
  all: readonly RunRow[];
  placed: readonly Placed[];
}

function Filters({ all, placed }: FiltersProps) {
  const shown = placed.length;
  const states = [...new Set(all.map((row) => row.state))].sort();
  const tags = [...new Set(all.flatMap((row) => row.tags))].sort();
  const isFiltered = text.value !== "" || state.value !== "" || tag.value !== "";
  return (
    <div class="row">
      <h1>Runs</h1>
      <span class="muted">
        {isFiltered ? `${formatCount(shown)} of ${formatCount(all.length)}` : formatCount(all.length)}
      </span>
      <input
        class="input runs-filter"
        type="search"
        placeholder="Filter by name, tag, note   ( / )"
        aria-label="Filter runs by name, tag or note"
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      <select
        class="select"
        aria-label="State"
        value={state.value}
        onChange={(event) => (state.value = event.currentTarget.value)}
      >
        <option value="">all states</option>
        {states.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      {tags.length > 0 && (
        <select
          class="select"
          aria-label="Tag"
          value={tag.value}
          onChange={(event) => (tag.value = event.currentTarget.value)}
        >
          <option value="">all tags</option>
          {tags.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      {isFiltered && (
        <button class="btn btn-quiet" onClick={clear}>
          Clear
        </button>
      )}
      <Chosen placed={placed} />
    </div>
  );
}

function clear(): void {
  text.value = "";
  state.value = "";
  tag.value = "";
}

// Moves to the next run, or the one before it.
function step(placed: readonly Placed[], by: number): void {
  const at = placed.findIndex(({ row }) => row.id === current.peek());
  const next = Math.min(placed.length - 1, Math.max(0, at < 0 ? 0 : at + by));
  if (placed[next] === undefined) return;
  current.value = placed[next].row.id;
  const row = document.querySelector(`[data-run="${current.peek()}"]`);
  const part = document.querySelector(`[data-part="${Math.floor(next / PART_ROWS)}"]`);
  (row ?? part)?.scrollIntoView({ block: "nearest" });
}

export function RunsPage() {
  const frame = useRef<HTMLDivElement>(null);
  const all = [...(runs.value?.values() ?? [])];
  const wanted = { text: text.value, state: state.value, tag: tag.value };
  const placed = arrange(all, (row) => matches(row, wanted), order.value);
  useEffect(() => {
    document.title = "Runs · smtune";
  }, []);
  useKeys("List of runs", [
    { keys: "j", does: "next run", run: () => step(placed, 1) },
    { keys: "k", does: "previous run", run: () => step(placed, -1) },
    {
      keys: "Enter",
      does: "open the run",
      run: () => current.peek() > 0 && document.activeElement === document.body
        ? visit(`/runs/${current.peek()}`)
        : false,
    },
    {
      keys: "x",
      does: "choose the run for a comparison",
      run: () => current.peek() > 0 && toggle(current.peek()),
    },
    {
      keys: "/",
      does: "filter",
      run: () => document.querySelector<HTMLInputElement>(".runs-filter")?.focus(),
    },
    { keys: "Escape", does: "clear the filters", run: clear },
  ]);
  if (runsProblem.value !== null && runs.value === null)
    return <Problem error={runsProblem.value} />;
  if (runs.value === null) return <h1 class="empty">Loading the list of runs …</h1>;
  if (all.length === 0)
    return (
      <h1 class="empty">
        No runs yet. <code>smtune run FILE</code> starts one, and it appears here at once.
      </h1>
    );
  return (
    <>
      <Filters all={all} placed={placed} />
      <div class="table-frame" ref={frame}>
        <table
          class={placed.length > PART_ROWS ? "table runs runs-many" : "table runs"}
          aria-rowcount={placed.length + 1}
        >
          <Head />
          <RunRows
            placed={placed}
            row={(one, place) => <Row key={one.row.id} place={place} {...one} />}
          />
        </table>
        {placed.length === 0 && <p class="empty">No run matches the filters.</p>}
      </div>
    </>
  );
}
