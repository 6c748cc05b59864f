// SPDX-License-Identifier: GPL-3.0-or-later
// Where a run is from. Comparison: of runs, of trials of a run, and of two groups of trials.
import { OriginView } from "../compare/origin_view";
import { CompareRuns } from "../compare/page";
import { addPart } from "../shell/part";
import { CompareView } from "../views/compare";

addPart({ CompareRuns, CompareView, OriginView });
