/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "executors/slurm/preview.h"
#include "executors/slurm/script.h"
#include "executors/slurm/wave/reserve.h"

/*
 * Before a wave is submitted, each attempt's `slurm` says what it will be found
 * by, so that an engine that comes back finds it whenever this one was killed.
 */

enum {
    HOLD_MAX_MS = 60000,
    HOLD_FREED_MS = 1000 /* after a limit, when a job of ours has ended since */
};

/* -- Which attempts may be of one array -----------------------------------*/

static bool is_same_ask(const struct slurm_ask *a, const struct slurm_ask *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (!text_same(a->partition, b->partition) ||
        !text_same(a->account, b->account) || !text_same(a->qos, b->qos) ||
        !text_same(a->constraint, b->constraint) ||
        !text_same(a->reservation, b->reservation) ||
        !text_same(a->gpu_type, b->gpu_type) ||
        a->extra_count != b->extra_count)
        return false;
    for (size_t i = 0; i < a->extra_count; i++) {
        if (strcmp(a->extra[i], b->extra[i]) != 0)
            return false;
    }
    return true;
}

static bool is_same_list(const char *const *a, const char *const *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    while (*a != NULL && *b != NULL && strcmp(*a, *b) == 0) {
        a++;
        b++;
    }
    return *a == NULL && *b == NULL;
}

bool wave_may_join(const struct slurm_flight *a, const struct slurm_flight *b)
{
    const struct attempt_spec *x = &a->request->spec, *y = &b->request->spec;

    return x->cpus == y->cpus && x->gpus == y->gpus &&
           x->memory_bytes == y->memory_bytes && x->time_ms == y->time_ms &&
           x->grace_ms == y->grace_ms && x->nodes == y->nodes &&
           x->tasks == y->tasks && text_same(x->step, y->step) &&
           is_same_ask(x->slurm, y->slurm) &&
           is_same_list(x->avoid, y->avoid) && a->request->next == NULL &&
           b->request->next == NULL;
}

/* -- The wave's files -----------------------------------------------------*/

/* Those that are cancelled end; the others close ranks. */
static void compact(struct wave *wave)
{
    size_t count = 0;

    for (size_t i = 0; i < wave->count; i++) {
        struct wave_task *task = wave->tasks[i];

        if (task->flight != NULL && task->flight->is_cancelled)
            wave_task_end_as(task, CAUSE_CANCELLED, "it was not submitted");
        if (task->flight == NULL) {
            free(task);
            continue;
        }
        wave->tasks[count] = task;
        task->flight->task = wave->is_array ? (int)count : -1;
        count++;
    }
    wave->count = count;
}

static int write_files(const struct wave *wave, const char *folder,
                       struct err *err)
{
    struct buf tasks = BUF_INIT;
    int result = fs_make_shared_directories(folder, err);

    for (size_t i = 0; i < wave->count && result == 0; i++) {
        const struct slurm_flight *flight = wave->tasks[i]->flight;
        struct slurm_handle handle = {.task = wave->is_array ? (int)i : -1};

        snprintf(handle.name, sizeof(handle.name), "%s", wave->name);
        buf_printf(&tasks, "%s\n", flight->request->spec.directory);
        result =
            slurm_handle_write(flight->request->spec.directory, &handle, err);
    }
    if (result == 0)
        result = slurm_file_write(folder, "tasks", buf_text(&tasks), err);
    buf_clear(&tasks);
    return result;
}

/* -- Submitting -----------------------------------------------------------*/

static void end_all(struct wave *wave, const char *text)
{
    wave->stage = WAVE_SENT; /* so that it is not released meanwhile */
    for (size_t i = wave->count; i > 0; i--) {
        struct wave_task *task = wave->tasks[i - 1];

        if (task != NULL && task->flight != NULL)
            wave_task_end_as(task,
                             task->flight->is_cancelled ? CAUSE_CANCELLED
                                                        : CAUSE_LAUNCH_ERROR,
                             "%s", text);
    }
    wave->stage = WAVE_QUEUED;
    wave_release_if_done(wave);
}

