// SPDX-License-Identifier: GPL-3.0-or-later
// What a run was started from: its file, its command, its environment and its code;
// alone, or against another run's.
import { useMemo } from "preact/hooks";
import { Choose, useHeldText } from "../charts/controls";
import { formatMany } from "../shell/format";
import { runs as listed } from "../shell/runs";
import type { ViewProps } from "../types";
import { Difference } from "./difference";
import { linesOf, useOrigins } from "./origin";
import type { Engine, Origin } from "./origin";

interface Part {
  readonly id: string;
  readonly title: string;
  readonly none: string; // where there are no lines
  lines(origin: Origin): readonly string[];
}

const lastEngine = ({ engines }: Origin): Engine | undefined => engines[engines.length - 1];

const textLines = (text: string | null | undefined) =>
  text ? text.replace(/\n$/, "").split("\n") : [];

function factsOf(origin: Origin): readonly (readonly [string, string])[] {
  const engine = lastEngine(origin);
  return [
    ["file", origin.path ?? ""],
    ["runs in", origin.work_directory],
    ["seed", origin.seed],
    ["commit of the code", origin.revision ?? ""],
    ["command", engine?.command ?? ""],
    ["host", engine?.host ?? ""],
    ["system", engine?.system ?? ""],
    ["smtune", engine?.smtune ?? ""],
  ];
}

const parts: readonly Part[] = [
  { id: "file", title: "File", none: "The record has no file.", lines: linesOf },
  {
    id: "diff",
    title: "Changes of the code",
    none: "The code is that of its commit, or is not in git.",
    lines: (origin) => textLines(lastEngine(origin)?.diff),
  },
  {
    id: "environment",
    title: "Environment",
    none: "The record has no environment.",
    lines: (origin) =>
      Object.entries(lastEngine(origin)?.environment ?? {})
        .map(([name, value]) => `${name}=${value.replace(/\n/g, "\\n")}`)
        .sort(),
  },
];

function Facts({ origin, other }: { origin: Origin; other: Origin | undefined }) {
  const others = other === undefined ? undefined : factsOf(other);
  return (
    <div class="table-scroll" role="region" tabIndex={0} aria-label="Origin">
      <table class="table table-plain origin">
        <tbody>
          {factsOf(origin).map(([name, text], i) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="mono">{text || "–"}</td>
              {others !== undefined && (
                <td class={others[i][1] === text ? "mono muted" : "mono is-other"}>
                  {others[i][1] || "–"}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function OriginView({ run }: ViewProps) {
  const chosen = useHeldText("with");
  const other = Number(chosen.value) || 0;
  const ids = other > 0 ? [run.id, other] : [run.id];
  const origins = useOrigins(ids, run.document.value.state);
  const own = origins.get(run.id);
  const theirs = other > 0 ? origins.get(other) : undefined;
  const list = listed.value;
  const choices = useMemo(
    () => [
      { id: "", text: "no other run" },
      ...[...(list?.values() ?? [])]
        .filter(({ id }) => id !== run.id)
        .sort((a, b) => b.id - a.id)
        .map(({ id, name }) => ({ id: String(id), text: name })),
    ],
    [list, run.id],
  );
  const problem = [own, theirs].find((one) => one instanceof Error);
  if (problem instanceof Error) return <p class="problem">Cannot read the origin: {problem.message}</p>;
  if (own === undefined || own instanceof Error || theirs instanceof Error)
    return <p class="empty">Loading …</p>;
  const isCut = own.is_cut || own.engines.some((engine) => engine.is_cut);
  return (
    <div class="compare-page">
      <section class="card" aria-label="Origin of the run">
        <div class="card-head">
          <h2>Origin</h2>
          <div class="chart-controls">
            <Choose
              label="Compare with"
              value={other > 0 ? String(other) : ""}
              choices={choices}
              onChoose={(id) => (chosen.value = id)}
            />
          </div>
        </div>
        <Facts origin={own} other={theirs} />
        <p class="muted small">
          {own.engines.length > 1 &&
            `The run was resumed elsewhere or otherwise: the last of ${formatMany(own.engines.length, "origin")} is shown. `}
          Secrets are masked.{isCut && " The environment or the changes of the code are too long to be complete."}
        </p>
      </section>
      {parts.map((part) => {
        const before = part.lines(own);
        const after = theirs === undefined ? undefined : part.lines(theirs);
        const isNone = before.length === 0 && (after === undefined || after.length === 0);
        return (
          <section key={part.id} class="card" aria-label={part.title}>
            <div class="card-head">
              <h2>{part.title}</h2>
            </div>
            {isNone ? (
              <p class="muted">{part.none}</p>
            ) : (
              <Difference key={other} label={`Lines: ${part.title}`} before={before} after={after} />
            )}
          </section>
        );
      })}
    </div>
  );
}
