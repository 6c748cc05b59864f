/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each change of a step has an effect, see spec_change.h. The largest one
 * counts. A step that begins again waits, and so do all steps that need it, in
 * the file so far or in the edited one. A step whose results do not hold runs
 * its succeeded copies again, as by `smtune retry --force`; its failed copies
 * wait for a retry of their own.
 *
 * Steps wait again before the event of the edit, and jobs run again behind it.
 * At the event itself, all that a step has done fits both files: a replay
 * exchanges one for the other there.
 */
#include "orchestrator/run/edit_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/reopen.h"
#include "orchestrator/run/reopen_temps.h"
#include "store/store.h"

struct changed_step {
    enum flow_state state;
    int64_t first_job; /* 0: it has not begun */
    int64_t jobs, open_jobs;
    enum spec_effect effect;
    const char *idle_key; /* that changes only without open jobs; or NULL */
    bool begins;
};

struct finding {
    const struct edit_files *files;
    struct changed_step *steps; /* [count] */
    size_t count;
    struct job_place {
        int64_t number, step, copy;
        bool has_succeeded;
    } * jobs; /* [job_count] of changed steps; then the last of each copy */
    size_t job_count, job_capacity;
    struct err *err;
};

/* ---- the record so far ---- */

static int on_step(void *user, const struct step_row *row)
{
    struct finding *finding = user;
    struct changed_step *step;

    if ((size_t)row->step >= finding->count)
        return 0;
    step = &finding->steps[row->step];
    step->first_job = row->first_job;
    step->jobs = row->jobs;
    step->open_jobs = row->pending + row->running;
    return step_state_read(row->name, row->state, &step->state, finding->err);
}

static void note_effects(struct finding *finding)
{
    const struct spec_changes *changes = finding->files->changes;

    for (size_t i = 0; i < changes->count; i++) {
        const struct spec_change *change = &changes->items[i];

        for (size_t j = 0; j < finding->count; j++) {
            struct changed_step *step = &finding->steps[j];

            if (change->step >= 0 && change->step != (int64_t)j)
                continue;
            if (change->effect > step->effect)
                step->effect = change->effect;
            if (change->effect == EFFECT_IDLE)
                step->idle_key = change->key;
        }
    }
}

/* ---- steps that wait again ---- */

/* It ended without a copy of its own: only its beginning can be asked. */
static bool has_no_outcome(const struct changed_step *step)
{
    return step->state == FLOW_SKIPPED ||
           (step->state == FLOW_FAILED && step->jobs == 0);
}

static void find_waits(struct finding *finding, struct edit_steps *found)
{
    for (size_t i = 0; i < finding->count; i++) {
        struct changed_step *step = &finding->steps[i];
        bool is_over =
            step->state != FLOW_WAITING && step->state != FLOW_ACTIVE;
        bool is_asked = step->effect == EFFECT_OUTCOME && is_over;

        step->begins =
            step->state != FLOW_WAITING && (step->effect == EFFECT_BEGIN ||
                                            (is_asked && has_no_outcome(step)));
        found->waits[i] |= step->begins;
        found->asked[i] = is_asked && !step->begins;
        found->begun += step->begins;
        if (!step->begins && !found->asked[i])
            continue;
        reopen_steps_mark(finding->files->before, i, found->waits);
        reopen_steps_mark(finding->files->after, i, found->waits);
    }
    for (size_t i = 0; i < finding->count; i++) {
        found->waits[i] &= finding->steps[i].state != FLOW_WAITING;
        found->asked[i] &= !found->waits[i];
        found->has_any |= found->waits[i] || found->asked[i];
    }
}

static int check_open(const struct finding *finding,
                      const struct edit_steps *found)
{
    for (size_t i = 0; i < finding->count; i++) {
        const struct changed_step *step = &finding->steps[i];
        const char *name = finding->files->after->steps[i].name;

        if (step->open_jobs == 0)
            continue;
        if (found->waits[i])
            return err_set(
                finding->err, ERR_USAGE,
                "step '%s' is running, and the edit would make it "
                "wait again (stop its jobs first: smtune stop RUN --job JOB)",
                name);
        if (step->idle_key != NULL)
            return err_set(finding->err, ERR_USAGE,
                           "'%s' cannot change: step '%s' is running, and its "
                           "links were counted with it (stop its jobs first: "
                           "smtune stop RUN --job JOB)",
                           step->idle_key, name);
    }
    return 0;
}

/* ---- jobs that run again ---- */

static int on_job(void *user, const struct trial_row *row)
{
    struct finding *finding = user;
    const struct changed_step *step;

    if (row->step < 0 || (size_t)row->step >= finding->count)
        return 0;
    step = &finding->steps[row->step];
    if (step->first_job == 0 || row->number < step->first_job ||
        step->effect != EFFECT_RESULT)
        return 0;
    finding->jobs = mem_grow(finding->jobs, finding->job_count,
                             &finding->job_capacity, sizeof(*finding->jobs));
    finding->jobs[finding->job_count++] = (struct job_place){
        row->number, row->step, row->copy,
        strcmp(row->state, job_state_names[JOB_SUCCEEDED]) == 0};
    return 0;
}