static void take_id(struct wave *wave, int64_t id)
{
    struct waves *waves = wave->waves;
    char *folder = wave_folder(wave);

    if (slurm_job_write(folder, id, NULL) != 0)
        slurm_note(waves->slurm, "cannot write '%s/job'", folder);
    free(folder);
    wave->job = id;
    wave->stage = WAVE_QUEUED;
    wave->since_ms = clock_monotonic_ms();
    waves->hold_ms = 0;
    waves_array_taken(waves, wave->count);
    for (size_t i = 0; i < wave->count; i++) {
        struct wave_task *task = wave->tasks[i];

        if (task->flight == NULL)
            continue;
        task->flight->job = wave->is_array ? 0 : id;
        task->flight->array = wave->is_array ? id : 0;
        wave_task_queued(task);
        if (task->flight->is_cancelled)
            wave_task_cancel(task);
        if (task->has_reserves)
            reserves_queue(waves, task->flight->request->spec.directory, id);
    }
    slurm_look_soon(waves->slurm);
    slurm_has_room(waves->slurm);
}

/* A limit: it is tried again later, and nothing new is taken meanwhile. */
static void hold(struct wave *wave, const char *text)
{
    struct waves *waves = wave->waves;

    wave->stage = WAVE_READY;
    TAILQ_INSERT_HEAD(&waves->ready, wave, queue);
    if (wave_halve(wave))
        return;
    if (!waves->was_hold_noted)
        slurm_note(waves->slurm, "slurm takes no more jobs for now: %s", text);
    waves->was_hold_noted = true;
    backoff_next_ms(&waves->hold_ms, slurm_options(waves->slurm)->poll_ms,
                    HOLD_MAX_MS);
    waves->held_ms = clock_monotonic_ms();
}

void waves_note_freed(struct waves *waves)
{
    if (waves->hold_ms > HOLD_FREED_MS)
        waves->hold_ms = HOLD_FREED_MS;
}

/* Nodes that are kept away from may be all that could have done it. */
static void describe_refusal(const struct waves *waves, const char *why,
                             char *text, size_t size)
{
    const char *const *avoided = slurm_avoided(waves->slurm);
    size_t count = 0;

    while (avoided != NULL && avoided[count] != NULL)
        count++;
    if (count == 0)
        snprintf(text, size, "slurm refused the job: %s", why);
    else
        snprintf(text, size,
                 "slurm refused the job, with %zu excluded node%s (see smtune "
                 "nodes): %s",
                 count, count > 1 ? "s" : "", why);
}

static void on_submitted(void *user, const struct slurm_reply *reply,
                         int64_t id)
{
    struct wave *wave = user;
    struct waves *waves = wave->waves;
    char text[SLURM_TEXT_MAX + 128];

    waves->on_way--;
    switch (reply->answer) {
    case SLURM_DONE:
        take_id(wave, id);
        break;
    case SLURM_REFUSED:
        describe_refusal(waves, reply->text, text, sizeof(text));
        end_all(wave, text);
        break;
    case SLURM_LATER:
        hold(wave, reply->text);
        break;
    case SLURM_SILENT:
        wave->stage = WAVE_UNSURE;
        wave->is_doubtful = true;
        wave->since_ms = clock_monotonic_ms();
        wave->misses = 0;
        slurm_look_now(waves->slurm);
        break;
    }
    waves_pump(waves, clock_monotonic_ms());
}

