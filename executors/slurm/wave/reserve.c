/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/wave/reserve.h"
#include "executors/slurm/preview.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/attempt_file.h"
#include "executors/attempt/order_file.h"

enum {
    WANTED_MS = 60000, /* that one waits for its attempt to be started */
    PATH_MAX_BYTES = 8192
};

enum reserve_stage {
    RESERVE_WAITING, /* for the job before it, or its turn */
    RESERVE_SENT,
    RESERVE_UNSURE, /* looked for by its name */
    RESERVE_QUEUED
};

struct reserve {
    TAILQ_ENTRY(reserve) link;
    struct waves *waves;
    char name[SLURM_NAME_SIZE];
    char *directory, *before;
    struct attempt_request *request; /* NULL once it was submitted */
    enum reserve_stage stage;
    int64_t after;     /* the job before it, 0: not known */
    int64_t job;       /* its own, 0: not known */
    bool is_awaited;   /* what is before it has not ended */
    bool is_dropped;   /* its answer is awaited alone */
    bool is_replaced;  /* another job runs what is in its directory */
    int64_t orphan_ms; /* since when nothing is before it */
};

static struct reserve *find(const struct waves *waves, const char *directory)
{
    struct reserve *reserve;

    TAILQ_FOREACH(reserve, &waves->reserves, link)
    {
        if (!reserve->is_dropped && strcmp(reserve->directory, directory) == 0)
            return reserve;
    }
    return NULL;
}

static char *folder_of(const struct reserve *reserve)
{
    return fs_join(slurm_folder(reserve->waves->slurm), reserve->name);
}

static struct reserve *add(struct waves *waves, const char *name,
                           const char *directory, const char *before)
{
    struct reserve *reserve = mem_zero(sizeof(*reserve));

    reserve->waves = waves;
    reserve->orphan_ms = clock_monotonic_ms();
    reserve->directory = mem_copy_string(directory);
    reserve->before = mem_copy_string(before);
    snprintf(reserve->name, sizeof(reserve->name), "%s", name);
    TAILQ_INSERT_TAIL(&waves->reserves, reserve, link);
    return reserve;
}

static void destroy(struct reserve *reserve)
{
    TAILQ_REMOVE(&reserve->waves->reserves, reserve, link);
    attempt_request_destroy(reserve->request);
    free(reserve->directory);
    free(reserve->before);
    free(reserve);
}

/* It starts nothing any more, and its job goes. */
static void drop(struct reserve *reserve)
{
    const struct slurm_target target = {reserve->job, -1};
    struct waves *waves = reserve->waves;
    struct claim claim;
    char *folder;

    reserve->is_dropped = true;
    if (!reserve->is_replaced && fs_exists(reserve->directory))
        claim_judge(reserve->directory, 0, &claim, NULL);
    if (reserve->stage == RESERVE_SENT)
        return; /* its answer follows */
    if (reserve->job != 0)
        slurm_cancel_job(waves->slurm, &target, 0);
    folder = folder_of(reserve);
    fs_remove_tree(folder, NULL);
    free(folder);
    destroy(reserve);
}

/* -- Those that are there -------------------------------------------------*/

/* The first line of a file in the folder; NULL. The caller's to free. */
static char *read_path(const char *folder, const char *name)
{
    char *path = fs_join(folder, name);
    struct buf text = BUF_INIT;
    int result = fs_read_regular(path, PATH_MAX_BYTES, &text, NULL);

    free(path);
    if (result != 0 || text.length < 2) {
        buf_clear(&text);
        return NULL;
    }
    buf_truncate(&text, strcspn(text.data, "\n"));
    return buf_take(&text);
}

static void take_up(struct waves *waves, const char *name)
{
    char *folder = fs_join(slurm_folder(waves->slurm), name);
    char *before = read_path(folder, "before");
    char *directory = read_path(folder, "tasks");
    struct reserve *reserve;

    if (before != NULL && directory != NULL) {
        reserve = add(waves, name, directory, before);
        reserve->job = slurm_job_read(folder);
        reserve->stage = reserve->job != 0 ? RESERVE_QUEUED : RESERVE_UNSURE;
    }
    free(directory);
    free(before);
    free(folder);
}

/* Of a job's name, smt-TOKEN-KNUMBER. */
static char letter_of(const char *name)
{
    const char *dash = strrchr(name, '-');

    return dash != NULL ? dash[1] : '\0';
}

