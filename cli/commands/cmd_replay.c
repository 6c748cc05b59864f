/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/show/run/run_view.h"
#include "orchestrator/proof/decisions.h"
#include "orchestrator/proof/flow_proof.h"
#include "orchestrator/proof/replay.h"
#include "orchestrator/run/run.h"

static json_t *difference_json(const struct replay *replay)
{
    if (replay->differs == 0)
        return json_null();
    return json_pack("{s:I, s:s, s:o, s:o}", "id", (json_int_t)replay->differs,
                     "param", replay->param, "recorded",
                     json_from_value(&replay->recorded), "suggested",
                     json_from_value(&replay->suggested));
}

static json_t *step_json(const struct replay *replay)
{
    if (replay->step_place == 0)
        return json_null();
    return json_pack("{s:I, s:I, s:s}", "place", (json_int_t)replay->step_place,
                     "id", (json_int_t)replay->step_trial, "text",
                     replay->step_text);
}

static json_t *decision_json(const struct decisions *decisions)
{
    if (decisions->seq == 0)
        return json_null();
    return json_pack("{s:I, s:o, s:s}", "event", (json_int_t)decisions->seq,
                     "id", json_int_unless(decisions->trial, 0), "text",
                     decisions->text);
}

static void print_json(const struct run_view *view, const struct replay *replay,
                       const struct decisions *decisions)
{
    struct buf text = BUF_INIT;
    json_t *json = json_pack(
        "{s:s, s:I, s:I, s:o, s:I, s:o, s:I, s:o}", "run", view->row.name,
        "trials", (json_int_t)replay->trials, "proved",
        (json_int_t)replay->proved, "difference", difference_json(replay),
        "steps", (json_int_t)replay->steps, "step", step_json(replay),
        "decisions", (json_int_t)decisions->proved, "decision",
        decision_json(decisions));

    json_print(json, &text);
    printf("%s\n", buf_text(&text));
    json_decref(json);
    buf_clear(&text);
}

static json_t *flow_json(const struct flow_replay *replay)
{
    if (replay->seq == 0)
        return json_null();
    return json_pack("{s:I, s:s?, s:o, s:s}", "event", (json_int_t)replay->seq,
                     "step", replay->step, "id",
                     json_int_unless(replay->job, 0), "text", replay->text);
}

static void print_flow_json(const struct run_view *view,
                            const struct flow_replay *replay,
                            const struct decisions *decisions)
{
    struct buf text = BUF_INIT;
    json_t *json = json_pack(
        "{s:s, s:I, s:o, s:I, s:o}", "run", view->row.name, "steps",
        (json_int_t)replay->proved, "step", flow_json(replay), "decisions",
        (json_int_t)decisions->proved, "decision", decision_json(decisions));

    json_print(json, &text);
    printf("%s\n", buf_text(&text));
    json_decref(json);
    buf_clear(&text);
}

static void print_value(const struct value *value, struct buf *out)
{
    if (value->type == VALUE_NULL)
        buf_add_string(out, "not active");
    else
        value_print(value, out);
}

static void add_suggestions(const struct replay *replay, struct buf *line)
{
    bool is_all = replay->differs == 0 && replay->step_place == 0;

    buf_printf(line, "%s%" PRId64 " suggestions are proved",
               is_all ? "all " : "", replay->proved);
    if (replay->differs == 0)
        return;
    buf_printf(line, ", trial %" PRId64 " differs: '%s' is ", replay->differs,
               replay->param);
    print_value(&replay->recorded, line);
    buf_add_string(line, " in the record, and the search suggests ");
    print_value(&replay->suggested, line);
}

static void add_steps(const struct replay *replay, struct buf *line)
{
    bool is_all = replay->differs == 0 && replay->step_place == 0;

    buf_printf(line, "%s%" PRId64 " steps of its schedule are proved",
               is_all ? "all " : "", replay->steps);
    if (replay->step_place != 0)
        buf_printf(line,
                   ", what has place %" PRId64 " (trial %" PRId64
                   ") does not follow: %s",
                   replay->step_place, replay->step_trial, replay->step_text);
}