static void hand_over(struct waves *waves, const struct wave_job *job,
                      const char *script, slurm_submit_fn *done, void *user)
{
    struct slurm_transport *transport = slurm_transport(waves->slurm);
    const struct attempt_spec *spec = job->spec;
    const char **avoid = slurm_avoided_by(waves->slurm, spec);
    char *log = fs_join(job->folder, "log");
    struct slurm_submission submission = {
        .name = job->name,
        .log = log,
        .script = script,
        .array = job->array,
        .after = job->after,
        .avoid = avoid,
    };

    waves->on_way++;
    slurm_submission_fill(slurm_options(waves->slurm), slurm_site(waves->slurm),
                          spec, &submission);
    slurm_label(waves->slurm, spec, job->array > 1, &submission);
    slurm_keep_submission(job->folder, &submission);
    transport->type->submit(transport, &submission, done, user);
    free(log);
    free(avoid);
}

int wave_submit_job(struct waves *waves, const struct wave_job *job,
                    slurm_submit_fn *done, void *user, struct err *err)
{
    char *script =
        slurm_script(slurm_options(waves->slurm), slurm_folder(waves->slurm),
                     job->arguments, err);
    int result = -1;

    if (script != NULL)
        result = slurm_file_write(job->folder, "script", script, err);
    if (result == 0)
        hand_over(waves, job, script, done, user);
    free(script);
    return result;
}

static int submit_wave(struct wave *wave, const char *folder, struct err *err)
{
    const struct attempt_spec *spec = &wave->tasks[0]->flight->request->spec;
    char *tasks = fs_join(folder, "tasks");
    const char *const array[] = {"--orders", tasks, NULL};
    const char *const one[] = {"--order", spec->directory, NULL};
    const struct wave_job job = {.name = wave->name,
                                 .folder = folder,
                                 .spec = spec,
                                 .arguments = wave->is_array ? array : one,
                                 .array =
                                     wave->is_array ? (int)wave->count : 0};
    int result = write_files(wave, folder, err);

    if (result == 0)
        result = wave_submit_job(wave->waves, &job, on_submitted, wave, err);
    for (size_t i = 0; i < wave->count && result == 0; i++)
        slurm_link_submission(folder,
                              wave->tasks[i]->flight->request->spec.directory);
    free(tasks);
    return result;
}

static void submit(struct wave *wave)
{
    char *folder = wave_folder(wave);
    struct err err = {.text = ""};

    wave->stage = WAVE_SENT; /* what ends meanwhile does not release it */
    compact(wave);
    wave_split(wave);
    if (wave->count == 0 || submit_wave(wave, folder, &err) != 0)
        end_all(wave, err.text);
    free(folder);
}

void wave_make_ready(struct wave *wave)
{
    struct waves *waves = wave->waves;

    if (wave->stage == WAVE_GATHERING)
        TAILQ_REMOVE(&waves->gathering, wave, queue);
    wave->stage = WAVE_READY;
    TAILQ_INSERT_TAIL(&waves->ready, wave, queue);
    waves_pump(waves, clock_monotonic_ms());
}

/* A time limit is cut to what the cluster allows, which is known soon. */
static bool waits_for_site(const struct wave *wave, int64_t now_ms)
{
    const struct slurm_flight *flight =
        wave->count > 0 ? wave->tasks[0]->flight : NULL;

    return flight != NULL && slurm_site(wave->waves->slurm) == NULL &&
           now_ms - wave->since_ms < WAVE_DESCRIBE_MS;
}

void waves_pump(struct waves *waves, int64_t now_ms)
{
    while (waves->on_way < SLURM_SUBMITS_MAX && !TAILQ_EMPTY(&waves->ready)) {
        struct wave *wave = TAILQ_FIRST(&waves->ready);

        if (waves->hold_ms != 0 &&
            (waves->on_way > 0 || now_ms - waves->held_ms < waves->hold_ms))
            return;
        if (waits_for_site(wave, now_ms))
            return;
        TAILQ_REMOVE(&waves->ready, wave, queue);
        submit(wave);
    }
    if (waves->hold_ms != 0 && TAILQ_EMPTY(&waves->ready) &&
        waves->on_way == 0) {
        waves->hold_ms = 0;
        slurm_has_room(waves->slurm);
    }
}
