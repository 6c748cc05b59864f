/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The judge of the flow: events go to a flow of its own in the order of the
 * record, as the engine told its own: what has ended is told, and where the
 * record says that something began, started or is over, the flow is asked what
 * comes next. An engine asks when it has room for more, so nothing is concluded
 * from what the record does not say. A run that its time ends
 * (replay_decisions.c has the proof of that) brings its steps to their end,
 * too: what could start is given up.
 */
#include "orchestrator/proof/replay_flow_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* ---- steps ---- */

static bool may_close(const struct proving *proving)
{
    const struct engine_life *life = replay_life(proving->replay);

    return life != NULL && life->may_close;
}

/* What comes next, where the record says that a step ended or was skipped:
 * behind what would have started, if that was given up. */
static struct flow_next next_end(struct proving *proving)
{
    struct flow_next next = flow_next(proving->steps->flow);

    while (next.kind == FLOW_START && may_close(proving)) {
        steps_give_up(proving->steps, next.step, next.copy, "");
        next = flow_next(proving->steps->flow);
    }
    return next;
}

/* Whether an axis in the record is what it is by the file. */
static bool axis_follows(struct proving *proving, size_t step,
                         const struct matrix_axis *axis, const json_t *recorded)
{
    json_t *list;
    bool follows;

    if (axis->kind == AXIS_GLOB || axis->kind == AXIS_LINES)
        return json_is_array(recorded);
    list = steps_axis(proving->steps, step, axis, NULL);
    follows = list != NULL && json_equal(list, recorded);
    json_decref(list);
    return follows;
}

/* Whether its condition, its matrix and the number of its copies are what they
 * are by the file; then it has begun. */
static int begin(struct proving *proving, size_t step, const json_t *detail,
                 json_t *axes)
{
    const struct step *its = &proving->workflow->steps[step];
    int64_t copies = detail_integer(detail, "copies", -1);
    struct flow_counts counts;
    bool is_wanted;

    if (steps_condition(proving->steps, step, -1, &is_wanted, NULL) != 0) {
        proving->cannot_begin[step] = true;
        return 0;
    }
    if (!is_wanted)
        return proving_differ(proving, NULL,
                              "it began, but its condition is false");
    if (axes == NULL && its->axis_count > 0) {
        proving->cannot_begin[step] = true;
        return copies == 0
                   ? 0
                   : proving_differ(proving, NULL, "its matrix is missing");
    }
    for (size_t i = 0; i < its->axis_count; i++) {
        const char *name = its->axes[i].name;

        if (!axis_follows(proving, step, &its->axes[i],
                          json_object_get(axes, name)))
            return proving_differ(proving, NULL,
                                  "axis '%s' of its matrix differs", name);
    }
    if (steps_begin(proving->steps, step, axes, NULL) != 0)
        return proving_differ(proving, NULL, "it has too many copies");
    proving_note_begin(proving, step, detail);
    flow_count(proving->steps->flow, step, &counts);
    return counts.copies == copies
               ? 0
               : proving_differ(proving, NULL,
                                "wrong number of copies: %" PRId64
                                " by its file, but %" PRId64 " recorded",
                                counts.copies, copies);
}

static int step_began(struct proving *proving, size_t step,
                      const json_t *detail)
{
    const struct flow_next next = flow_next(proving->steps->flow);
    const char *matrix = detail_string(detail, "matrix");
    json_t *axes;
    int result;

    if (next.kind != FLOW_BEGIN || next.step != step)
        return proving_next_differs(proving, NULL, "it began", &next);
    axes = matrix != NULL ? json_loads(matrix, 0, NULL) : NULL;
    result = begin(proving, step, detail, axes);
    json_decref(axes);
    return result;
}

static int step_skipped(struct proving *proving, size_t step,
                        const json_t *detail)
{
    const struct flow_next next = next_end(proving);
    bool is_wanted;

    if (next.step != step ||
        (next.kind != FLOW_BEGIN && next.kind != FLOW_SKIP))
        return proving_next_differs(proving, NULL, "it was skipped", &next);
    if (next.kind == FLOW_BEGIN && !may_close(proving) &&
        (steps_condition(proving->steps, step, -1, &is_wanted, NULL) != 0 ||
         is_wanted))
        return proving_differ(proving, NULL,
                              "it was skipped, but its condition is not false");
    steps_skip(proving->steps, step);
    proving_note_state(proving, step, FLOW_SKIPPED);
    if (text_same(detail_string(detail, "reason"), STEPS_CUT_OFF))
        proving_note_cut_off(proving, step);
    return 0;
}

static int step_ended(struct proving *proving, size_t step,
                      const json_t *detail)
{
    const char *word = detail_string(detail, "state");
    int state = step_state_find(word != NULL ? word : "");
    struct flow_next next;

    if (proving->cannot_begin[step]) {
        proving->cannot_begin[step] = false;
        if (state != FLOW_FAILED)
            return proving_differ(proving, NULL,
                                  "it cannot begin, but has not failed");
        steps_fail(proving->steps, step);
        proving_note_state(proving, step, FLOW_FAILED);
        return 0;
    }
    next = next_end(proving);
    if (next.kind != FLOW_END || next.step != step)
        return proving_next_differs(proving, NULL, "it ended", &next);
    if ((int)next.state != state)
        return proving_differ(proving, NULL,
                              "recorded %s, but its copies give %s", word,
                              step_state_names[next.state]);
    steps_end(proving->steps, step, next.state);
    proving_note_state(proving, step, next.state);
    return 0;
}

