/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events of jobs. A job is a copy of a step, or a round of one. It must be
 * the copy that starts next, or the round that the flow asked for when the one
 * before ended. Its end must agree with its condition; what follows from the
 * end of an attempt is for replay_decisions.c.
 */
#include "orchestrator/proof/replay_flow_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/steps/rounds.h"

static char *print(const json_t *json)
{
    struct buf text = BUF_INIT;

    json_print(json, &text);
    return buf_take(&text);
}

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
        return proving_next_differs(proving, job, "it started", &next);
    first = rule->max > 0 ? rounds_first(rule) : NULL;
    rounds = first != NULL ? print(first) : NULL;
    follows = job->round == (rule->max > 0) && text_same(rounds, job->rounds);
    json_decref(first);
    free(rounds);
    if (!follows)
        return proving_differ(proving, job,
                              "the values of its first round differ");
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
            next->round == job->round && text_same(next->rounds, job->rounds);
        free(next->rounds);
        *next = proving->rounds[--proving->round_count];
        return follows ? 0
                       : proving_differ(proving, job,
                                        "the values of this round differ");
    }
    return proving_differ(proving, job,
                          "round %" PRId64 " of a copy that has finished",
                          job->round);
}

static int job_created(struct proving *proving, const json_t *detail)
{
    const char *rounds = detail_string(detail, "rounds");
    struct flow_job *job;
    size_t step;

    if (!proving_find_step(proving, detail, &step))
        return proving_differ(proving, NULL, "the job belongs to no step");
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
    proving_note_job(proving, job, JOB_READY, NULL);
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
        result = proving_differ(
            proving, job_id, "it is %s, but its condition is %s",
            job_state_names[state], is_skipped ? "true" : "false");
    else if (job_id->is_to_fail && state != JOB_FAILED)
        result = proving_differ(proving, job_id,
                                "it is %s, but its condition has no value",
                                job_state_names[state]);
    if (result == 0) {
        rounds = steps_end_job(proving->steps, &job);
        if (rounds != NULL)
            expect_round(proving, job_id, rounds);
        json_decref(rounds);
    }
    proving_note_job(proving, job_id, state, detail_string(detail, "outputs"));
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
        return proving_differ(
            proving, job,
            "it was reopened, but a step that needs it is running");
    steps_reopen(proving->steps, job->step, job->copy);
    proving_note_state(proving, job->step, FLOW_ACTIVE);
    proving_note_job(proving, job, JOB_READY, NULL);
    job->is_over = job->is_refused = job->is_to_fail = false;
    return 0;
}

/* Nothing could need them any more. */
static int temps_removed(struct proving *proving, const struct flow_job *job)
{
    const char *name = proving_step_name(proving, job->step);
    size_t open;

    if (proving->workflow->is_touched)
        return proving_differ(proving, job, "--touch removes no file");
    if (!proving->workflow->steps[job->step].has_temps)
        return proving_differ(proving, job, "step '%s' has no temporary output",
                              name);
    open = temps_wait_for(proving->steps->temps, job->step);
    if (open != SIZE_MAX)
        return proving_differ(
            proving, job,
            "its temporary outputs were removed, but step '%s' may "
            "need them",
            proving_step_name(proving, open));
    proving->proof->proved++;
    return 0;
}

int proving_job_event(struct proving *proving, const json_t *detail)
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
