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
#include "orchestrator/proof/replay_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/job/states.h"
#include "orchestrator/steps/rounds.h"
#include "orchestrator/steps/step_records.h"
#include "orchestrator/steps/steps.h"

struct flow_job {
    int64_t id, number;
    size_t step;
    int64_t copy, round;
    char *rounds;    /* NULL: none */
    bool is_refused; /* its condition says no */
    bool is_to_fail; /* its condition cannot be told */
    bool is_over;
};

/* What a copy whose round has ended well is to go on with. */
struct next_round {
    size_t step;
    int64_t copy, round;
    char *rounds;
};

struct proving {
    const struct workflow *workflow;
    struct spec spec; /* that the events are under, where the file was edited;
                         else nothing */
    char *run_name;
    struct steps *steps;
    struct step_record *records; /* [step_count], where the file was edited */
    struct replay *replay;
    struct proof *proof;
    struct flow_job *jobs; /* [job_count] by id */
    size_t job_count, job_capacity;
    struct next_round *rounds; /* [round_count] */
    size_t round_count, round_capacity;
    bool *cannot_begin; /* [step_count] */
};

/* ---- saying ---- */

static int differ(struct proving *proving, const struct flow_job *job,
                  const char *format, ...) PRINTF_LIKE(3, 4);

static int differ(struct proving *proving, const struct flow_job *job,
                  const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    replay_differ_va(proving->replay, PROOF_FLOW, job != NULL ? job->number : 0,
                     format, arguments);
    va_end(arguments);
    return REPLAY_DIFFERS;
}

static const char *name_of(const struct proving *proving, size_t step)
{
    return proving->workflow->steps[step].name;
}

/* What comes next, in words that follow "what follows is that". */
static int next_differs(struct proving *proving, const struct flow_job *job,
                        const char *recorded, const struct flow_next *next)
{
    const char *name = next->kind == FLOW_NOTHING || next->kind == FLOW_OVER
                           ? ""
                           : name_of(proving, next->step);

    switch (next->kind) {
    case FLOW_NOTHING:
        return differ(proving, job, "%s, but no step is due", recorded);
    case FLOW_OVER:
        return differ(proving, job, "%s, but all steps have finished",
                      recorded);
    case FLOW_BEGIN:
        return differ(proving, job, "%s, but '%s' begins next", recorded, name);
    case FLOW_SKIP:
        return differ(proving, job, "%s, but '%s' is skipped next", recorded,
                      name);
    case FLOW_START:
        return differ(proving, job,
                      "%s, but copy %" PRId64 " of '%s' starts next", recorded,
                      next->copy, name);
    case FLOW_END:
        return differ(proving, job, "%s, but '%s' has %s next", recorded, name,
                      step_state_names[next->state]);
    }
    return REPLAY_DIFFERS;
}

/* ---- details ---- */

static bool find_step(const struct proving *proving, const json_t *detail,
                      size_t *step)
{
    int64_t place = detail_integer(detail, "step", -1);

    *step = (size_t)place;
    return place >= 0 && *step < proving->workflow->step_count;
}

static char *print(const json_t *json)
{
    struct buf text = BUF_INIT;

    json_print(json, &text);
    return buf_take(&text);
}

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

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

/* ---- what an edit takes over ---- */

static void note_state(struct proving *proving, size_t step,
                       enum flow_state state)
{
    if (proving->records == NULL)
        return;
    proving->records[step].state = state;
    proving->records[step].is_cut_off = false;
}

static void note_cut_off(struct proving *proving, size_t step)
{
    temps_cut_off(proving->steps->temps, step);
    if (proving->records != NULL)
        proving->records[step].is_cut_off = true;
}

static void note_begin(struct proving *proving, size_t step,
                       const json_t *detail)
{
    if (proving->records == NULL)
        return;
    step_record_forget(&proving->records[step]);
    proving->records[step].state = FLOW_ACTIVE;
    proving->records[step].matrix =
        mem_copy_string(detail_string(detail, "matrix"));
}