/* How the step ended is asked again, unless jobs of it go on. */
static int step_active_again(struct proving *proving, size_t step)
{
    struct flow *flow = proving->steps->flow;

    if (flow_state(flow, step) != FLOW_SUCCEEDED &&
        flow_state(flow, step) != FLOW_FAILED)
        return 0;
    if (!flow_may_reopen(flow, step))
        return proving_differ(proving, NULL,
                              "it is active again, but a step that needs it is "
                              "running");
    steps_look_again(proving->steps, step);
    proving_note_state(proving, step, FLOW_ACTIVE);
    return 0;
}

static int step_reopened(struct proving *proving, size_t step,
                         const json_t *detail)
{
    const char *word = detail_string(detail, "state");
    struct flow *flow = proving->steps->flow;
    int state = step_state_find(word != NULL ? word : "");

    if (state == FLOW_ACTIVE)
        return step_active_again(proving, step);
    if (proving->records != NULL)
        step_record_forget(&proving->records[step]);
    if (flow_state(flow, step) == FLOW_WAITING)
        return 0;
    if (!flow_may_reset(flow, step))
        return proving_differ(
            proving, NULL,
            "it waits again, but a step that needs it is running");
    steps_wait_again(proving->steps, step);
    return 0;
}

static int on_step_event(struct proving *proving, enum step_event event,
                         const json_t *detail)
{
    static int (*const handlers[])(struct proving * proving, size_t step,
                                   const json_t *detail) = {
        [STEP_BEGAN] = step_began,
        [STEP_ENDED] = step_ended,
        [STEP_SKIPPED] = step_skipped,
        [STEP_REOPENED] = step_reopened,
    };
    size_t step;
    int result;

    if (!proving_find_step(proving, detail, &step))
        return proving_differ(proving, NULL, "no such step");
    result = handlers[event](proving, step, detail);
    if (result != 0)
        proving->proof->step = proving_step_name(proving, step);
    proving->proof->proved += result == 0;
    return result;
}

/* ---- all of them ---- */

/* That a budget or nobody's luck ended it is for replay_decisions.c. */
static int run_state(struct proving *proving, const json_t *detail)
{
    const char *state = detail_string(detail, "state");
    bool is_over = flow_next(proving->steps->flow).kind == FLOW_OVER;
    bool has_failed = flow_has_failed(proving->steps->flow);

    if (!text_same(state, run_state_names[RUN_SUCCEEDED]))
        return 0;
    proving->proof->proved++;
    return is_over && !has_failed
               ? 0
               : proving_differ(
                     proving, NULL, "the run has succeeded, but %s",
                     is_over
                         ? "a step has failed, or was skipped because of one"
                         : "some steps have not finished");
}

static int on_event(void *self)
{
    struct proving *proving = self;
    const struct event_row *event = proving->replay->event;
    const json_t *detail = replay_detail(proving->replay);
    int result = 0;

    if (event->job != 0)
        result = proving_job_event(proving, detail);
    else if (proving->replay->was_edited &&
             (strcmp(event->event, "run_created") == 0 ||
              strcmp(event->event, "edited") == 0))
        result =
            proving_take_file(proving, strcmp(event->event, "edited") != 0);
    else if (strcmp(event->event, "run_state") == 0)
        result = run_state(proving, detail);
    for (int i = 0; i < STEP_EVENT_COUNT && result == 0; i++) {
        if (strcmp(event->event, step_event_names[i]) == 0)
            result = on_step_event(proving, (enum step_event)i, detail);
    }
    return result;
}

/* ---- the judge ---- */

static bool is_for(const struct spec *spec)
{
    return spec->workflow != NULL;
}

static void destroy(void *self)
{
    struct proving *proving = self;

    if (proving == NULL)
        return;
    for (size_t i = 0; i < proving->job_count; i++)
        free(proving->jobs[i].rounds);
    for (size_t i = 0; i < proving->round_count; i++)
        free(proving->rounds[i].rounds);
    free(proving->jobs);
    free(proving->rounds);
    free(proving->cannot_begin);
    if (proving->records != NULL)
        step_records_clear(proving->records, proving->workflow->step_count);
    steps_destroy(proving->steps);
    spec_clear(&proving->spec);
    free(proving->run_name);
    free(proving);
}

static int keep_name(void *user, const struct run_row *row)
{
    struct proving *proving = user;

    proving->run_name = mem_copy_string(row->name);
    return 0;
}

static void *create(struct replay *replay)
{
    const struct workflow *workflow = replay->spec->workflow;
    struct proving *proving = mem_zero(sizeof(*proving));

    proving->workflow = workflow;
    proving->replay = replay;
    proving->proof = &replay->proofs[PROOF_FLOW];
    proving->cannot_begin = mem_array(workflow->step_count, sizeof(bool));
    if (store_get_run_uncounted(replay->store, replay->run, keep_name, proving,
                                replay->err) == 0)
        proving->steps = steps_create(workflow, proving->run_name, replay->err);
    if (proving->steps != NULL)
        return proving;
    destroy(proving);
    return NULL;
}

const struct judge judge_of_flow = {
    .kind = PROOF_FLOW,
    .is_for = is_for,
    .create = create,
    .destroy = destroy,
    .judge = on_event,
};
