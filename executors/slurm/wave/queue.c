/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "executors/slurm/wave/reserve.h"

/* -- What the queue says --------------------------------------------------*/

/* A job that nobody waits for: it could not be taken out of the queue when that
 * was tried, or is the copy of one that has ended. */
static void drop_unwanted(struct waves *waves, const struct slurm_job *job)
{
    const struct slurm_target target = {slurm_job_submitted(job), -1};

    if (job->state->phase == SLURM_PENDING || job->state->phase == SLURM_HELD)
        slurm_cancel_job(waves->slurm, &target, 0);
}

/* Whether the row is of the job that counts: the one that has claimed it, or
 * else the first that was seen. Another of the name was submitted twice. */
static bool is_the_one(const struct wave_task *task,
                       const struct slurm_job *job)
{
    int64_t base = slurm_job_submitted(job);

    if (task->claim_job != 0)
        return job->id == task->claim_job;
    return base == task->wave->job;
}

static void drop_twin(struct wave *wave, const struct slurm_job *job)
{
    const struct slurm_target target = {slurm_job_submitted(job), job->task};
    struct waves *waves = wave->waves;

    wave->is_doubtful = true;
    if (job->state->phase == SLURM_PENDING || job->state->phase == SLURM_HELD)
        slurm_cancel_job(waves->slurm, &target, 0);
}

static void find_unsure(struct wave *wave, const struct slurm_job *job)
{
    char *folder;

    if (wave->stage != WAVE_UNSURE && wave->job != 0)
        return;
    wave->job = slurm_job_submitted(job);
    if (wave->stage != WAVE_UNSURE)
        return;
    wave->stage = WAVE_QUEUED;
    folder = wave_folder(wave);
    slurm_job_write(folder, wave->job, NULL);
    free(folder);
    for (size_t i = 0; i < wave->count; i++) {
        const struct wave_task *task = wave->tasks[i];

        if (task != NULL && task->flight != NULL && task->has_reserves)
            reserves_queue(wave->waves, task->flight->request->spec.directory,
                           wave->job);
    }
}

static void note_state(struct wave_task *task, const struct slurm_job *job)
{
    struct slurm_flight *flight = task->flight;

    task->is_listed = true;
    task->state = job->state;
    snprintf(task->word, sizeof(task->word), "%s", job->word);
    task->exit_code = job->exit_code;
    task->signal = job->signal;
    flight->job = job->id;
    flight->array = job->array;
    if (job->nodes[0] != '\0' && strpbrk(job->nodes, "[,(") == NULL)
        snprintf(flight->node, sizeof(flight->node), "%s", job->nodes);
    if (job->state->phase != SLURM_ENDED)
        wave_task_queued(task);
}

/* Slurm would start it no more, or never. */
static void check_pending(struct wave_task *task, const struct slurm_job *job)
{
    struct waves *waves = task->wave->waves;
    enum slurm_outlook outlook =
        slurm_reason_judge(&task->doubt, job->reason, clock_monotonic_ms());

    if (outlook == SLURM_LOOK_AGAIN)
        slurm_look_soon(waves->slurm);
    if (task->is_claimed) {
        task->is_back = true;
    } else if (outlook == SLURM_NEVER_STARTS && !task->flight->is_cancelled) {
        const struct slurm_target target = {slurm_job_submitted(job),
                                            job->task};

        slurm_cancel_job(waves->slurm, &target, 0);
        wave_task_end_as(task, CAUSE_LAUNCH_ERROR,
                         "slurm will never start it: %s", job->reason);
    } else if (job->state->phase == SLURM_HELD || outlook == SLURM_HELD_BACK) {
        slurm_held(waves->slurm, "job", job);
    }
}

static void act(struct wave_task *task, const struct slurm_job *job)
{
    switch (job->state->phase) {
    case SLURM_PENDING:
    case SLURM_HELD:
        slurm_flight_waits(task->flight, job->reason);
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
                       "unknown state of job %lld in slurm: '%s'",
                       (long long)job->id, job->word);
        task->wave->was_noted = true;
        break;
    }
}

void waves_listed(void *self, const struct slurm_job *job)
{
    struct waves *waves = self;
    struct wave *wave = waves_find(waves, job->name);
    size_t index = job->task < 0 ? 0 : (size_t)job->task;
    struct wave_task *task;

    if (wave == NULL) {
        if (!reserves_listed(waves, job))
            drop_unwanted(waves, job);
        return;
    }
    find_unsure(wave, job);
    task = index < wave->count ? wave->tasks[index] : NULL;
    if (task == NULL || task->flight == NULL)
        return;
    if (!is_the_one(task, job)) {
        drop_twin(wave, job);
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
        /* A listing may be older than the claim. */
        if (task->is_back && task->claimed_ms < asked_ms)
            wave_task_fence(task, "slurm requeued its job",
                            clock_monotonic_ms());
        task->is_listed = task->is_back = false;
    }
}

void waves_swept(void *self, int64_t asked_ms)
{
    struct waves *waves = self;
    struct wave *wave, *next;

    for (wave = TAILQ_FIRST(&waves->all); wave != NULL; wave = next) {
        next = TAILQ_NEXT(wave, link);
        sweep_wave(wave, asked_ms);
    }
}
