// SPDX-License-Identifier: GPL-3.0-or-later
// What the machine and its nodes do now, and what this run's attempts took.
import { useMemo } from "preact/hooks";
import { isArchive } from "../api";
import { listPoints } from "../charts/cloud";
import type { PanelSpec } from "../charts/panel";
import { Panels } from "../charts/panels";
import { lineOf } from "../charts/lines";
import { useMachine } from "../charts/resources/machine";
import type { Gpu, Nodes, Sample, Watched } from "../charts/resources/machine";
import { counted, isBetterAsLog, median } from "../charts/rows";
import { makeScale, scaleNote } from "../charts/scales";
import type { Painter } from "../charts/svg";
import { useTheme } from "../charts/theme";
import type { Theme } from "../charts/theme";
import { useAttempts } from "../charts/timeline/attempts";
import { formatBytes } from "../data/format";
import { rowOf } from "../data/columns";
import { formatDuration } from "../shell/format";
import type { RunModel, Table, ViewProps } from "../types";

const HEIGHT_PX = 150;
const SPAN_MIN_MS = 60_000;
const SPAN_MAX_MS = 300_000;
const BINS = 40;
const MEBIBYTE = 2 ** 20;

// ---- the machine ----

const percent = (part: number) => (Number.isNaN(part) ? "–" : `${Math.round(part * 100)} %`);

const kinds: readonly [Exclude<keyof Sample, "timeMs">, string][] = [
  ["cpu", "CPU"], ["memory", "Memory"], ["slots", "Slots used"], ["gpus", "GPUs used"],
  ["disk", "Disk used"], ["gpuLoad", "GPU load"], ["gpuMemory", "GPU memory"],
];

function runningPanel(samples: readonly Sample[], [key, title]: (typeof kinds)[number], theme: Theme): PanelSpec {
  const last = samples.at(-1)?.timeMs ?? 0;
  const seenMs = last - (samples[0]?.timeMs ?? 0);
  const x = makeScale("time", last - Math.min(SPAN_MAX_MS, Math.max(SPAN_MIN_MS, seenMs)), last);
  const y = makeScale("linear", 0, 100);
  const known = samples.filter((sample) => sample.timeMs >= x.min && !Number.isNaN(sample[key]));
  const look = { color: theme.accent, width: 1.75, isFilled: true };
  return {
    id: key,
    title: `${title}: ${percent(samples.at(-1)?.[key] ?? NaN)}`,
    x: { scale: x, label: "" },
    y: { scale: y, label: "%" },
    lines: [lineOf({ x, y }, known.map(({ timeMs }) => timeMs), known.map((sample) => 100 * sample[key]), look)],
    points: listPoints(known.map((sample) => ({
      x: x.toUnit(sample.timeMs), y: sample[key],
      text: `${new Date(sample.timeMs).toLocaleTimeString()}\n${title} ${percent(sample[key])}`,
    }))),
  };
}

function MachineNow({ run, watched }: { run: RunModel; watched: Watched }) {
  const theme = useTheme();
  const { machine, samples, error } = watched;
  const panels = useMemo(
    () => kinds.filter(([key]) => samples.some((sample) => !Number.isNaN(sample[key])))
      .map((kind) => runningPanel(samples, kind, theme)),
    [samples, theme],
  );
  const running = machine?.runs.map(({ name, attempts }) => `${name} ${attempts}`).join(", ");
  const summary = machine === null ? "Loading …"
    : `${machine.host}: ${counted(machine.cpus, "CPU")}, load ${machine.load.map((load) => load.toFixed(2)).join(" ")}; ` +
      `${formatBytes(machine.memory_available_bytes)} of ${formatBytes(machine.memory_bytes)} memory free` +
      (machine.disk ? `; ${formatBytes(machine.disk.available_bytes)} free for ${machine.disk.path}` : "") +
      `. Slots used: ${machine.cpu_slots.taken} of ${machine.cpu_slots.size}` +
      `${running ? `; running attempts: ${running}` : ""}.`;
  return (
    <Panels run={run} title="This machine" file="machine" summary={summary}
      notes={error ? [error.message] : []} panels={panels} height={HEIGHT_PX} widthMin={210}
      table={() => ({
        columns: ["time", ...kinds.map(([, title]) => `${title} (%)`)],
        rows: samples.length,
        cell: (row, column) => column === 0 ? new Date(samples[row].timeMs).toISOString()
          : samples[row][kinds[column - 1][0]] * 100,
      })} />
  );
}