static void add_decisions(const struct decisions *decisions, struct buf *line)
{
    buf_printf(line, "%s%" PRId64 " decisions are proved",
               decisions->seq == 0 ? "all " : "", decisions->proved);
    if (decisions->seq != 0)
        buf_printf(line, ", event %" PRId64, decisions->seq);
    if (decisions->trial != 0)
        buf_printf(line, " of trial %" PRId64, decisions->trial);
    if (decisions->seq != 0)
        buf_printf(line, " does not follow: %s", decisions->text);
}

static void print_text(const struct run_view *view, const struct replay *replay,
                       const struct decisions *decisions)
{
    struct buf text = BUF_INIT;

    buf_printf(&text, "run '%s': ", view->row.name);
    add_suggestions(replay, &text);
    if (replay->steps > 0 || replay->step_place != 0) {
        buf_printf(&text, "\nrun '%s': ", view->row.name);
        add_steps(replay, &text);
    }
    buf_printf(&text, "\nrun '%s': ", view->row.name);
    add_decisions(decisions, &text);
    puts(buf_text(&text));
    buf_clear(&text);
}

static void print_flow(const struct run_view *view,
                       const struct flow_replay *replay,
                       const struct decisions *decisions)
{
    struct buf text = BUF_INIT;

    buf_printf(&text, "run '%s': %s%" PRId64 " beginnings and ends are proved",
               view->row.name, replay->seq == 0 ? "all " : "", replay->proved);
    if (replay->seq != 0)
        buf_printf(&text, ", event %" PRId64, replay->seq);
    if (replay->step != NULL)
        buf_printf(&text, " of step '%s'", replay->step);
    if (replay->job != 0)
        buf_printf(&text, " of job %" PRId64, replay->job);
    if (replay->seq != 0)
        buf_printf(&text, " does not follow: %s", replay->text);
    buf_printf(&text, "\nrun '%s': ", view->row.name);
    add_decisions(decisions, &text);
    puts(buf_text(&text));
    buf_clear(&text);
}

static int show_experiment(const struct cli *cli, const struct run_view *view,
                           const struct spec *spec,
                           const struct decisions *decisions, struct err *err)
{
    struct replay replay;

    if (replay_run(view->store, view->row.id, spec->experiment, &replay, err) !=
        0)
        return -1;
    if (cli->output == OUTPUT_TABLE)
        print_text(view, &replay, decisions);
    else
        print_json(view, &replay, decisions);
    return replay.differs != 0 || replay.step_place != 0 || decisions->seq != 0
               ? err_exit_status(ERR_FAILED)
               : 0;
}

static int show_workflow(const struct cli *cli, const struct run_view *view,
                         const struct spec *spec,
                         const struct decisions *decisions, struct err *err)
{
    struct flow_replay replay;

    if (flow_replay_run(view->store, view->row.id, spec->workflow,
                        view->row.name, &replay, err) != 0)
        return -1;
    if (cli->output == OUTPUT_TABLE)
        print_flow(view, &replay, decisions);
    else
        print_flow_json(view, &replay, decisions);
    return replay.seq != 0 || decisions->seq != 0 ? err_exit_status(ERR_FAILED)
                                                  : 0;
}

static int replay_view(const struct cli *cli, const struct run_view *view,
                       struct err *err)
{
    struct decisions decisions;
    struct spec spec;
    int status;

    if (run_read_spec(view->store, view->row.id, &spec, err) != 0)
        return -1;
    status =
        decisions_replay(view->store, view->row.id, &spec, &decisions, err);
    if (status == 0)
        status = (spec.workflow != NULL ? show_workflow : show_experiment)(
            cli, view, &spec, &decisions, err);
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
    .summary = "prove that all that a run chose follows from its record",
    .details =
        "Asks the search once more for every trial of the run, with the "
        "results that were known when it was suggested, and compares each "
        "setting with the record, bit for bit. Of a run with a schedule, so "
        "are its steps: which trial began, went on or was stopped, and what "
        "was decided of each on its way. Then decides from the events "
        "once more what became of each attempt's end (success, failure, a "
        "retry and its time), when the budget was used up, and in what the run "
        "ended. Of a workflow it is the steps that are asked for again: which "
        "began, with which copies, were skipped, and how they ended. Nothing "
        "is run or written.\n\n"
        "Exit status: 0 all is the same; 1 something differs, and is shown.",
    .examples = "smtune replay last\n"
                "smtune replay mlp -o json  # for programs\n",
    .completes = "run",
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec_replay,
};