static int order_integers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int order_jobs(const void *left, const void *right)
{
    const struct job_place *a = left, *b = right;
    int order = order_integers(a->step, b->step);

    if (order == 0)
        order = order_integers(a->copy, b->copy);
    return order != 0 ? order : order_integers(a->number, b->number);
}

static void keep_last_of_copies(struct finding *finding)
{
    struct job_place *jobs = finding->jobs;
    size_t count = finding->job_count, kept = 0;

    if (count > 0)
        qsort(jobs, count, sizeof(*jobs), order_jobs);
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || jobs[i].step != jobs[i + 1].step ||
            jobs[i].copy != jobs[i + 1].copy)
            jobs[kept++] = jobs[i];
    finding->job_count = kept;
}

static int find_reopened(struct store *store, int64_t run,
                         const struct reopen_request *request,
                         struct edit_steps *found, struct err *err)
{
    struct reopen_steps *jobs = &found->jobs;

    if (reopen_find(store, run, request, &jobs->found, &jobs->found_count,
                    err) != 0 ||
        reopen_steps_find(store, run, found->workflow, false, jobs, err) != 0)
        return -1;
    found->has_any = true;
    for (size_t i = 0; i < found->workflow->step_count; i++) {
        if (!found->waits[i] || jobs->fates[i] != STEP_WAITS)
            continue;
        jobs->fates[i] = STEP_STAYS;
        jobs->count--;
    }
    return 0;
}

static int find_jobs(struct finding *finding, struct store *store, int64_t run,
                     struct edit_steps *found)
{
    const struct trial_query query = {.run = run, .order = ORDER_NUMBER};
    bool has_any = false;
    struct reopen_request request = {.even_succeeded = true};
    int64_t *numbers;
    int result = 0;

    for (size_t i = 0; i < finding->count; i++)
        has_any |= finding->steps[i].effect == EFFECT_RESULT;
    if (has_any)
        result = store_each_trial(store, &query, on_job, finding, finding->err);
    keep_last_of_copies(finding);
    numbers = mem_array(finding->job_count, sizeof(*numbers));
    for (size_t i = 0; i < finding->job_count; i++)
        if (finding->jobs[i].has_succeeded &&
            !found->waits[finding->jobs[i].step])
            numbers[request.count++] = finding->jobs[i].number;
    request.numbers = numbers;
    if (result == 0 && request.count > 0)
        result = find_reopened(store, run, &request, found, finding->err);
    free(numbers);
    return result;
}

/* ---- files that are gone ---- */

static int check_temps(const struct edit_steps *found, struct store *store,
                       int64_t run, struct err *err)
{
    return reopen_temps_check(store, run, found->workflow, &found->jobs,
                              found->waits, err);
}

/* ---- all ---- */

int edit_steps_find(const struct edit_files *files, struct store *store,
                    int64_t run, struct edit_steps *steps, struct err *err)
{
    size_t count = files->after->step_count;
    struct finding finding = {
        .files = files,
        .steps = mem_array(count, sizeof(*finding.steps)),
        .count = count,
        .err = err,
    };
    int result;

    *steps = (struct edit_steps){
        .workflow = files->after,
        .waits = mem_array(count, sizeof(bool)),
        .asked = mem_array(count, sizeof(bool)),
    };
    note_effects(&finding);
    result = store_each_step(store, run, on_step, &finding, err);
    if (result == 0) {
        find_waits(&finding, steps);
        result = check_open(&finding, steps);
    }
    if (result == 0)
        result = find_jobs(&finding, store, run, steps);
    if (result == 0)
        result = check_temps(steps, store, run, err);
    free(finding.jobs);
    free(finding.steps);
    return result;
}

void edit_steps_clear(struct edit_steps *steps)
{
    free(steps->waits);
    free(steps->asked);
    free(steps->jobs.found);
    reopen_steps_clear(&steps->jobs);
    *steps = (struct edit_steps){.workflow = NULL};
}

int edit_steps_record(const struct edit_steps *steps, struct store *store,
                      int64_t run, struct err *err)
{
    for (size_t i = 0; i < steps->workflow->step_count; i++) {
        enum flow_state state = steps->waits[i] ? FLOW_WAITING : FLOW_ACTIVE;
        const struct step_change change = {
            .run = run,
            .step = (int64_t)i,
            .state = step_state_names[state],
            .event = step_event_names[STEP_REOPENED],
            .time_ms = clock_wall_ms(),
        };

        if ((steps->waits[i] || steps->asked[i]) &&
            store_change_step(store, &change, err) != 0)
            return -1;
    }
    return 0;
}

int edit_steps_record_jobs(const struct edit_steps *steps, struct store *store,
                           int64_t run, struct err *err)
{
    return steps->jobs.fates == NULL
               ? 0
               : reopen_record(store, run, steps->workflow, &steps->jobs, err);
}