static void note_job(struct proving *proving, const struct flow_job *job,
                     enum job_state state, const char *outputs)
{
    if (proving->records == NULL)
        return;
    *step_record_copy(&proving->records[job->step], job->copy) =
        (struct copy_record){
            .is_there = true,
            .round = job->round,
            .state = state,
            .rounds = mem_copy_string(job->rounds),
            .outputs = mem_copy_string(outputs),
        };
}

/* The file that holds from now on, which it takes over: its steps are told how
 * far those of the one before are. */
static int follow_spec(struct proving *proving, struct spec *spec)
{
    struct steps *steps =
        steps_create(spec->workflow, proving->run_name, proving->replay->err);
    int result = steps == NULL ? -1
                               : steps_tell(steps, proving->records,
                                            proving->replay->err);

    if (result != 0) {
        steps_destroy(steps);
        spec_clear(spec);
        return -1;
    }
    steps_destroy(proving->steps);
    spec_clear(&proving->spec);
    proving->steps = steps;
    proving->spec = *spec;
    proving->workflow = spec->workflow;
    return 0;
}

static int on_file(struct proving *proving, bool is_first)
{
    struct spec spec;

    if (replay_parse_spec(proving->replay, is_first ? "" : "edited_", &spec) !=
        0)
        return -1;
    if (spec.workflow == NULL || is_first != (proving->records == NULL) ||
        spec.workflow->step_count != proving->workflow->step_count) {
        spec_clear(&spec);
        return differ(proving, NULL, "the edited file has other steps");
    }
    if (is_first)
        proving->records =
            mem_array(spec.workflow->step_count, sizeof(*proving->records));
    return follow_spec(proving, &spec);
}

/* ---- a step begins ---- */

/* Whether an axis in the record is what it is by the file. */
static bool axis_follows(struct proving *proving, size_t step,
                         const struct matrix_axis *axis, const json_t *recorded)
{
    json_t *list;
    bool follows;

    if (axis->kind == AXIS_GLOB)
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
        return differ(proving, NULL, "it began, but its condition is false");
    if (axes == NULL && its->axis_count > 0) {
        proving->cannot_begin[step] = true;
        return copies == 0 ? 0 : differ(proving, NULL, "its matrix is missing");
    }
    for (size_t i = 0; i < its->axis_count; i++) {
        const char *name = its->axes[i].name;

        if (!axis_follows(proving, step, &its->axes[i],
                          json_object_get(axes, name)))
            return differ(proving, NULL, "axis '%s' of its matrix differs",
                          name);
    }
    if (steps_begin(proving->steps, step, axes, NULL) != 0)
        return differ(proving, NULL, "it has too many copies");
    note_begin(proving, step, detail);
    flow_count(proving->steps->flow, step, &counts);
    return counts.copies == copies
               ? 0
               : differ(proving, NULL,
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
        return next_differs(proving, NULL, "it began", &next);
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
        return next_differs(proving, NULL, "it was skipped", &next);
    if (next.kind == FLOW_BEGIN && !may_close(proving) &&
        (steps_condition(proving->steps, step, -1, &is_wanted, NULL) != 0 ||
         is_wanted))
        return differ(proving, NULL,
                      "it was skipped, but its condition is not false");
    steps_skip(proving->steps, step);
    note_state(proving, step, FLOW_SKIPPED);
    if (is_same(detail_string(detail, "reason"), STEPS_CUT_OFF))
        note_cut_off(proving, step);
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
            return differ(proving, NULL, "it cannot begin, but has not failed");
        steps_fail(proving->steps, step);
        note_state(proving, step, FLOW_FAILED);
        return 0;
    }
    next = next_end(proving);
    if (next.kind != FLOW_END || next.step != step)
        return next_differs(proving, NULL, "it ended", &next);
    if ((int)next.state != state)
        return differ(proving, NULL, "recorded %s, but its copies give %s",
                      word, step_state_names[next.state]);
    steps_end(proving->steps, step, next.state);
    note_state(proving, step, next.state);
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
        return differ(proving, NULL,
                      "it is active again, but a step that needs it is "
                      "running");
    steps_look_again(proving->steps, step);
    note_state(proving, step, FLOW_ACTIVE);
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
        return differ(proving, NULL,
                      "it waits again, but a step that needs it is running");
    steps_wait_again(proving->steps, step);
    return 0;
}

