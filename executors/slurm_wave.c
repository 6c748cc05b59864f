/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm_wave.h"

#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/order_file.h"
#include "executors/pulse.h"

enum {
    GATHER_MS = 100,  /* that an array waits for others to join it */
    ARRAY_MAX = 1000, /* tasks, where the cluster has not said */
};

/* -- Waves and their tasks ------------------------------------------------*/

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct wave *)a)->name,
                  ((const struct wave *)b)->name);
}

static struct wave *find_wave(const struct waves *waves, const char *name)
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

struct wave_task *wave_add(struct wave *wave, size_t index,
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
    return waves;
}

static void destroy(void *self)
{
    struct waves *waves = self;

    while (!TAILQ_EMPTY(&waves->all))
        destroy_wave(TAILQ_FIRST(&waves->all));
    free(waves);
}

static size_t array_max(const struct waves *waves)
{
    const struct slurm_site *site = slurm_site(waves->slurm);

    return site != NULL && site->array_max > 0 ? (size_t)site->array_max
                                               : ARRAY_MAX;
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

static enum start_result start(void *self, struct slurm_flight *flight,
                               struct err *err)
{
    struct waves *waves = self;
    bool is_array = flight->choice == SLURM_BY_ARRAY;
    char name[SLURM_NAME_SIZE];
    struct wave *wave;

    if (waves->hold_ms != 0)
        return START_FULL;
    if (order_write(&flight->request->spec, err) != 0)
        return START_ERROR;
    wave = is_array ? find_gathering(waves, flight) : NULL;
    if (wave == NULL) {
        slurm_new_name(waves->slurm, is_array ? 'a' : 'j', name);
        wave = wave_create(waves, name, WAVE_GATHERING);
        wave->is_array = is_array;
    }
    wave_add(wave, wave->count, flight);
    if (!is_array || wave->count >= array_max(waves))
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
    struct wave *wave = find_wave(waves, handle->name);
    size_t index = handle->task < 0 ? 0 : (size_t)handle->task;
    char *folder;

    if (handle->task > INDEX_MAX ||
        (wave != NULL && index < wave->count && wave->tasks[index] != NULL))
        return err_set(
            err, ERR_FAILED, "'%s' says '%s %d', which is no task of its own",
            flight->request->spec.directory, handle->name, handle->task);
    if (wave == NULL) {
        wave = wave_create(waves, handle->name, WAVE_UNSURE);
        folder = wave_folder(wave);
        wave->job = slurm_job_read(folder);
        free(folder);
        wave->stage = wave->job != 0 ? WAVE_QUEUED : WAVE_UNSURE;
        wave->is_array = handle->task >= 0;
        wave->is_taken_up = true;
    }
    wave_add(wave, index, flight);
    flight->job = wave->is_array ? 0 : wave->job;
    flight->array = wave->is_array ? wave->job : 0;
    slurm_look_now(waves->slurm);
    return 0;
}

/* -- What the queue says --------------------------------------------------*/

/* Whether the row is of the job that counts: the one that has claimed it, or
 * else the first that was seen. Another of the name was submitted twice. */
static bool is_the_one(const struct wave_task *task,
                       const struct slurm_job *job)
{
    int64_t base = job->task < 0 ? job->id : job->array;

    if (task->claim_job != 0)
        return job->id == task->claim_job;
    return base == task->wave->job;
}

static void drop_twin(struct waves *waves, const struct slurm_job *job)
{
    const struct slurm_target target = {job->task < 0 ? job->id : job->array,
                                        job->task};

    if (job->state->phase == SLURM_PENDING || job->state->phase == SLURM_HELD)
        slurm_cancel_job(waves->slurm, &target, 0);
}

static void find_unsure(struct wave *wave, const struct slurm_job *job)
{
    char *folder;

    if (wave->stage != WAVE_UNSURE && wave->job != 0)
        return;
    wave->job = job->task < 0 ? job->id : job->array;
    if (wave->stage != WAVE_UNSURE)
        return;
    wave->stage = WAVE_QUEUED;
    folder = wave_folder(wave);
    slurm_job_write(folder, wave->job, NULL);
    free(folder);
}

static void note_state(struct wave_task *task, const struct slurm_job *job)
{
    struct slurm_flight *flight = task->flight;
    bool is_new = task->state == NULL;

    task->is_listed = true;
    task->state = job->state;
    snprintf(task->word, sizeof(task->word), "%s", job->word);
    task->exit_code = job->exit_code;
    task->signal = job->signal;
    flight->job = job->id;
    flight->array = job->array;
    if (job->nodes[0] != '\0' && strpbrk(job->nodes, "[,(") == NULL)
        snprintf(flight->node, sizeof(flight->node), "%s", job->nodes);
    if (is_new && job->state->phase != SLURM_ENDED && !task->is_claimed)
        slurm_flight_queued(task->wave->waves->slurm, flight);
}

/* Slurm would start it no more, or never. */
static void check_pending(struct wave_task *task, const struct slurm_job *job)
{
    struct waves *waves = task->wave->waves;

    if (task->is_claimed) {
        wave_task_fence(task, "slurm put it back into its queue",
                        clock_monotonic_ms());
    } else if (slurm_reason_is_final(job->reason) &&
               !task->flight->is_cancelled) {
        const struct slurm_target target = {
            job->task < 0 ? job->id : job->array, job->task};

        slurm_cancel_job(waves->slurm, &target, 0);
        wave_task_end_as(task, CAUSE_LAUNCH_ERROR,
                         "slurm will never start it: %s", job->reason);
    } else if (job->state->phase == SLURM_HELD && !task->wave->was_noted) {
        task->wave->was_noted = true;
        slurm_note(waves->slurm, "slurm holds job %lld: %s", (long long)job->id,
                   job->reason);
    }
}

static void act(struct wave_task *task, const struct slurm_job *job)
{
    switch (job->state->phase) {
    case SLURM_PENDING:
    case SLURM_HELD:
        check_pending(task, job);
        break;
    case SLURM_RUNNING:
        wave_task_runs(task);
        break;
    case SLURM_ENDED:
        wave_task_runs(task);
        if (task->fate == TASK_FENCED || task->fate == TASK_OVER)
            break;
        task->fate = TASK_OVER;
        task->since_ms = clock_monotonic_ms();
        break;
    case SLURM_UNKNOWN:
        if (!task->wave->was_noted)
            slurm_note(task->wave->waves->slurm,
                       "slurm says of job %lld what is not known here: '%s'",
                       (long long)job->id, job->word);
        task->wave->was_noted = true;
        break;
    }
}

static void listed(void *self, const struct slurm_job *job)
{
    struct waves *waves = self;
    struct wave *wave = find_wave(waves, job->name);
    size_t index = job->task < 0 ? 0 : (size_t)job->task;
    struct wave_task *task;

    if (wave == NULL)
        return;
    find_unsure(wave, job);
    task = index < wave->count ? wave->tasks[index] : NULL;
    if (task == NULL || task->flight == NULL)
        return;
    if (!is_the_one(task, job)) {
        drop_twin(waves, job);
        return;
    }
    note_state(task, job);
    if (task->flight->is_cancelled && task->cancelled_ms == 0)
        wave_task_cancel(task);
    act(task, job);
}

/* -- What the queue does not say ------------------------------------------*/

static void on_accounted(void *user, bool is_known)
{
    struct wave_task *task = user;

    task->is_asked = false;
    task->wave->asked--;
    if (!is_known && task->flight != NULL && task->fate == TASK_MISSED) {
        task->fate = TASK_OVER;
        task->state = NULL;
        task->since_ms = clock_monotonic_ms();
        wave_task_runs(task);
    }
    wave_release_if_done(task->wave);
}

static void miss(struct wave_task *task)
{
    struct wave *wave = task->wave;
    struct slurm_target target;

    if (task->fate != TASK_LIVE || task->is_asked ||
        wave_task_target(task, &target) != 0)
        return;
    task->fate = TASK_MISSED;
    task->is_asked = true;
    wave->asked++;
    slurm_ask_account(wave->waves->slurm, &target, on_accounted, task);
}

/* It is in no listing: either it was never submitted, or it is on its way
 * through the controller still. Two listings, poll_ms apart, decide. */
static void miss_wave(struct wave *wave, int64_t asked_ms)
{
    slurm_look_now(wave->waves->slurm);
    if (wave->misses == 0) {
        wave->misses = 1;
        wave->since_ms = asked_ms;
        return;
    }
    if (asked_ms - wave->since_ms < slurm_options(wave->waves->slurm)->poll_ms)
        return;
    wave->misses = 0;
    if (!wave->is_taken_up) {
        wave_make_ready(wave);
        return;
    }
    wave->stage = WAVE_QUEUED;
    for (size_t i = 0; i < wave->count; i++) {
        if (wave->tasks[i] != NULL && wave->tasks[i]->flight != NULL)
            wave->tasks[i]->fate = TASK_OVER;
    }
}

static void sweep_wave(struct wave *wave, int64_t asked_ms)
{
    if (wave->stage == WAVE_UNSURE && wave->since_ms < asked_ms)
        miss_wave(wave, asked_ms);
    for (size_t i = 0; i < wave->count; i++) {
        struct wave_task *task = wave->tasks[i];

        if (task == NULL || task->flight == NULL)
            continue;
        if (!task->is_listed && wave->stage == WAVE_QUEUED &&
            wave->since_ms < asked_ms)
            miss(task);
        task->is_listed = false;
    }
}

static void swept(void *self, int64_t asked_ms)
{
    struct waves *waves = self;
    struct wave *wave, *next;

    for (wave = TAILQ_FIRST(&waves->all); wave != NULL; wave = next) {
        next = TAILQ_NEXT(wave, link);
        sweep_wave(wave, asked_ms);
    }
}

static void tick(void *self, int64_t now_ms)
{
    struct waves *waves = self;
    struct wave *wave, *next;

    for (wave = TAILQ_FIRST(&waves->gathering); wave != NULL; wave = next) {
        next = TAILQ_NEXT(wave, queue);
        if (now_ms - wave->since_ms >= GATHER_MS)
            wave_make_ready(wave);
    }
    waves_pump(waves, now_ms);
    waves_look(waves, now_ms);
}

const struct slurm_mode slurm_wave = {
    .name = "job",
    .letters = "ja",
    .create = create,
    .destroy = destroy,
    .start = start,
    .cancel = cancel,
    .reattach = reattach,
    .listed = listed,
    .swept = swept,
    .tick = tick,
};
