/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "dashboard/archive/archive_impl.h"
#include "store/store.h"

/* The jobs of a run that are in the file with all there is to say of them. */

struct choice {
    bool *is_chosen; /* [jobs + 1], by number */
    int64_t jobs;
};

static int choose(void *user, const struct trial_row *row)
{
    struct choice *choice = user;

    if (row->number <= choice->jobs)
        choice->is_chosen[row->number] = true;
    return 0;
}

static int choose_jobs(struct archive *archive, const struct archive_run *run,
                       struct choice *choice, struct err *err)
{
    const struct trial_query queries[] = {
        {.run = run->id,
         .order = ORDER_BEST,
         .limit = (int64_t)archive_share(archive, ARCHIVE_BEST_MAX),
         .results_only = true},
        {.run = run->id,
         .state = "failed",
         .limit = (int64_t)archive_share(archive, ARCHIVE_FAILED_MAX),
         .results_only = true},
    };
    int64_t last =
        run->jobs - (int64_t)archive_share(archive, ARCHIVE_LAST_MAX);

    for (size_t i = 0; i < ARRAY_LEN(queries); i++)
        if (store_each_trial(archive->store, &queries[i], choose, choice, err) <
            0)
            return -1;
    for (int64_t i = last > 0 ? last + 1 : 1; i <= run->jobs; i++)
        choice->is_chosen[i] = true;
    return 0;
}

/* ---- one ---- */

static int add_logs(struct archive *archive, const char *job,
                    const json_t *attempts, struct err *err)
{
    int status = 0;

    for (size_t i = 0; i < json_array_size(attempts) && status == 0; i++) {
        json_t *number = json_object_get(json_array_get(attempts, i), "number");
        char *path = mem_printf("%s/attempts/%" PRId64 "/log", job,
                                (int64_t)json_integer_value(number));
        char *target = mem_printf("%s?from=-%d", path, ARCHIVE_LOG_BYTES);

        status = archive_add(archive, path, target, err);
        if (status != 0 && err->kind == ERR_NOT_FOUND)
            status = 0;
        free(target);
        free(path);
    }
    return status;
}

static int add_job(struct archive *archive, const struct archive_run *run,
                   int64_t number, struct err *err)
{
    char *path =
        mem_printf("/api/v1/runs/%" PRId64 "/jobs/%" PRId64, run->id, number);
    char *why = mem_printf("%s/why", path);
    json_t *job = archive_ask_json(archive, path, err);
    struct err unknown;
    int status = -1;

    if (job != NULL) {
        archive_put_json(archive, path, job);
        /* Nobody knows why where the file no longer passes. */
        archive_add(archive, why, why, &unknown);
        status = add_logs(archive, path, json_object_get(job, "attempts"), err);
    }
    json_decref(job);
    free(why);
    free(path);
    return status;
}

int archive_add_jobs(struct archive *archive, const struct archive_run *run,
                     struct err *err)
{
    struct choice choice = {
        .is_chosen = mem_array((size_t)run->jobs + 1, sizeof(bool)),
        .jobs = run->jobs,
    };
    int status = choose_jobs(archive, run, &choice, err);
    int64_t chosen = 0;

    for (int64_t i = 1; i <= run->jobs && status == 0; i++) {
        if (!choice.is_chosen[i])
            continue;
        status = add_job(archive, run, i, err);
        chosen++;
    }
    free(choice.is_chosen);
    if (status == 0 && chosen < run->jobs)
        archive_leave_out(archive, run->id, "jobs",
                          "attempts, reasons and ends of logs: only of %" PRId64
                          " of %" PRId64
                          " trials or jobs, the best, the failed and the last",
                          chosen, run->jobs);
    return status;
}
