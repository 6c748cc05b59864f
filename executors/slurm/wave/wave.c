/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/wave/wave.h"

#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/attempt_file.h"
#include "executors/attempt/order_file.h"
#include "executors/attempt/pulse.h"
#include "executors/slurm/wave/reserve.h"

enum {
    GATHER_MS = 100 /* that an array waits for others to join it */
};

/* -- Waves and their tasks ------------------------------------------------*/

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct wave *)a)->name,
                  ((const struct wave *)b)->name);
}

struct wave *waves_find(const struct waves *waves, const char *name)
{
    struct wave key;
    void *found;

    snprintf(key.name, sizeof(key.name), "%s", name);
    found = tfind(&key, &waves->by_name, compare_names);
    return found != NULL ? *(struct wave **)found : NULL;
}

struct wave *wave_create(struct waves *waves, const char *name,
                         enum wave_stage stage)
{
    struct wave *wave = mem_zero(sizeof(*wave));

    wave->waves = waves;
    wave->since_ms = clock_monotonic_ms();
    wave->stage = stage;
    snprintf(wave->name, sizeof(wave->name), "%s", name);
    if (stage == WAVE_GATHERING)
        TAILQ_INSERT_TAIL(&waves->gathering, wave, queue);
    TAILQ_INSERT_TAIL(&waves->all, wave, link);
    if (tsearch(wave, &waves->by_name, compare_names) == NULL)
        abort();
    return wave;
}

char *wave_folder(const struct wave *wave)
{
    return fs_join(slurm_folder(wave->waves->slurm), wave->name);
}

static void destroy_wave(struct wave *wave)
{
    struct waves *waves = wave->waves;

    for (size_t i = 0; i < wave->count; i++)
        free(wave->tasks[i]);
    TAILQ_REMOVE(&waves->all, wave, link);
    if (wave->stage == WAVE_GATHERING)
        TAILQ_REMOVE(&waves->gathering, wave, queue);
    if (wave->stage == WAVE_READY)
        TAILQ_REMOVE(&waves->ready, wave, queue);
    tdelete(wave, &waves->by_name, compare_names);
    free(wave->tasks);
    free(wave);
}

void wave_release_if_done(struct wave *wave)
{
    char *folder;

    if (wave->left > 0 || wave->asked > 0 || wave->stage == WAVE_SENT)
        return;
    folder = wave_folder(wave);
    fs_remove_tree(folder, NULL);
    free(folder);
    destroy_wave(wave);
}

/* At that index, which is free. */
static struct wave_task *add_task(struct wave *wave, size_t index,
                                  struct slurm_flight *flight)
{
    struct wave_task *task = mem_zero(sizeof(*task));

    while (wave->count <= index) {
        wave->tasks = mem_grow(wave->tasks, wave->count, &wave->capacity,
                               sizeof(struct wave_task *));
        wave->tasks[wave->count++] = NULL;
    }
    wave->tasks[index] = task;
    wave->left++;
    task->wave = wave;
    task->flight = flight;
    flight->carrier = task;
    flight->task = (int)index;
    TAILQ_INSERT_TAIL(&wave->waves->waiting, task, link);
    return task;
}

void wave_task_runs(struct wave_task *task)
{
    struct waves *waves = task->wave->waves;

    if (task->is_running)
        return;
    task->is_running = true;
    TAILQ_REMOVE(&waves->waiting, task, link);
    TAILQ_INSERT_HEAD(&waves->running, task, link);
}

void wave_task_queued(struct wave_task *task)
{
    if (!task->was_told && !task->is_claimed)
        slurm_flight_queued(task->wave->waves->slurm, task->flight);
    task->was_told = true;
}

int wave_task_target(const struct wave_task *task, struct slurm_target *target)
{
    const struct wave *wave = task->wave;

    if (wave->job == 0)
        return -1;
    target->id = wave->job;
    target->task = wave->is_array ? task->flight->task : -1;
    return 0;
}

/* -- The mode -------------------------------------------------------------*/

static void *create(struct slurm *slurm, struct err *err)
{
    struct waves *waves = mem_zero(sizeof(*waves));

    (void)err;
    waves->slurm = slurm;
    TAILQ_INIT(&waves->all);
    TAILQ_INIT(&waves->gathering);
    TAILQ_INIT(&waves->ready);
    TAILQ_INIT(&waves->waiting);
    TAILQ_INIT(&waves->running);
    reserves_open(waves);
    return waves;
}

static bool destroy(void *self)
{
    struct waves *waves = self;
    struct wave *wave, *next;

    for (wave = TAILQ_FIRST(&waves->all); wave != NULL; wave = next) {
        next = TAILQ_NEXT(wave, link);
        destroy_wave(wave);
    }
    reserves_close(waves);
    free(waves);
    return false;
}

/* An array that is being gathered and takes it; NULL. */
static struct wave *find_gathering(const struct waves *waves,
                                   const struct slurm_flight *flight)
{
    struct wave *wave;

    TAILQ_FOREACH(wave, &waves->gathering, queue)
    {
        size_t i = 0;

        while (i < wave->count && wave->tasks[i]->flight == NULL)
            i++;
        if (i < wave->count && wave_may_join(wave->tasks[i]->flight, flight))
            return wave;
    }
    return NULL;
}