/* ---- jobs ---- */

static int by_id(const void *id, const void *job)
{
    int64_t a = *(const int64_t *)id, b = ((const struct flow_job *)job)->id;

    return (a > b) - (a < b);
}

/* Jobs come in the order of their ids. */
static struct flow_job *find_job(struct proving *proving, int64_t id)
{
    return proving->job_count > 0
               ? bsearch(&id, proving->jobs, proving->job_count,
                         sizeof(*proving->jobs), by_id)
               : NULL;
}

/* The first round of a copy. */
static int start(struct proving *proving, struct flow_job *job)
{
    const struct repeat_rule *rule =
        &proving->workflow->steps[job->step].repeat;
    struct flow *flow = proving->steps->flow;
    const struct flow_next next = flow_next(flow);
    bool is_wanted, follows;
    json_t *first;
    char *rounds;

    if (next.kind != FLOW_START || next.step != job->step ||
        next.copy != job->copy)
        return next_differs(proving, job, "it started", &next);
    first = rule->max > 0 ? rounds_first(rule) : NULL;
    rounds = first != NULL ? print(first) : NULL;
    follows = job->round == (rule->max > 0) && is_same(rounds, job->rounds);
    json_decref(first);
    free(rounds);
    if (!follows)
        return differ(proving, job, "the values of its first round differ");
    job->is_to_fail = steps_condition(proving->steps, job->step, job->copy,
                                      &is_wanted, NULL) != 0;
    job->is_refused = !job->is_to_fail && !is_wanted;
    if (!job->is_refused)
        flow_started(flow, job->step, job->copy);
    return 0;
}

static int start_round(struct proving *proving, const struct flow_job *job)
{
    for (size_t i = 0; i < proving->round_count; i++) {
        struct next_round *next = &proving->rounds[i];
        bool follows;

        if (next->step != job->step || next->copy != job->copy)
            continue;
        follows =
            next->round == job->round && is_same(next->rounds, job->rounds);
        free(next->rounds);
        *next = proving->rounds[--proving->round_count];
        return follows
                   ? 0
                   : differ(proving, job, "the values of this round differ");
    }
    return differ(proving, job, "round %" PRId64 " of a copy that has finished",
                  job->round);
}

static int job_created(struct proving *proving, const json_t *detail)
{
    const char *rounds = detail_string(detail, "rounds");
    struct flow_job *job;
    size_t step;

    if (!find_step(proving, detail, &step))
        return differ(proving, NULL, "the job belongs to no step");
    proving->jobs = mem_grow(proving->jobs, proving->job_count,
                             &proving->job_capacity, sizeof(*proving->jobs));
    job = &proving->jobs[proving->job_count++];
    *job = (struct flow_job){
        .id = proving->replay->event->job,
        .number = detail_integer(detail, "number", 0),
        .step = step,
        .copy = detail_integer(detail, "copy", -1),
        .round = detail_integer(detail, "round", 0),
        .rounds = rounds != NULL ? mem_copy_string(rounds) : NULL,
    };
    note_job(proving, job, JOB_READY, NULL);
    return job->round > 1 ? start_round(proving, job) : start(proving, job);
}

static void expect_round(struct proving *proving, const struct flow_job *job,
                         const json_t *rounds)
{
    proving->rounds =
        mem_grow(proving->rounds, proving->round_count,
                 &proving->round_capacity, sizeof(*proving->rounds));
    proving->rounds[proving->round_count++] = (struct next_round){
        .step = job->step,
        .copy = job->copy,
        .round = job->round + 1,
        .rounds = print(rounds),
    };
}

static json_t *parse(const char *text)
{
    return text != NULL ? json_loads(text, 0, NULL) : NULL;
}

static int job_over(struct proving *proving, struct flow_job *job_id,
                    enum job_state state, const json_t *detail)
{
    struct job job = {
        .step = (int64_t)job_id->step,
        .copy = job_id->copy,
        .round = job_id->round,
        .rounds = parse(job_id->rounds),
        .state = state,
        .outputs = parse(detail_string(detail, "outputs")),
    };
    bool is_skipped = state == JOB_SKIPPED;
    json_t *rounds;
    int result = 0;

