/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/show/run/run_view.h"
#include "orchestrator/proof/replay.h"
#include "orchestrator/run/run.h"

/* How a part is shown. */
static const struct part {
    const char *count, *difference; /* keys of the JSON document */
    const char *noun;
    bool hides_none; /* a line of text without any is left out */
} parts[PROOF_COUNT] = {
    [PROOF_SUGGESTIONS] = {"proved", "difference", "suggestion", false},
    [PROOF_SCHEDULE] = {"steps", "step", "schedule step", true},
    [PROOF_FLOW] = {"steps", "step", "step decision", false},
    [PROOF_DECISIONS] = {"decisions", "decision", "decision", false},
};

static json_t *difference_json(const struct proof *proof)
{
    json_t *json;

    if (!proof->differs)
        return json_null();
    json = json_pack("{s:o, s:s}", "id", json_int_unless(proof->number, 0),
                     "text", proof->text);
    if (proof->seq > 0)
        json_object_set_new(json, "event", json_integer(proof->seq));
    if (proof->place > 0)
        json_object_set_new(json, "place", json_integer(proof->place));
    if (proof->step != NULL)
        json_object_set_new(json, "step", json_from_text(proof->step));
    if (proof->param != NULL) {
        json_object_set_new(json, "param", json_from_text(proof->param));
        json_object_set_new(json, "recorded",
                            json_from_value(&proof->recorded));
        json_object_set_new(json, "suggested",
                            json_from_value(&proof->suggested));
    }
    return json;
}

static void print_json(const struct run_view *view, const struct proof *proofs)
{
    json_t *json = json_pack("{s:s}", "run", view->row.name);
    struct buf text = BUF_INIT;

    if (proofs[PROOF_SUGGESTIONS].has_any)
        json_object_set_new(json, "trials", json_integer(view->row.trials));
    for (int i = 0; i < PROOF_COUNT; i++) {
        if (!proofs[i].has_any)
            continue;
        json_object_set_new(json, parts[i].count,
                            json_integer(proofs[i].proved));
        json_object_set_new(json, parts[i].difference,
                            difference_json(&proofs[i]));
    }
    json_show(json, &text);
    printf("%s\n", buf_text(&text));
    json_decref(json);
    buf_clear(&text);
}

/* ", event 7 of trial 3 differs: ..." */
static void add_difference(const struct proof *proof, const char *job,
                           struct buf *line)
{
    const char *before = ", ";

    if (proof->seq > 0 || proof->place > 0) {
        buf_printf(line, "%s%s %" PRId64, before,
                   proof->seq > 0 ? "event" : "place",
                   proof->seq > 0 ? proof->seq : proof->place);
        before = " of ";
    }
    if (proof->step != NULL)
        buf_printf(line, "%sstep '%s'", before, proof->step);
    else if (proof->number > 0)
        buf_printf(line, "%s%s %" PRId64, before, job, proof->number);
    buf_printf(line, " differs: %s", proof->text);
}

static void print_text(const struct run_view *view, const struct proof *proofs)
{
    const char *job = proofs[PROOF_FLOW].has_any ? "job" : "trial";
    struct buf line = BUF_INIT;

    for (int i = 0; i < PROOF_COUNT; i++) {
        const struct proof *proof = &proofs[i];

        if (!proof->has_any ||
            (parts[i].hides_none && proof->proved == 0 && !proof->differs))
            continue;
        buf_truncate(&line, 0);
        buf_printf(&line, "run '%s': %s%" PRId64 " %s%s verified",
                   view->row.name, proof->is_whole ? "all " : "", proof->proved,
                   parts[i].noun, units_plural(proof->proved));
        if (proof->differs)
            add_difference(proof, job, &line);
        puts(buf_text(&line));
    }
    buf_clear(&line);
}

static int show(const struct cli *cli, const struct run_view *view,
                const struct proof *proofs)
{
    bool differs = false;

    for (int i = 0; i < PROOF_COUNT; i++)
        differs |= proofs[i].differs;
    if (cli->output == OUTPUT_TABLE)
        print_text(view, proofs);
    else
        print_json(view, proofs);
    return differs ? err_exit_status(ERR_FAILED) : 0;
}

static int replay_view(const struct cli *cli, const struct run_view *view,
                       struct err *err)
{
    struct proof proofs[PROOF_COUNT];
    struct spec spec;
    int status;

    if (run_read_spec(view->store, view->row.id, &spec, err) != 0)
        return -1;
    status = replay_run(view->store, view->row.id, &spec, proofs, err);
    if (status == 0)
        status = show(cli, view, proofs);
    spec_clear(&spec);
    return status;
}

static int exec_replay(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    struct run_view view;
    int status = run_view_open(&view, cli, operands[0], err);

    (void)options;
    (void)count;
    if (status == 0)
        status = replay_view(cli, &view, err);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_replay = {
    .name = "replay",
    .operands = "RUN",
    .summary = "verify every decision of a run against its record",
    .details = "Asks the search again for every trial of the run, with "
               "the results of that time, and compares each setting with "
               "the record, bit for bit. With a schedule, it also repeats "
               "each decision to start, continue, pause or stop a trial. "
               "Then it derives from the events how each attempt ended "
               "(success, failure, a retry and its time), when the budget "
               "was used up, and the final state of the run. For a "
               "workflow it repeats the decisions on steps: which "
               "started, with which copies, which were skipped, and how "
               "they ended. It starts and writes nothing.\n\n"
               "Exit status: 0 all is the same; 1 a difference, which is "
               "shown.",
    .examples = "smtune replay last\n"
                "smtune replay mlp -o json  # for programs\n",
    .completes = "run",
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec_replay,
};
