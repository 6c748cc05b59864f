// SPDX-License-Identifier: GPL-3.0-or-later
// What somebody who was sent the page as one file should know of it.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { getJson } from "../api";
import { href, visit } from "../url";
import { formatMany } from "./format";

// dashboard/archive/archive.h
interface About {
  run: number;
  runs: number[]; // that the file was made of
  made_ms: number;
  left_out: { run: number; what: string; text: string }[];
}

export function ArchiveNote() {
  const about = useSignal<About | null>(null);
  useEffect(() => {
    void getJson<About>("/archive").then((found) => {
      about.value = found;
      if (location.hash !== "") return;
      if (found.runs.length === 1) visit(`/runs/${found.run}`);
      else location.hash = href("/compare", new Map([["runs", found.runs.join()]]));
    });
  }, []);
  if (about.value === null) return null;
  const { made_ms: madeMs, left_out: leftOut } = about.value;
  const day = new Date(madeMs).toLocaleDateString(undefined, { dateStyle: "medium" });
  if (leftOut.length === 0) return <span class="tag">file of {day}: complete</span>;
  return (
    <button type="button" class="tag" data-tip={leftOut.map(({ text }) => text).join(". ")}>
      file of {day}: {formatMany(leftOut.length, "part")} incomplete
    </button>
  );
}
