// SPDX-License-Identifier: GPL-3.0-or-later
// Runs side by side: what they came to, and the settings of their files.
import { numberOf } from "../charts/rows";
import { formatNumber } from "../data/columns";
import { bestOf } from "../model/best";
import { formatCount, formatDuration, timeOf } from "../shell/format";
import { runs as listed } from "../shell/runs";
import { StateBadge } from "../shell/states";
import { heldText, href } from "../url";
import type { Comparison } from "./model";
import { settingText, useOrigins } from "./origin";
import { objectiveOf } from "./parts";

const LONG = 400; // characters of a value that are shown

const heldAll = heldText("all");

interface Line {
  readonly name: string;
  readonly texts: readonly string[]; // one a run; "": it has none
  readonly isSame: boolean;
}

const lineOf = (name: string, texts: readonly string[]): Line => ({
  name,
  texts,
  isSame: texts.every((text) => text === texts[0]),
});

// What they came to.
function resultLines({ runs, run }: Comparison): Line[] {
  const ofAll = (name: string, of: (one: Comparison["runs"][number]) => string) =>
    lineOf(name, runs.map(of));
  const rowOf = (id: number) => listed.value?.get(id);
  return [
    ofAll("trials", ({ table }) => formatCount(table.rows)),
    ...run.objectives.flatMap(({ metric }) => {
      const bests = runs.map(({ table, model }) => {
        const objective = objectiveOf(model, metric);
        return objective === undefined ? null : bestOf(table, objective, model.repeats);
      });
      const numbers = bests.map((best, place) =>
        best === null ? "" : String(numberOf(runs[place].table, best.row)));
      return [
        lineOf(`best ${metric}`, bests.map((best) => (best === null ? "" : formatNumber(best.value)))),
        lineOf(`best trial of ${metric}`, numbers),
      ];
    }),
    ofAll("duration", ({ id }) => {
      const ms = rowOf(id)?.duration_ms;
      return ms === null || ms === undefined ? "" : formatDuration(ms);
    }),
    ofAll("started", ({ id }) => {
      const ms = timeOf(rowOf(id)?.started);
      return Number.isNaN(ms) ? "" : new Date(ms).toLocaleString();
    }),
    ofAll("tags", ({ document }) => (document.tags ?? []).join(", ")),
  ];
}

function shortened(text: string): string {
  return text.length > LONG ? `${text.slice(0, LONG)}…` : text;
}

function Rows({ title, lines }: { title: string; lines: readonly Line[] }) {
  if (lines.length === 0) return null;
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={1 + lines[0].texts.length} class="muted">{title}</th>
      </tr>
      {lines.map(({ name, texts, isSame }) => (
        <tr key={name} class={isSame ? "muted" : undefined}>
          <th scope="row" title={name}>{name}</th>
          {texts.map((text, place) => (
            <td key={place} class={text === texts[0] ? undefined : "is-other"}>
              {text === "" ? <span class="faint">–</span> : <span class="mono">{shortened(text)}</span>}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}

export function Settings({ comparison }: { comparison: Comparison }) {
  const { runs } = comparison;
  const key = runs.map(({ document }) => document.state).join();
  const origins = useOrigins(runs.map(({ id }) => id), key);
  const known = runs.map(({ id }) => {
    const origin = origins.get(id);
    return origin instanceof Error ? undefined : origin;
  });
  const isAll = heldAll.value !== "";
  const keys = [...new Set(known.flatMap((origin) => Object.keys(origin?.settings ?? {})))].sort();
  const settings = keys.map((name) =>
    lineOf(name, known.map((origin) => settingText(origin?.settings?.[name]))));
  const codes = [
    lineOf("file", known.map((origin) => origin?.path ?? "")),
    lineOf("seed", known.map((origin) => origin?.seed ?? "")),
    lineOf("commit of the code", known.map((origin) => origin?.revision ?? "")),
    lineOf("directory", known.map((origin) => origin?.work_directory ?? "")),
  ];
  const shown = (lines: readonly Line[]) => lines.filter(({ isSame }) => isAll || !isSame);
  const hidden = settings.length - shown(settings).length;
  const unread = runs.filter(({ id }) => origins.get(id) instanceof Error);
  const without = runs.filter((_, place) => known[place]?.settings === null || known[place]?.is_cut);
  return (
    <section class="card" aria-label="Results and settings">
      <div class="card-head">
        <h2>Results and settings</h2>
        <div class="btns">
          <button
            type="button"
            class="btn btn-small"
            aria-pressed={!isAll}
            onClick={() => (heldAll.value = isAll ? "" : "1")}
          >
            Only differences
          </button>
        </div>
      </div>
      <div class="table-scroll" role="region" tabIndex={0} aria-label="Results and settings by run">
        <table class="table compare">
          <thead>
            <tr>
              <td />
              {runs.map(({ id, document }) => (
                <th key={id} scope="col">
                  <a href={href(`/runs/${id}`)}>{document.name}</a>
                  <div><StateBadge state={listed.value?.get(id)?.state ?? document.state} /></div>
                </th>
              ))}
            </tr>
          </thead>
          <Rows title="Results" lines={resultLines(comparison)} />
          <Rows title="Code" lines={shown(codes)} />
          <Rows title="Settings of the file" lines={shown(settings)} />
        </table>
      </div>
      <p class="muted small">
        {origins.size < runs.length
          ? "Reading the files …"
          : hidden > 0 ? `${formatCount(hidden)} settings are equal. ` : ""}
        {[...unread, ...without].length > 0 &&
          `Settings are missing of ${[...unread, ...without].map(({ document }) => document.name).join(", ")}.`}
      </p>
    </section>
  );
}

