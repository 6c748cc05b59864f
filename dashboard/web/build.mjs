// SPDX-License-Identifier: GPL-3.0-or-later
// node build.mjs [FOLDER]: builds dist/ (or that) from src/: one script, which is the page's and its worker's, one
// style sheet, one page; the page that logs in, and its script; and each compressed, as the program has them. The same
// sources give the same bytes. Where the compressed ones of the page together are over the limit, that is an error.
import zopfli from "@gfx/zopfli";
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { minify } from "terser";
import { withoutUnused } from "./uplot.mjs";

const LIMIT_BYTES = 120_000;
const out = process.argv[2] ?? "dist";

mkdirSync(out, { recursive: true });
const { warnings } = await build({
  entryPoints: { app: "src/main.tsx", login: "src/login.ts" },
  bundle: true,
  format: "iife",
  target: "es2022",
  minify: true,
  legalComments: "none",
  charset: "utf8",
  outdir: out,
  logLevel: "warning",
  plugins: [withoutUnused],
});
if (warnings.length > 0) process.exit(1);
const scripts = {
  "app.js": "/* smtune: GPL-3.0-or-later. Preact, signals, uPlot: MIT. */",
  "login.js": "/* smtune: GPL-3.0-or-later. */",
};
for (const [name, preamble] of Object.entries(scripts)) {
  const { code } = await minify(readFileSync(`${out}/${name}`, "utf8"), {
    ecma: 2020,
    toplevel: true,
    compress: { passes: 2, keep_fargs: false },
    format: { preamble },
  });
  writeFileSync(`${out}/${name}`, code);
}
for (const name of ["index.html", "login.html"]) copyFileSync(`src/${name}`, `${out}/${name}`);

async function compress(name) {
  const compressed = await zopfli.gzipAsync(readFileSync(`${out}/${name}`), {});
  writeFileSync(`${out}/${name}.gz`, compressed);
  console.log(`  ${name.padEnd(12)} ${compressed.length} bytes compressed`);
  return compressed.length;
}

let total = 0;
for (const name of ["app.css", "app.js", "index.html"]) total += await compress(name);
console.log(`  in all       ${total} of ${LIMIT_BYTES}`);
for (const name of ["login.html", "login.js"]) await compress(name);
if (total > LIMIT_BYTES) {
  console.error("the page is over its limit");
  process.exit(1);
}
