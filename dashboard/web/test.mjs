// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the tests of what has nothing to do with a browser.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const directory = mkdtempSync(join(tmpdir(), "smtune-web-"));
await build({
  entryPoints: readdirSync("test").map((name) => join("test", name)),
  bundle: true,
  format: "esm",
  platform: "node",
  outdir: directory,
  outExtension: { ".js": ".mjs" },
  logLevel: "warning",
});
const files = readdirSync(directory).map((name) => join(directory, name));
const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
rmSync(directory, { recursive: true });
process.exit(status ?? 1);