void reserves_open(struct waves *waves)
{
    DIR *stream = opendir(slurm_folder(waves->slurm));
    const struct dirent *entry;

    TAILQ_INIT(&waves->reserves);
    if (stream == NULL)
        return;
    while ((entry = readdir(stream)) != NULL) {
        if (strncmp(entry->d_name, "smt-", 4) == 0 &&
            letter_of(entry->d_name) == 'r' &&
            strlen(entry->d_name) < SLURM_NAME_SIZE)
            take_up(waves, entry->d_name);
    }
    closedir(stream);
}

/* Its job ends by itself, where that begins. */
static void give_up(const struct reserve *reserve)
{
    const struct slurm_target target = {reserve->job, -1};
    char *folder = folder_of(reserve);
    struct claim claim;

    if (reserve->job != 0)
        slurm_cancel_job(reserve->waves->slurm, &target, 0);
    if (fs_exists(reserve->directory))
        claim_judge(reserve->directory, 0, &claim, NULL);
    fs_remove_tree(folder, NULL);
    free(folder);
}

/* Where the link before has ended and the owner goes without a word of the
 * next, nobody wants that one. */
void reserves_close(struct waves *waves)
{
    struct reserve *reserve, *next;

    for (reserve = TAILQ_FIRST(&waves->reserves); reserve != NULL;
         reserve = next) {
        next = TAILQ_NEXT(reserve, link);
        if (!reserve->is_awaited && !reserve->is_dropped)
            give_up(reserve);
        destroy(reserve);
    }
}

bool reserves_adopt(struct waves *waves, const char *directory,
                    char name[SLURM_NAME_SIZE], int64_t *job)
{
    struct reserve *reserve = find(waves, directory);

    if (reserve == NULL)
        return false;
    if (reserve->stage != RESERVE_QUEUED) {
        reserve->is_replaced = true;
        drop(reserve);
        return false;
    }
    snprintf(name, SLURM_NAME_SIZE, "%s", reserve->name);
    *job = reserve->job;
    destroy(reserve);
    return true;
}

/* -- Queueing -------------------------------------------------------------*/

void reserves_take(struct wave_task *task)
{
    struct waves *waves = task->wave->waves;
    struct attempt_request *request = task->flight->request;
    const char *before = request->spec.directory;
    struct attempt_request *next = request->next;
    char name[SLURM_NAME_SIZE];

    request->next = NULL;
    task->has_reserves = next != NULL;
    while ((request = next) != NULL) {
        struct reserve *reserve = find(waves, request->spec.directory);

        next = request->next;
        request->next = NULL;
        if (reserve == NULL) {
            slurm_new_name(waves->slurm, 'r', name);
            reserve = add(waves, name, request->spec.directory, before);
            reserve->request = request;
        } else {
            attempt_request_destroy(request);
        }
        reserve->is_awaited = true;
        before = reserve->directory;
    }
}

static int write_files(const struct reserve *reserve, const char *folder,
                       struct err *err)
{
    struct slurm_handle handle = {.task = -1};
    char *tasks = mem_printf("%s\n", reserve->directory);
    char *before = mem_printf("%s\n", reserve->before);
    int result = -1;

    snprintf(handle.name, sizeof(handle.name), "%s", reserve->name);
    if (fs_make_shared_directories(reserve->directory, err) == 0 &&
        order_write(&reserve->request->spec, err) == 0 &&
        slurm_handle_write(reserve->directory, &handle, err) == 0 &&
        fs_make_shared_directories(folder, err) == 0 &&
        slurm_file_write(folder, "before", before, err) == 0)
        result = slurm_file_write(folder, "tasks", tasks, err);
    free(before);
    free(tasks);
    return result;
}

static void on_submitted(void *user, const struct slurm_reply *reply,
                         int64_t id)
{
    struct reserve *reserve = user;
    struct waves *waves = reserve->waves;
    char *folder;

    waves->on_way--;
    if (reply->answer == SLURM_DONE) {
        folder = folder_of(reserve);
        slurm_job_write(folder, id, NULL);
        free(folder);
        reserve->job = id;
    }
    reserve->stage =
        reply->answer == SLURM_DONE ? RESERVE_QUEUED : RESERVE_UNSURE;
    if (reserve->is_dropped || reply->answer == SLURM_REFUSED ||
        reply->answer == SLURM_LATER)
        drop(reserve); /* a chain goes on without, while an engine is there */
    else if (reserve->job != 0)
        reserves_queue(waves, reserve->directory, reserve->job);
    waves_pump(waves, clock_monotonic_ms());
}

