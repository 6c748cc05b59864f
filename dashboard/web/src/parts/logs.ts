// SPDX-License-Identifier: GPL-3.0-or-later
// Logs: one, and the search in all of a run.
import { addPart } from "../shell/part";
import { LogsView } from "../views/logs";
import { Log } from "../widgets/log";

addPart({ Log, LogsView });
