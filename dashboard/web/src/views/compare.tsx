// SPDX-License-Identifier: GPL-3.0-or-later
// Comparison: of chosen trials, and of two groups.
import { useMemo } from "preact/hooks";
import { withOnly } from "../model/compared";
import type { ViewProps } from "../types";
import { href } from "../url";
import { CompareGroups } from "./compare_groups";
import { CompareTrials } from "./compare_trials";
import { CurvesView } from "./curves";

export function CompareView({ run }: ViewProps) {
  const compared = useMemo(() => withOnly(run, () => run.compared.value), [run]);
  const hasCurves = run.compared.value.length > 0 && run.objectives.length > 0;
  return (
    <div class="compare-page">
      <p>
        <a href={href("/compare", new Map([["runs", String(run.id)]]))}>
          Compare this run with other runs
        </a>
      </p>
      <CompareTrials run={run} />
      {hasCurves && <CurvesView run={compared} />}
      <CompareGroups run={run} />
    </div>
  );
}