    if (is_skipped != job_id->is_refused)
        result = differ(proving, job_id, "it is %s, but its condition is %s",
                        job_state_names[state], is_skipped ? "true" : "false");
    else if (job_id->is_to_fail && state != JOB_FAILED)
        result =
            differ(proving, job_id, "it is %s, but its condition has no value",
                   job_state_names[state]);
    if (result == 0) {
        rounds = steps_end_job(proving->steps, &job);
        if (rounds != NULL)
            expect_round(proving, job_id, rounds);
        json_decref(rounds);
    }
    note_job(proving, job_id, state, detail_string(detail, "outputs"));
    job_id->is_over = result == 0;
    json_decref(job.outputs);
    json_decref(job.rounds);
    return result;
}

/* Its user puts it back: it starts again at once, or when there is room. */
static int job_reopened(struct proving *proving, struct flow_job *job)
{
    struct flow *flow = proving->steps->flow;

    if (flow_state(flow, job->step) == FLOW_WAITING)
        return 0;
    if (!flow_may_reopen(flow, job->step))
        return differ(proving, job,
                      "it was reopened, but a step that needs it is running");
    steps_reopen(proving->steps, job->step, job->copy);
    note_state(proving, job->step, FLOW_ACTIVE);
    note_job(proving, job, JOB_READY, NULL);
    job->is_over = job->is_refused = job->is_to_fail = false;
    return 0;
}

/* Nothing could need them any more. */
static int temps_removed(struct proving *proving, const struct flow_job *job)
{
    const char *name = name_of(proving, job->step);
    size_t open;

    if (proving->workflow->is_touched)
        return differ(proving, job, "--touch removes no file");
    if (!proving->workflow->steps[job->step].has_temps)
        return differ(proving, job, "step '%s' has no temporary output", name);
    open = temps_wait_for(proving->steps->temps, job->step);
    if (open != SIZE_MAX)
        return differ(proving, job,
                      "its temporary outputs were removed, but step '%s' may "
                      "need them",
                      name_of(proving, open));
    proving->proof->proved++;
    return 0;
}

static int on_job_event(struct proving *proving, const json_t *detail)
{
    struct flow_job *job = find_job(proving, proving->replay->event->job);
    const char *event = proving->replay->event->event;
    const char *word = detail_string(detail, "state");
    int state = job_state_find(word != NULL ? word : "");
    int result;

    if (strcmp(event, job_event_names[EVENT_CREATED]) == 0)
        result = job_created(proving, detail);
    else if (job != NULL && strcmp(event, job_event_names[EVENT_REOPENED]) == 0)
        return job_reopened(proving, job);
    else if (job != NULL && strcmp(event, "temps_removed") == 0)
        return temps_removed(proving, job);
    else if (job != NULL && state >= 0 && job_is_final((enum job_state)state) &&
             !job->is_over)
        result = job_over(proving, job, (enum job_state)state, detail);
    else
        return 0; /* on its way, or an attempt's */
    proving->proof->proved += result == 0;
    return result;
}

/* ---- all of them ---- */

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

    if (!find_step(proving, detail, &step))
        return differ(proving, NULL, "no such step");
    result = handlers[event](proving, step, detail);
    if (result != 0)
        proving->proof->step = name_of(proving, step);
    proving->proof->proved += result == 0;
    return result;
}

/* That a budget or nobody's luck ended it is for replay_decisions.c. */
static int run_state(struct proving *proving, const json_t *detail)
{
    const char *state = detail_string(detail, "state");
    bool is_over = flow_next(proving->steps->flow).kind == FLOW_OVER;
    bool has_failed = flow_has_failed(proving->steps->flow);

    if (!is_same(state, run_state_names[RUN_SUCCEEDED]))
        return 0;
    proving->proof->proved++;
    return is_over && !has_failed
               ? 0
               : differ(proving, NULL, "the run has succeeded, but %s",
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
        result = on_job_event(proving, detail);
    else if (proving->replay->was_edited &&
             (strcmp(event->event, "run_created") == 0 ||
              strcmp(event->event, "edited") == 0))
        result = on_file(proving, strcmp(event->event, "edited") != 0);
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
