// SPDX-License-Identifier: GPL-3.0-or-later
// node build.mjs [FOLDER]: builds dist/ (or that) from src/: one script, which is the page's and its worker's, one
// style sheet, one page. The same sources give the same bytes. Where all of it
// together is over the limit when it is compressed, that is an error.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT_BYTES = 120_000;
const out = process.argv[2] ?? "dist";

mkdirSync(out, { recursive: true });
const { warnings } = await build({
  entryPoints: { app: "src/main.tsx" },
  bundle: true,
  format: "iife",
  target: "es2022",
  minify: true,
  legalComments: "none",
  charset: "utf8",
  outdir: out,
  logLevel: "warning",
  banner: {
    js: "/* smtune: GPL-3.0-or-later. Preact, signals: MIT. */",
  },
});
if (warnings.length > 0) process.exit(1);
copyFileSync("src/index.html", `${out}/index.html`);

let total = 0;
for (const name of readdirSync(out).sort()) {
  const bytes = gzipSync(readFileSync(`${out}/${name}`), { level: 9 }).length;
  total += bytes;
  console.log(`  ${name.padEnd(12)} ${bytes} bytes compressed`);
}
console.log(`  in all       ${total} of ${LIMIT_BYTES}`);
if (total > LIMIT_BYTES) {
  console.error("the page is over its limit");
  process.exit(1);
}
