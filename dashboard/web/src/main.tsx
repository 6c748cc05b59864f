// SPDX-License-Identifier: GPL-3.0-or-later
// The page's beginning; and, in a worker, the worker's.
import { render } from "preact";
import { App } from "./app";
import "./app.css";
import { serveLines } from "./charts/parallel/session";
import { startLive } from "./live";
import { startClock } from "./shell/clock";
import { startKeys } from "./shell/keys";
import { startRuns } from "./shell/runs";
import { readSession } from "./shell/session";
import { startTheme } from "./shell/theme";
import { startTurns } from "./shell/turns";
import { watchUrl } from "./url";

function startPage(root: HTMLElement): void {
  startTurns();
  startTheme();
  startClock();
  startKeys();
  startLive();
  watchUrl();
  void readSession();
  startRuns();
  root.textContent = "";
  render(<App />, root);
}

const root = typeof document === "undefined" ? null : document.getElementById("app");
if (root !== null) startPage(root);
else if (typeof document === "undefined") serveLines(self);
