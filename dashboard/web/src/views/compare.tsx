// SPDX-License-Identifier: GPL-3.0-or-later
// Comparison: of chosen trials, and of two groups.
import { useMemo } from "preact/hooks";
import { withOnly } from "../model/compared";
import type { ViewProps } from "../types";
import "../css/compare.css";
import { CompareGroups } from "./compare_groups";
import { CompareTrials } from "./compare_trials";
import { CurvesView } from "./curves";

export function CompareView({ run }: ViewProps) {
  const compared = useMemo(() => withOnly(run, () => run.compared.value), [run]);
  const hasCurves = run.compared.value.length > 0 && run.objectives.length > 0;
  return (
    <div class="compare-page">
      <CompareTrials run={run} />
      {hasCurves && <CurvesView run={compared} />}
      <CompareGroups run={run} />
    </div>
  );
}