function GpuList({ gpus }: { gpus: readonly Gpu[] }) {
  if (gpus.length === 0) return null;
  const bytes = (amount: number | null) => (amount === null ? "–" : formatBytes(amount));
  return (
    <section class="card">
      <div class="card-head"><h2>GPUs</h2></div>
      <div class="chart-table-scroll" role="region" tabIndex={0} aria-label="GPUs">
        <table class="table table-plain">
          <thead>
            <tr>{["GPU", "Model", "Load", "Memory used", "Memory"].map((text) => <th key={text}>{text}</th>)}</tr>
          </thead>
          <tbody>
            {gpus.map((gpu) => (
              <tr key={gpu.index}>
                <td class="num">{gpu.index}</td>
                <td>{gpu.model}</td>
                <td class="num">{percent(gpu.load ?? NaN)}</td>
                <td class="num">{bytes(gpu.memory_used_bytes)}</td>
                <td class="num">{bytes(gpu.memory_bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

// ---- nodes ----

function NodeList({ nodes, running }: Nodes) {
  const busy = running.filter(({ node }) => node !== null);
  if (nodes.length === 0 && busy.length === 0) return null;
  const time = (ms: number | null) => (ms === null ? "" : new Date(ms).toLocaleString());
  return (
    <section class="card">
      <div class="card-head"><h2>Nodes</h2></div>
      {busy.length > 0 && (
        <p class="muted">
          {busy.map(({ node, name, attempts }) => `${node}: ${name} ${attempts}`).join(" · ")}
        </p>
      )}
      {nodes.length > 0 && (
        <div class="chart-table-scroll" role="region" tabIndex={0} aria-label="Nodes">
          <table class="table table-plain">
            <thead>
              <tr>{["Node", "State", "Failure", "Reason", "Run", "Count", "Last"].map((text) => <th key={text}>{text}</th>)}</tr>
            </thead>
            <tbody>
              {nodes.map((node) => (
                <tr key={node.name}>
                  <td class="mono">{node.name}</td>
                  <td>{node.is_avoided ? `⊘ excluded${node.until_ms ? ` until ${time(node.until_ms)}` : ""}` : "✓ in use"}</td>
                  <td>{node.trouble}</td>
                  <td>{[node.text, node.by && `(${node.by})`].filter(Boolean).join(" ")}</td>
                  <td>{node.run}{node.job ? ` ${node.job}` : ""}</td>
                  <td class="num">{node.count}</td>
                  <td>{time(node.last_ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

// ---- what the run's attempts took ----

interface Measure {
  readonly id: string;
  readonly title: string;
  of(table: Table, row: number): number;
  text(value: number): string;
}

const at = (table: Table, name: string, row: number) => table.byName.get(name)?.data[row] ?? NaN;

const measures: readonly Measure[] = [
  {
    id: "wall", title: "Duration", text: (s) => formatDuration(s * 1000),
    of: (table, row) => (at(table, "ended", row) - at(table, "started", row)) / 1000,
  },
  {
    id: "cpu", title: "CPU time", text: (s) => formatDuration(s * 1000),
    of: (table, row) => at(table, "cpu_ms", row) / 1000,
  },
  {
    id: "memory", title: "Peak memory", text: (mebibytes) => formatBytes(mebibytes * MEBIBYTE),
    of: (table, row) => at(table, "max_rss_bytes", row) / MEBIBYTE,
  },
];

function valuesOfMeasure(run: RunModel, attempts: Table, mask: Uint8Array, measure: Measure): Float64Array {
  const table = run.table.peek();
  const values = new Float64Array(attempts.rows);
  let count = 0;
  for (let row = 0; row < attempts.rows; row++) {
    const job = rowOf(table, at(attempts, "number", row));
    const value = measure.of(attempts, row);
    if (job >= 0 && mask[job] !== 0 && Number.isFinite(value)) values[count++] = value;
  }
  return values.slice(0, count).sort();
}

function histogramPanel(values: Float64Array, measure: Measure, theme: Theme): PanelSpec {
  const isLog = isBetterAsLog(values);
  const x = makeScale(isLog ? "log" : "linear", values[0], values[values.length - 1]);
  const counts = new Float64Array(BINS);
  for (const value of values)
    counts[Math.min(BINS - 1, Math.max(0, Math.floor(x.toUnit(value) * BINS)))]++;
  const most = counts.reduce((high, count) => Math.max(high, count), 1);
  const unit = measure.id === "memory" ? "MiB" : "s";
  return {
    id: measure.id,
    title: `${measure.title}: median ${measure.text(median(values))}`,
    x: { scale: x, label: unit + scaleNote(x) },
    y: { scale: makeScale("linear", 0, most, true), label: "attempts" },
    paint: (painter: Painter, area) => {
      painter.fillStyle = theme.accent;
      counts.forEach((count, bin) => {
        const height = (count / most) * area.height;
        const left = area.left + (bin / BINS) * area.width;
        painter.fillRect(left + 0.5, area.top + area.height - height, area.width / BINS - 1, height);
      });
    },
    points: listPoints([...counts].map((count, bin) => ({
      x: (bin + 0.5) / BINS, y: count / most,
      text: `${counted(count, "attempt")}\n${measure.text(x.fromUnit(bin / BINS))} to ${measure.text(x.fromUnit((bin + 1) / BINS))}`,
    }))),
  };
}

function Taken({ run }: ViewProps) {
  const theme = useTheme();
  const { table: attempts, error } = useAttempts(run);
  const { mask } = run.selection.value;
  const taken = useMemo(
    () => attempts === null ? [] : measures
      .map((measure) => ({ measure, values: valuesOfMeasure(run, attempts, mask, measure) }))
      .filter(({ values }) => values.length > 0),
    [attempts, mask],
  );
  const panels = useMemo(
    () => taken.map(({ measure, values }) => histogramPanel(values, measure, theme)), [taken, theme],
  );
  const quantile = (values: Float64Array, share: number) =>
    values[Math.round(share * (values.length - 1))];
  const summary = taken.length === 0 ? "No ended attempt has figures yet."
    : taken.map(({ measure, values }) =>
      `${measure.title}: median ${measure.text(median(values))}, 95th percentile ` +
      `${measure.text(quantile(values, 0.95))}, maximum ${measure.text(values[values.length - 1])} ` +
      `(${counted(values.length, "attempt")}).`).join(" ");
  const shares = [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1];
  return (
    <Panels run={run} title="Resources of attempts" file={`${run.document.value.name}-resources`}
      summary={summary} notes={error ? [error.message] : []} panels={panels} height={200}
      table={() => ({
        columns: ["measure", ...shares.map((share) => `${share * 100} %`)],
        rows: taken.length,
        cell: (row, column) => column === 0 ? taken[row].measure.title
          : quantile(taken[row].values, shares[column - 1]),
      })} />
  );
}

function Live({ run }: ViewProps) {
  const watched = useMachine();
  return (
    <>
      <MachineNow run={run} watched={watched} />
      {watched.machine && <GpuList gpus={watched.machine.gpu_use} />}
      {watched.nodes && <NodeList {...watched.nodes} />}
    </>
  );
}

export function ResourcesView({ run }: ViewProps) {
  return (
    <div class="chart-stack">
      <Taken run={run} />
      {!isArchive() && <Live run={run} />}
    </div>
  );
}
