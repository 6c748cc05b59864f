/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/reopen_temps.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/job/states.h"

/* runs[step_count]: the steps that run again, all or some of their jobs;
 * waits[step_count]: those that begin anew. */
struct reopen_temps {
    const struct workflow *workflow;
    const bool *runs, *waits;
    const struct reopen_steps *jobs;
};

struct checking {
    const struct reopen_temps *temps;
    int64_t *first_jobs; /* [step_count] */
    size_t *user_of;     /* [step_count] a step that runs again and may use what
                            it made; SIZE_MAX: none does */
    struct err *err;
};

static int on_step(void *user, const struct step_row *row)
{
    struct checking *checking = user;

    if ((size_t)row->step < checking->temps->workflow->step_count)
        checking->first_jobs[row->step] = row->first_job;
    return 0;
}

static int compare(const void *number, const void *reopening)
{
    int64_t wanted = *(const int64_t *)number;
    int64_t its = ((const struct reopening *)reopening)->number;

    return (wanted > its) - (wanted < its);
}

static bool runs_again(const struct checking *checking, int64_t number)
{
    const struct reopen_steps *jobs = checking->temps->jobs;

    return jobs->found_count > 0 &&
           bsearch(&number, jobs->found, jobs->found_count,
                   sizeof(*jobs->found), compare) != NULL;
}

static int refuse(const struct checking *checking, size_t step,
                  const char *path)
{
    const struct workflow *workflow = checking->temps->workflow;
    const char *name = workflow->steps[step].name;

    return err_set(checking->err, ERR_USAGE,
                   "step '%s' would run again without '%s', a temporary "
                   "output of step '%s' that was removed (smtune retry RUN "
                   "--force %s runs both again)",
                   workflow->steps[checking->user_of[step]].name, path, name,
                   name);
}

static int on_job(void *user, const struct trial_row *row)
{
    const struct checking *checking = user;
    const struct workflow *workflow = checking->temps->workflow;
    const struct step *step;
    json_t *outputs;
    int result = 0;

    if (row->step < 0 || (size_t)row->step >= workflow->step_count ||
        checking->user_of[row->step] == SIZE_MAX || row->outputs == NULL ||
        row->number < checking->first_jobs[row->step] ||
        runs_again(checking, row->number))
        return 0;
    step = &workflow->steps[row->step];
    outputs = json_parse(row->outputs, strlen(row->outputs), NULL);
    for (size_t i = 0; i < step->output_count && result == 0; i++) {
        const char *path =
            json_string_value(json_object_get(outputs, step->outputs[i].name));

        if (step->outputs[i].is_temp && path != NULL && !fs_exists(path))
            result = refuse(checking, (size_t)row->step, path);
    }
    json_decref(outputs);
    return result;
}

/* Whether any step that keeps its results has temporary ones that are used. */
static bool find_users(struct checking *checking)
{
    const struct reopen_temps *temps = checking->temps;
    size_t count = temps->workflow->step_count;
    bool *users = mem_array(count, sizeof(*users)), has_any = false;

    for (size_t i = 0; i < count; i++) {
        checking->user_of[i] = SIZE_MAX;
        if (!temps->workflow->steps[i].has_temps || temps->waits[i])
            continue;
        memset(users, 0, count * sizeof(*users));
        workflow_mark_users(temps->workflow, i, users);
        for (size_t k = 0; k < count && checking->user_of[i] == SIZE_MAX; k++)
            if (users[k] && temps->runs[k] &&
                temps->workflow->steps[k].kind != STEP_JOIN)
                checking->user_of[i] = k;
        has_any |= checking->user_of[i] != SIZE_MAX;
    }
    free(users);
    return has_any;
}

static int check(struct store *store, int64_t run,
                 const struct reopen_temps *temps, struct err *err)
{
    const struct trial_query query = {
        .run = run,
        .order = ORDER_NUMBER,
        .state = job_state_names[JOB_SUCCEEDED],
        .results_only = true,
    };
    size_t count = temps->workflow->step_count;
    struct checking checking = {
        .temps = temps,
        .first_jobs = mem_array(count, sizeof(*checking.first_jobs)),
        .user_of = mem_array(count, sizeof(*checking.user_of)),
        .err = err,
    };
    int result = 0;

    if (find_users(&checking)) {
        result = store_each_step(store, run, on_step, &checking, err);
        if (result == 0)
            result = store_each_trial(store, &query, on_job, &checking, err);
    }
    free(checking.first_jobs);
    free(checking.user_of);
    return result;
}

int reopen_temps_check(struct store *store, int64_t run,
                       const struct workflow *workflow,
                       const struct reopen_steps *steps, const bool *waits_too,
                       struct err *err)
{
    size_t count = workflow->step_count;
    bool *runs = mem_array(count, sizeof(*runs));
    bool *waits = mem_array(count, sizeof(*waits));
    const struct reopen_temps temps = {workflow, runs, waits, steps};
    int result;

    for (size_t i = 0; i < count; i++) {
        enum step_fate fate =
            steps->fates != NULL ? steps->fates[i] : STEP_STAYS;

        waits[i] = fate == STEP_WAITS || (waits_too != NULL && waits_too[i]);
        runs[i] = fate != STEP_STAYS || waits[i];
    }
    for (size_t i = 0; i < steps->found_count; i++)
        runs[steps->found[i].step] = true;
    result = check(store, run, &temps, err);
    free(runs);
    free(waits);
    return result;
}