/* A reserve that is queued already is told to begin. */
static bool start_reserve(struct waves *waves, struct slurm_flight *flight)
{
    const char *directory = flight->request->spec.directory;
    char name[SLURM_NAME_SIZE];
    struct wave_task *task;
    struct wave *wave;
    int64_t job;

    if (!reserves_adopt(waves, directory, name, &job))
        return false;
    wave = wave_create(waves, name, WAVE_QUEUED);
    wave->job = flight->job = job;
    wave->is_taken_up = wave->is_reserve = true;
    task = add_task(wave, 0, flight);
    reserves_take(task);
    pulse_mark(directory, PULSE_GO, NULL);
    reserves_queue(waves, directory, job);
    wave_task_queued(task);
    slurm_look_soon(waves->slurm);
    return true;
}

/* A reserve that was not wanted may have had the directory: its claim was made
 * void for that one, not for the attempt that follows in fact. */
static void clear_directory(const struct attempt_spec *spec)
{
    struct claim claim;
    char *path;

    if (claim_read(spec->directory, &claim) != 1 || claim.pid != 0)
        return;
    path = fs_join(spec->directory, "claim");
    unlink(path);
    free(path);
}

static enum start_result start(void *self, struct slurm_flight *flight,
                               struct err *err)
{
    struct waves *waves = self;
    bool is_array =
        flight->choice == SLURM_BY_ARRAY && flight->request->next == NULL;
    char name[SLURM_NAME_SIZE];
    struct wave *wave;

    if (waves->hold_ms != 0)
        return START_FULL;
    if (order_write(&flight->request->spec, err) != 0)
        return START_ERROR;
    if (flight->request->spec.reserve != 0 && start_reserve(waves, flight))
        return START_OK;
    clear_directory(&flight->request->spec);
    wave = is_array ? find_gathering(waves, flight) : NULL;
    if (wave == NULL) {
        slurm_new_name(waves->slurm, is_array ? 'a' : 'j', name);
        wave = wave_create(waves, name, WAVE_GATHERING);
        wave->is_array = is_array;
    }
    reserves_take(add_task(wave, wave->count, flight));
    if (!is_array || wave->count >= waves_array_max(waves))
        wave_make_ready(wave);
    return START_OK;
}

void wave_task_cancel(struct wave_task *task)
{
    const struct slurm_flight *flight = task->flight;
    bool gently = task->is_claimed && flight->cancel_mode == CANCEL_TERM &&
                  task->cancelled_ms == 0;
    struct slurm_target target;

    if (wave_task_target(task, &target) != 0)
        return;
    task->cancelled_ms = clock_monotonic_ms();
    slurm_cancel_job(task->wave->waves->slurm, &target, gently ? SIGTERM : 0);
}

static void cancel(void *self, struct slurm_flight *flight)
{
    struct wave_task *task = flight->carrier;

    (void)self;
    task->told_ms = clock_monotonic_ms();
    if (task->wave->stage == WAVE_GATHERING || task->wave->stage == WAVE_READY)
        wave_task_end_as(task, CAUSE_CANCELLED, "it had not been submitted");
    else
        wave_task_cancel(task);
}

static int reattach(void *self, struct slurm_flight *flight,
                    const struct slurm_handle *handle, struct err *err)
{
    enum { INDEX_MAX = 1 << 24 };
    struct waves *waves = self;
    struct wave *wave = waves_find(waves, handle->name);
    size_t index = handle->task < 0 ? 0 : (size_t)handle->task;
    const char *directory = flight->request->spec.directory;
    char name[SLURM_NAME_SIZE];
    struct wave_task *task;
    char *folder;
    int64_t job;

    if (handle->task > INDEX_MAX ||
        (wave != NULL && index < wave->count && wave->tasks[index] != NULL))
        return err_set(
            err, ERR_FAILED,
            "'%s' names '%s %d', which is the task of another attempt",
            flight->request->spec.directory, handle->name, handle->task);
    if (wave == NULL) {
        wave = wave_create(waves, handle->name, WAVE_UNSURE);
        folder = wave_folder(wave);
        wave->job = slurm_job_read(folder);
        free(folder);
        wave->stage = wave->job != 0 ? WAVE_QUEUED : WAVE_UNSURE;
        wave->is_doubtful = wave->job == 0;
        wave->is_array = handle->task >= 0;
        wave->is_taken_up = true;
        wave->is_reserve = strstr(handle->name, "-r") != NULL;
    }
    if (reserves_adopt(waves, directory, name, &job))
        pulse_mark(directory, PULSE_GO, NULL);
    task = add_task(wave, index, flight);
    task->has_reserves = reserves_follow(waves, directory);
    flight->job = wave->is_array ? 0 : wave->job;
    flight->array = wave->is_array ? wave->job : 0;
    slurm_look_now(waves->slurm);
    return 0;
}

/* -- The mode, as a whole -------------------------------------------------*/

static void tick(void *self, int64_t now_ms)
{
    struct waves *waves = self;
    int64_t gather_ms =
        slurm_site(waves->slurm) != NULL ? GATHER_MS : WAVE_DESCRIBE_MS;
    struct wave *wave, *next;

    for (wave = TAILQ_FIRST(&waves->gathering); wave != NULL; wave = next) {
        next = TAILQ_NEXT(wave, queue);
        if (now_ms - wave->since_ms >= gather_ms)
            wave_make_ready(wave);
    }
    waves_pump(waves, now_ms);
    reserves_tick(waves, now_ms);
    waves_look(waves, now_ms);
}

const struct slurm_mode slurm_wave = {
    .name = "job",
    .letters = "jar",
    .create = create,
    .destroy = destroy,
    .start = start,
    .cancel = cancel,
    .reattach = reattach,
    .listed = waves_listed,
    .swept = waves_swept,
    .tick = tick,
};
