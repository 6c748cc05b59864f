// SPDX-License-Identifier: GPL-3.0-or-later
// What this machine does (GET /machine), asked again and again as long as
// somebody looks at it.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { getJson } from "../../api";

export interface Gpu {
  readonly index: number;
  readonly model: string | null;
  readonly load: number | null; // from 0 to 1
  readonly memory_used_bytes: number | null;
  readonly memory_bytes: number | null;
}

interface Machine {
  readonly time_ms: number;
  readonly host: string;
  readonly cpus: number;
  readonly load: readonly number[];
  readonly cpu_busy_ms: number; // since it was started
  readonly cpu_all_ms: number;
  readonly memory_bytes: number;
  readonly memory_available_bytes: number;
  readonly disk: { path: string; size_bytes: number; available_bytes: number } | null;
  readonly cpu_slots: { size: number; taken: number };
  readonly gpus: readonly { name: string; is_taken: boolean }[];
  readonly gpu_use: readonly Gpu[];
  readonly runs: readonly { id: number; name: string; attempts: number }[];
}

export interface Nodes {
  readonly nodes: readonly {
    readonly name: string;
    readonly is_avoided: boolean;
    readonly until_ms: number | null;
    readonly by: string | null;
    readonly trouble: string | null;
    readonly text: string | null;
    readonly run: string | null;
    readonly job: number | null;
    readonly count: number;
    readonly last_ms: number | null;
  }[];
  readonly running: readonly { run: number; name: string; node: string | null; attempts: number }[];
}

export interface Sample {
  readonly timeMs: number;
  readonly cpu: number; // parts of all, from 0 to 1; NaN: not known
  readonly memory: number;
  readonly disk: number;
  readonly slots: number;
  readonly gpus: number;
  readonly gpuLoad: number; // of all GPUs
  readonly gpuMemory: number;
}

export interface Watched {
  readonly machine: Machine | null;
  readonly samples: readonly Sample[]; // the oldest first
  readonly nodes: Nodes | null;
  readonly error: Error | null;
}

const EVERY_MS = 2000;
const NODES_EVERY = 5; // samples
const SAMPLES_MAX = 300;

// Kept from one look to the next.
const watched = signal<Watched>({ machine: null, samples: [], nodes: null, error: null });

const part = (some: number, all: number) => (all > 0 ? some / all : NaN);

function sum(gpus: readonly Gpu[], of: (gpu: Gpu) => number | null): number {
  return gpus.reduce((all, gpu) => all + (of(gpu) ?? 0), 0);
}

function sampleOf(now: Machine, before: Machine | null): Sample {
  return {
    timeMs: now.time_ms,
    cpu: before === null ? NaN
      : part(now.cpu_busy_ms - before.cpu_busy_ms, now.cpu_all_ms - before.cpu_all_ms),
    memory: 1 - part(now.memory_available_bytes, now.memory_bytes),
    disk: now.disk === null ? NaN : 1 - part(now.disk.available_bytes, now.disk.size_bytes),
    slots: part(now.cpu_slots.taken, now.cpu_slots.size),
    gpus: part(now.gpus.filter((gpu) => gpu.is_taken).length, now.gpus.length),
    gpuLoad: part(sum(now.gpu_use, (gpu) => gpu.load), now.gpu_use.filter((gpu) => gpu.load !== null).length),
    gpuMemory: part(sum(now.gpu_use, (gpu) => gpu.memory_used_bytes), sum(now.gpu_use, (gpu) => gpu.memory_bytes)),
  };
}

async function look(hasNodes: boolean): Promise<void> {
  try {
    const [machine, nodes] = await Promise.all([
      getJson<Machine>("/machine"),
      hasNodes ? getJson<Nodes>("/nodes") : watched.peek().nodes,
    ]);
    const before = watched.peek();
    const samples = [...before.samples, sampleOf(machine, before.machine)].slice(-SAMPLES_MAX);
    watched.value = { machine, samples, nodes, error: null };
  } catch (error) {
    watched.value = { ...watched.peek(), error: error as Error };
  }
}

export function useMachine(): Watched {
  useEffect(() => {
    let count = 0;
    const again = () => {
      if (!document.hidden) void look(count++ % NODES_EVERY === 0);
    };
    again();
    const timer = setInterval(again, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return watched.value;
}