static void submit(struct reserve *reserve)
{
    struct waves *waves = reserve->waves;
    const char *engine = slurm_folder(waves->slurm);
    const char *const arguments[] = {"--order",
                                     reserve->directory,
                                     "--reserve-of",
                                     reserve->before,
                                     "--engine",
                                     engine,
                                     NULL};
    char *folder = folder_of(reserve);
    const struct wave_job job = {.name = reserve->name,
                                 .folder = folder,
                                 .spec = &reserve->request->spec,
                                 .arguments = arguments,
                                 .after = reserve->after};
    struct err err;

    reserve->stage = RESERVE_SENT;
    if (write_files(reserve, folder, &err) != 0 ||
        wave_submit_job(waves, &job, on_submitted, reserve, &err) != 0) {
        slurm_note(waves->slurm, "no reserve for an attempt: %s", err.text);
        reserve->stage = RESERVE_UNSURE;
        drop(reserve);
    } else {
        slurm_link_submission(folder, reserve->directory);
    }
    free(folder);
}

/* Submits what can be. */
static void pump(struct waves *waves)
{
    struct reserve *reserve, *next;

    for (reserve = TAILQ_FIRST(&waves->reserves);
         reserve != NULL && waves->on_way < SLURM_SUBMITS_MAX; reserve = next) {
        next = TAILQ_NEXT(reserve, link);
        if (reserve->stage == RESERVE_WAITING && reserve->after != 0)
            submit(reserve);
    }
}

void reserves_queue(struct waves *waves, const char *directory, int64_t job)
{
    struct reserve *reserve;

    TAILQ_FOREACH(reserve, &waves->reserves, link)
    {
        if (strcmp(reserve->before, directory) == 0)
            reserve->after = job;
    }
    pump(waves);
}

/* -- Those that are not wanted any more -----------------------------------*/

bool reserves_follow(struct waves *waves, const char *directory)
{
    struct reserve *reserve;
    bool any = false;

    TAILQ_FOREACH(reserve, &waves->reserves, link)
    {
        if (strcmp(reserve->before, directory) != 0)
            continue;
        reserve->is_awaited = any = true;
        reserves_follow(waves, reserve->directory);
    }
    return any;
}

/* The one behind the directory; NULL. */
static struct reserve *find_behind(const struct waves *waves,
                                   const char *directory)
{
    struct reserve *reserve;

    TAILQ_FOREACH(reserve, &waves->reserves, link)
    {
        if (!reserve->is_dropped && strcmp(reserve->before, directory) == 0)
            return reserve;
    }
    return NULL;
}

/* With all behind it, the last first; there are as many as a chain has ahead.
 */
static void drop_chain(struct reserve *reserve)
{
    struct reserve *behind = find_behind(reserve->waves, reserve->directory);

    if (behind != NULL)
        drop_chain(behind);
    drop(reserve);
}

void reserves_release(struct waves *waves, const char *directory, bool at_limit)
{
    struct reserve *reserve = find_behind(waves, directory);

    if (reserve == NULL)
        return;
    reserve->is_awaited = false;
    reserve->orphan_ms = clock_monotonic_ms();
    if (!at_limit || reserve->stage == RESERVE_WAITING)
        drop_chain(reserve);
}

bool reserves_listed(struct waves *waves, const struct slurm_job *job)
{
    const struct slurm_target target = {job->id, -1};
    struct reserve *reserve;

    if (letter_of(job->name) != 'r')
        return false;
    TAILQ_FOREACH(reserve, &waves->reserves, link)
    {
        if (strcmp(reserve->name, job->name) != 0)
            continue;
        if (reserve->stage == RESERVE_UNSURE) {
            reserve->job = job->id;
            reserve->stage = RESERVE_QUEUED;
            reserves_queue(waves, reserve->directory, job->id);
        }
        return true;
    }
    if (job->state->phase != SLURM_ENDED)
        slurm_cancel_job(waves->slurm, &target, 0);
    return true;
}

/* One that nobody has wanted for a while; NULL. */
static struct reserve *find_orphan(const struct waves *waves, int64_t now_ms)
{
    struct reserve *reserve;

    TAILQ_FOREACH(reserve, &waves->reserves, link)
    {
        if (!reserve->is_awaited && !reserve->is_dropped &&
            now_ms - reserve->orphan_ms >= WANTED_MS)
            return reserve;
    }
    return NULL;
}

void reserves_tick(struct waves *waves, int64_t now_ms)
{
    struct reserve *orphan = find_orphan(waves, now_ms);

    if (orphan != NULL)
        drop_chain(orphan);
    else
        pump(waves);
}
