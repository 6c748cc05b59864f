// SPDX-License-Identifier: GPL-3.0-or-later
// uPlot without what the page never uses: its legend, clocks, bars, splines, one x for
// all series, and its own ranges and ticks, as it is always given them. Where it asks,
// the answer stands in its text, and what hangs on it is left out as dead. It is the
// locked version's text; another one is an error.
import { readFileSync } from "node:fs";

const answers = [
  ["const mode = self.mode;", "const mode = 2;"],
  ["const showLegend = legend.show;", "const showLegend = false;"],
  ["const showCursor =                cursor.show;", "const showCursor = true;"],
  ["const cursorFocus = focus.prox >= 0;", "const cursorFocus = false;"],
  ["const cursorOnePt = cursorFocus && points.one;", "const cursorOnePt = false;"],
  ["if (legend.live) {\n\t\tconst getMultiVals", "if (false) {\n\t\tconst getMultiVals"],
  ["let isTime = mode == 1 && scales[s.scale].time;", "const isTime = false;"],
  ["let isTime = sc.time;\n\n\t\t\t\tlet rn", "const isTime = false;\n\n\t\t\t\tlet rn"],
  ["let isTime = sc.time;\n\n\t\t\taxis.size", "const isTime = false;\n\n\t\t\taxis.size"],
  [/const \[ timeIncrsMs,.*\nconst \[ timeIncrsS,.*/, "const timeIncrsMs = null, timeIncrsS = null;"],
  [/const _timeAxisSplits = .*/, "const _timeAxisSplits = null;"],
  [/const _timeAxisVals   = .*/, "const _timeAxisVals = null;"],
  [/const _timeSeriesVal  = .*/, "const _timeSeriesVal = null;"],
  [/fnOrSelf\(rn \|\| [^;]*;/, "fnOrSelf(rn);"],
  ["if (!rangeIsArr && isObj(rn)) {", "if (false) {"],
  [/fnOrSelf\(axis\.splits \|\| .*/, "fnOrSelf(axis.splits);"],
  [/fnOrSelf\(axis\.filter \|\| .*/, "fnOrSelf(axis.filter || retArg1);"],
  ["av || numAxisVals", "av"],
  ["sv || numSeriesVal", "sv"],
  [/uPlot\.fmtNum = fmtNum;[^]*?uPlot\.orient   = orient;/, ""],
  ["const xScaleDistr = scaleX.distr;", "const xScaleDistr = 1;"],
  ["uPlot.join = join;", ""],
  ["uPlot.fmtDate = fmtDate;\n\tuPlot.tzDate  = tzDate;", ""],
  [/\(paths\.bars    = bars\);\n\t\(paths\.spline  = monotoneCubic\);/, ""],
];

function answered(text) {
  for (const [question, answer] of answers) {
    const parts = text.split(question);
    if (parts.length !== 2) throw new Error(`uPlot's text has not once: ${question}`);
    text = parts.join(answer);
  }
  return text;
}

export const withoutUnused = {
  name: "uplot",
  setup: ({ onLoad }) =>
    onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path }) => ({
      contents: answered(readFileSync(path, "utf8")),
    })),
};
