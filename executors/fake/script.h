/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_FAKE_SCRIPT_H
#define SMTUNE_EXECUTORS_FAKE_SCRIPT_H

#include "base/err.h"
#include "executors/executor.h"

/*
 * What the fake executor makes of its attempts: a JSON object a line.
 *
 *     {"attempt": 7, "cause": "exit", "exit_code": 3, "duration_ms": 50}
 *     {"command": "train --fold 2", "cause": "oom"}
 *     {"log": "loss=0.5\n", "metrics": "{\"loss\": 0.5}\n"}
 *     {"start": "full", "duration_ms": 20}
 *
 * A line is for one start: a line with "attempt" for one of that attempt, one
 * with "command" for one of the command whose words, with blanks between, are
 * these, the others for whichever comes, in their order. An attempt without a
 * line ends
 * well at once and logs loss=<its number>. Empty lines and those that begin
 * with # are passed over. All keys may be left out:
 *
 *     start        "ok"; "full": the start is refused, and there is room
 *                  again after duration_ms; "error": it is an error
 *     duration_ms  0: it ends as soon as the loop turns
 *     cause        "ok"; "launch_error" ends without having started, "lost"
 *                  without leaving `exit`
 *     exit_code    as the cause says: 0, 1 or -1
 *     signal       9 for cause signal, else 0
 *     log          appended to `log`
 *     metrics      appended to the file named in SMTUNE_METRICS
 *     output       and this to the one in SMTUNE_OUTPUTS
 *     text         of the exit, or of the error
 *     cpu_ms, max_rss_bytes
 *     ignore_term  true: only SIGKILL cancels it, or the grace period
 *     warned_exit  it ends with this status when it is warned
 *     queued_ms    it waits so long in a queue, as job FAKE-<its number>
 *     node         of a cluster, where it runs; where that is to be avoided,
 *                  on `spare`
 *     displaced    true: that was taken away by the executor itself
 *     outside      true: that was cancelled by others than smtune
 *     shortage     true: the machine had no room for it
 *     trouble      "died", "unhealthy", "refused": of its node, at its end
 *     note         for people, when it starts
 *     checkpoint   replaces the file `state` in SMTUNE_CHECKPOINT_DIR when it
 *                  ends
 *
 * One that lasts longer than its time limit ends as a real one would.
 */

enum fake_start { FAKE_OK, FAKE_FULL, FAKE_ERROR };

struct outcome {
    int64_t attempt; /* -1: whichever comes */
    char *command;   /* NULL: any */
    enum fake_start start;
    int64_t duration_ms;
    int64_t queued_ms;       /* -1: it waits in no queue */
    struct attempt_exit end; /* cause, exit_code, signal, cpu, rss, text, node,
                                is_displaced, is_outside, is_shortage */
    int trouble;             /* enum node_trouble; -1: none */
    char *note;
    char *log;
    char *metrics;
    char *output;
    char *checkpoint;
    bool ignores_term;
    bool heeds_warning;
    int warned_exit; /* if it does */
    bool is_used;
};

struct fake_script {
    struct outcome *outcomes;
    size_t count;
    size_t capacity;
};

/* Reads a file; NULL gives an empty script. Errors name the line. */
int fake_script_load(struct fake_script *script, const char *path,
                     struct err *err);
void fake_script_clear(struct fake_script *script);

/* The outcome for a start of what spec says (attempt, argv), which is thereby
 * used; NULL when the script has none. */
const struct outcome *fake_script_next(struct fake_script *script,
                                       const struct attempt_spec *spec);

#endif
