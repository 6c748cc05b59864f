// SPDX-License-Identifier: GPL-3.0-or-later
// What runs were started from (GET /runs/{run}/origin), each read once.
import { useEffect, useState } from "preact/hooks";
import { getJson } from "../api";

export interface Engine {
  readonly time: string;
  readonly host: string;
  readonly smtune: string; // version
  readonly system: string | null;
  readonly command: string | null;
  readonly environment: Readonly<Record<string, string>>;
  readonly diff: string | null;
  readonly is_cut: boolean;
}

export interface Origin {
  readonly path: string | null;
  readonly text: string;
  readonly set: readonly string[];
  readonly settings: Readonly<Record<string, unknown>> | null;
  readonly is_cut: boolean;
  readonly work_directory: string;
  readonly seed: string;
  readonly revision: string | null;
  readonly engines: readonly Engine[]; // the first, and the last ones
}

export type Origins = ReadonlyMap<number, Origin | Error>; // by run

// An edit changes them: `key` is another one then.
export function useOrigins(ids: readonly number[], key: string): Origins {
  const [origins, setOrigins] = useState<Origins>(new Map());
  useEffect(() => {
    const stop = new AbortController();
    const read = async () => {
      for (const id of ids) {
        const origin = await getJson<Origin>(`/runs/${id}/origin`, stop.signal)
          .catch((error: Error) => error);
        if (stop.signal.aborted) return;
        setOrigins((now) => new Map(now).set(id, origin));
      }
    };
    void read();
    return () => stop.abort();
  }, [ids.join(), key]);
  return origins;
}

// The file as lines, and behind them the words of --set.
export const linesOf = ({ text, set }: Origin): string[] => [
  ...text.replace(/\n$/, "").split("\n"),
  ...set.map((word) => `--set ${word}`),
];

// What a person reads of a setting.
export function settingText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "" : JSON.stringify(value).replace(/,(?=["\d])/g, ", ");
}
