// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of the page that are loaded when they are needed (src/shell/part.tsx): src/parts/NAME.ts
// becomes NAME.js. What a part takes of the page itself is listed here, by module. The page hands
// it out in `smtune`, and a part reads it from there in place of a copy of its own.
import { readdirSync } from "node:fs";
import { relative, resolve } from "node:path";

const taken = {
  "@preact/signals": ["signal"],
  "preact/hooks": ["useEffect", "useLayoutEffect", "useMemo", "useRef", "useState"],
  "preact/jsx-runtime": ["Fragment", "jsx", "jsxs"],
  "./src/api": ["ApiError", "getBlock", "getJson", "getRange", "isArchive"],
  "./src/charts/controls": ["Check", "Choose", "useDragging", "useHeldText", "useLog"],
  "./src/charts/curve_lines": ["curvePoints", "strandsOf"],
  "./src/charts/legend": ["Legend"],
  "./src/charts/objective": ["useObjective"],
  "./src/charts/panels": ["Panels"],
  "./src/charts/rows": ["counted", "isBetterAsLog", "median", "numberOf", "valueName", "valuesOf"],
  "./src/charts/scales": ["extent", "makeScale", "scaleNote", "scaleOfColumn", "valueText"],
  "./src/charts/strands": ["strandLine"],
  "./src/charts/theme": ["useTheme"],
  "./src/data/columns": ["IN_RUN", "cellText", "formatNumber", "mergeTable", "rowOf", "withStates"],
  "./src/data/curves": ["makeCurveStore"],
  "./src/data/format": ["formatBytes"],
  "./src/data/median": ["medianOf"],
  "./src/data/turns": ["codeOf"],
  "./src/model/best": ["bestOf", "bestRow"],
  "./src/model/compared": ["RUNS_MAX", "toggleCompared", "withOnly"],
  "./src/model/run": ["makeRun"],
  "./src/pages/chosen": ["ChosenBar"],
  "./src/shell/format": ["formatCount", "formatDuration", "formatMany", "timeOf"],
  "./src/shell/messages": ["Guard"],
  "./src/shell/part": ["addPart"],
  "./src/shell/runs": ["runs"],
  "./src/shell/states": ["StateBadge"],
  "./src/url": ["heldNumber", "heldNumbers", "heldText", "href", "query"],
  "./src/views/curves": ["CurvesView"],
  "./src/views/history": ["bestSoFar", "orderedRows"],
  "./src/views/parallel": ["ParallelView"],
  "./src/views/scatter": ["ScatterView"],
  "./src/views/table": ["TableView"],
  "./src/views/trial_columns": ["labelOf", "orderedNames", "rowTitle", "rowWord", "textOf"],
  "./src/widgets/tall_scroll": ["useTallScroll"],
};
const modules = Object.entries(taken);

const handOut = ([name, names], i) =>
  `"${name}": {${names.map((one) => `${one}: m${i}.${one}`)}}`;

export const pageEntry = {
  contents: [
    'import "./src/main";',
    ...modules.map(([name], i) => `import * as m${i} from "${name}";`),
    `globalThis.smtune = {${modules.map(handOut)}};`,
  ].join("\n"),
  resolveDir: process.cwd(),
  sourcefile: "page.js",
};

export const parts = Object.fromEntries(
  readdirSync("src/parts")
    .sort()
    .map((file) => [file.replace(/\..*/, ""), `src/parts/${file}`]),
);

export const fromPage = {
  name: "page",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(\.|@?preact)/ }, ({ path, resolveDir }) => {
      const name = path.startsWith(".") ? `./${relative(".", resolve(resolveDir, path))}` : path;
      return name in taken ? { path: name, namespace: "page" } : undefined;
    });
    onLoad({ filter: /./, namespace: "page" }, ({ path }) => ({
      contents: `export const { ${taken[path]} } = globalThis.smtune["${path}"];`,
    }));
  },
};

// What is in the page and in a part, too.
export const doubled = (page, part) =>
  Object.keys(part.inputs).filter((file) => file in page.inputs || file.includes("node_modules"));
