// SPDX-License-Identifier: GPL-3.0-or-later
// All views of a run, in the order of their tabs: a new one is a file and a
// line here.
import { isArchive } from "../api";
import { ofPart } from "../shell/part";
import type { RunModel, View, ViewProps } from "../types";
import { ContourView } from "./contour";
import { CurvesView } from "./curves";
import { EdfView } from "./edf";
import { FrontView } from "./front";
import { GraphView } from "./graph";
import { HistoryView } from "./history";
import { ImportanceView } from "./importance";
import { OverviewView } from "./overview";
import { ParallelView } from "./parallel";
import { ResourcesView } from "./resources";
import { ScatterView } from "./scatter";
import { SliceView } from "./slice";
import { TableView } from "./table";
import { TimelineView } from "./timeline";
import { TrialView } from "./trial";

const isExperiment = (run: RunModel) => run.params.length > 0;
const hasObjective = (run: RunModel) => run.objectives.length > 0;
const hasObjectives = (run: RunModel) => run.objectives.length > 1;

export const views: readonly View[] = [
  {
    id: "overview",
    title: "Overview",
    key: "o",
    applies: () => true,
    component: OverviewView,
  },
  {
    id: "table",
    title: "Table",
    key: "t",
    applies: () => true,
    component: TableView,
  },
  {
    id: "front",
    title: "Pareto front",
    key: "f",
    applies: hasObjectives,
    component: FrontView,
  },
  {
    id: "history",
    title: "History",
    key: "h",
    applies: hasObjective,
    component: HistoryView,
  },
  {
    id: "curves",
    title: "Curves",
    key: "u",
    applies: hasObjective,
    component: CurvesView,
  },
  {
    id: "slice",
    title: "Slices",
    key: "s",
    applies: hasObjective,
    component: SliceView,
  },
  {
    id: "importance",
    title: "Importance",
    key: "i",
    applies: hasObjective,
    component: ImportanceView,
  },
  {
    id: "scatter",
    title: "Scatter",
    key: "x",
    applies: isExperiment,
    component: ScatterView,
  },
  {
    id: "edf",
    title: "Distribution",
    key: "d",
    applies: hasObjective,
    component: EdfView,
  },
  {
    id: "parallel",
    title: "Parallel",
    key: "p",
    applies: (run) => run.params.length > 0,
    component: ParallelView,
  },
  {
    id: "contour",
    title: "Contour",
    key: "c",
    applies: (run) => hasObjective(run) && run.params.length > 1,
    component: ContourView,
  },
  {
    id: "timeline",
    title: "Timeline",
    key: "a",
    applies: () => true,
    component: TimelineView,
  },
  {
    id: "graph",
    title: "Graph",
    key: "g",
    applies: (run) => run.document.value.kind === "workflow",
    component: GraphView,
  },
  {
    id: "logs",
    title: "Logs",
    key: "e",
    applies: () => !isArchive(),
    component: ofPart<ViewProps>("logs", "LogsView"),
  },
  {
    id: "resources",
    title: "Resources",
    key: "r",
    applies: () => true,
    component: ResourcesView,
  },
  {
    id: "origin",
    title: "Origin",
    key: "n",
    applies: () => true,
    component: ofPart<ViewProps>("compare", "OriginView"),
  },
  {
    id: "compare",
    title: "Compare",
    key: "m",
    applies: () => true,
    component: ofPart<ViewProps>("compare", "CompareView"),
  },
  {
    id: "trial",
    title: "Trial",
    key: "1",
    applies: () => true,
    component: TrialView,
  },
];
