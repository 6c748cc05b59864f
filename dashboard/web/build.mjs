// SPDX-License-Identifier: GPL-3.0-or-later
// node build.mjs [FOLDER]: builds dist/ (or that) from src/: one script, which is the page's and its worker's, one
// style sheet, one page; a script for each part that is loaded later (parts.mjs); the page that logs in, and its
// script; and each compressed, as the program has them. The same sources give the same bytes. Where the compressed
// ones that a browser loads first are together over their limit, or all, that is an error.
import zopfli from "@gfx/zopfli";
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { minify } from "terser";
import { doubled, fromPage, pageEntry, parts } from "./parts.mjs";
import { withoutUnused } from "./uplot.mjs";

const FIRST_LIMIT_BYTES = 120_000;
const ALL_LIMIT_BYTES = 200_000;
const OURS = "/* smtune: GPL-3.0-or-later. */";
const out = process.argv[2] ?? "dist";

function fail(text) {
  console.error(text);
  process.exit(1);
}

async function bundle(options) {
  const { metafile, warnings } = await build({
    bundle: true,
    format: "iife",
    target: "es2022",
    minify: true,
    legalComments: "none",
    charset: "utf8",
    logLevel: "warning",
    metafile: true,
    ...options,
  });
  if (warnings.length > 0) process.exit(1);
  return metafile;
}

async function shorten(name, preamble) {
  const { code } = await minify(readFileSync(`${out}/${name}`, "utf8"), {
    ecma: 2020,
    toplevel: true,
    compress: { passes: 2, keep_fargs: false },
    format: { preamble },
  });
  writeFileSync(`${out}/${name}`, code);
}

async function compress(names) {
  let total = 0;
  for (const name of names) {
    const compressed = await zopfli.gzipAsync(readFileSync(`${out}/${name}`), {});
    writeFileSync(`${out}/${name}.gz`, compressed);
    total += compressed.length;
    console.log(`  ${name.padEnd(12)} ${compressed.length} bytes compressed`);
  }
  return total;
}

mkdirSync(out, { recursive: true });
const page = await bundle({ stdin: pageEntry, outfile: `${out}/app.js`, plugins: [withoutUnused] });
await shorten("app.js", "/* smtune: GPL-3.0-or-later. Preact, signals, uPlot: MIT. */");
for (const [name, entry] of Object.entries(parts)) {
  const part = await bundle({ entryPoints: { [name]: entry }, outdir: out, plugins: [fromPage] });
  const twice = doubled(page, part);
  if (twice.length > 0) fail(`${entry} has a copy of ${twice}: list it in parts.mjs`);
  await shorten(`${name}.js`, OURS);
}
await bundle({ entryPoints: { login: "src/login.ts" }, outdir: out });
await shorten("login.js", OURS);
for (const name of ["index.html", "login.html"]) copyFileSync(`src/${name}`, `${out}/${name}`);

const first = await compress(["app.css", "app.js", "index.html"]);
console.log(`  first        ${first} of ${FIRST_LIMIT_BYTES}`);
const later = [...Object.keys(parts).map((name) => `${name}.js`), "login.html", "login.js"];
const all = first + (await compress(later));
console.log(`  in all       ${all} of ${ALL_LIMIT_BYTES}`);
if (first > FIRST_LIMIT_BYTES || all > ALL_LIMIT_BYTES) fail("the page is over its limit");
