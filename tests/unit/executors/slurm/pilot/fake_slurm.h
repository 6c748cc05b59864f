/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_EXECUTORS_SLURM_PILOT_FAKE_SLURM_H
#define SMTUNE_TESTS_UNIT_EXECUTORS_SLURM_PILOT_FAKE_SLURM_H

#include "executors/slurm/preview.h"
#include "executors/slurm/slurm_impl.h"

/*
 * Stands in for the core of the executor slurm and for a cluster, for tests of
 * one mode: what the mode does is counted, and what it is told says the test.
 * A test includes it once.
 */

enum { FAKE_SUBMITS_MAX = 16, FAKE_FLIGHTS_MAX = 256, FAKE_ENDS_MAX = 64 };

struct fake_submit {
    char name[SLURM_NAME_SIZE];
    int cpus, gpus;
    int64_t memory_bytes, time_ms;
    char avoid[64]; /* the first; "" for none */
    slurm_submit_fn *done;
    void *user;
};

struct slurm {
    uv_loop_t loop;
    struct slurm_options options;
    struct slurm_site site;
    struct slurm_transport transport;
    char folder[256];
    const char *avoided[4];                         /* NULL-ended */
    struct slurm_flight *flights[FAKE_FLIGHTS_MAX]; /* that have not ended */
    size_t flight_count;
    int parallel, numbers;
    struct fake_submit submits[FAKE_SUBMITS_MAX];
    int submit_count;
    struct attempt_exit ends[FAKE_ENDS_MAX];
    int end_count, started_count, cancel_count, ask_count, room_count,
        looks_now;
    int64_t started_pid, cancelled_job;
    void (*answered)(void *user, bool is_known);
    void *answered_user;
    char reported[EXECUTOR_NODE_MAX];
    enum node_trouble trouble;
    char note[256];
    bool has_queued;
};

/* Of the attempt; NULL: it has not ended. */
static const struct attempt_exit *fake_end(const struct slurm *slurm,
                                           int64_t attempt)
{
    for (int i = 0; i < slurm->end_count; i++) {
        if (slurm->ends[i].attempt == attempt)
            return &slurm->ends[i];
    }
    return NULL;
}

static void fake_destroy_flight(struct slurm *slurm,
                                struct slurm_flight *flight)
{
    size_t place = 0;

    while (slurm->flights[place] != flight)
        place++;
    slurm->flights[place] = slurm->flights[--slurm->flight_count];
    free(flight->request);
    free(flight);
}

static void fake_submit(struct slurm_transport *transport,
                        const struct slurm_submission *submission,
                        slurm_submit_fn *done, void *user)
{
    struct slurm *slurm =
        (struct slurm *)((char *)transport - offsetof(struct slurm, transport));
    struct fake_submit *submit = &slurm->submits[slurm->submit_count++];

    assert_true(slurm->submit_count < FAKE_SUBMITS_MAX);
    snprintf(submit->name, sizeof(submit->name), "%s", submission->name);
    submit->cpus = submission->cpus;
    submit->gpus = submission->gpus;
    submit->memory_bytes = submission->memory_bytes;
    submit->time_ms = submission->time_ms;
    if (submission->avoid != NULL && submission->avoid[0] != NULL)
        snprintf(submit->avoid, sizeof(submit->avoid), "%s",
                 submission->avoid[0]);
    submit->done = done;
    submit->user = user;
}

static const struct slurm_transport_type fake_transport = {
    .name = "fake", .submit = fake_submit};

static void fake_answer(struct slurm *slurm, int submit,
                        enum slurm_answer answer, int64_t job)
{
    const struct slurm_reply reply = {.answer = answer, .text = "as it is"};

    slurm->submits[submit].done(slurm->submits[submit].user, &reply, job);
}

/* -- What the core does for modes -----------------------------------------*/

uv_loop_t *slurm_loop(const struct slurm *slurm)
{
    return &((struct slurm *)(uintptr_t)slurm)->loop;
}

const struct slurm_options *slurm_options(const struct slurm *slurm)
{
    return &slurm->options;
}

struct slurm_transport *slurm_transport(const struct slurm *slurm)
{
    return &((struct slurm *)(uintptr_t)slurm)->transport;
}

const struct slurm_site *slurm_site(const struct slurm *slurm)
{
    return &slurm->site;
}

void slurm_learn_default(struct slurm *slurm, const struct slurm_job *job)
{
    slurm_site_set_default(&slurm->site, job->partition);
}

const char *slurm_folder(const struct slurm *slurm)
{
    return slurm->folder;
}

void slurm_new_name(struct slurm *slurm, char letter,
                    char name[SLURM_NAME_SIZE])
{
    snprintf(name, SLURM_NAME_SIZE, "smt-00000000-%c%d", letter,
             ++slurm->numbers);
}

const char *const *slurm_avoided(const struct slurm *slurm)
{
    return slurm->avoided;
}

int slurm_parallel(const struct slurm *slurm)
{
    return slurm->parallel;
}

bool slurm_has_queued(const struct slurm *slurm)
{
    return slurm->has_queued;
}

struct slurm_limit slurm_time_limit(const struct slurm_site *site,
                                    const struct slurm_options *options,
                                    const struct attempt_spec *spec)
{
    static const struct slurm_ask nothing = {.mode = NULL};

    (void)options, (void)spec;
    return slurm_limit_of(site, &nothing);
}

bool slurm_is_auto(const struct attempt_spec *spec,
                   const struct slurm_options *options)
{
    (void)spec;
    return options->ask.mode == NULL;
}

void slurm_look_soon(struct slurm *slurm)
{
    (void)slurm;
}

void slurm_look_now(struct slurm *slurm)
{
    slurm->looks_now++;
}

bool slurm_is_mute(const struct slurm *slurm, int64_t since_ms)
{
    (void)slurm, (void)since_ms;
    return false;
}

void slurm_note_left(struct slurm *slurm)
{
    (void)slurm;
}

void slurm_ask_account(struct slurm *slurm, const struct slurm_target *target,
                       void (*answered)(void *user, bool is_known), void *user)
{
    (void)target;
    slurm->ask_count++;
    slurm->answered = answered;
    slurm->answered_user = user;
}

void slurm_cancel_job(struct slurm *slurm, const struct slurm_target *target,
                      int signal)
{
    (void)signal;
    slurm->cancel_count++;
    slurm->cancelled_job = target->id;
}

void slurm_flight_queued(struct slurm *slurm, struct slurm_flight *flight)
{
    (void)slurm;
    (void)flight;
}

void slurm_flight_started(struct slurm *slurm, struct slurm_flight *flight,
                          int64_t pid)
{
    flight->has_started = true;
    slurm->started_count++;
    slurm->started_pid = pid;
}

void slurm_flight_ended(struct slurm *slurm, struct slurm_flight *flight,
                        const struct attempt_exit *end)
{
    assert_true(slurm->end_count < FAKE_ENDS_MAX);
    slurm->ends[slurm->end_count] = *end;
    slurm->ends[slurm->end_count++].attempt = flight->request->spec.attempt;
    fake_destroy_flight(slurm, flight);
}

bool slurm_flight_displaced(struct slurm *slurm, struct slurm_flight *flight,
                            const char *why)
{
    const struct attempt_spec *spec = &flight->request->spec;
    struct attempt_exit end = {.cause = CAUSE_LOST, .is_displaced = true};
    struct claim claim;

    if (claim_judge(spec->directory, spec->attempt, &claim, NULL) != CLAIM_VOID)
        return false;
    snprintf(end.text, sizeof(end.text), "%s", why);
    slurm_flight_ended(slurm, flight, &end);
    return true;
}

void slurm_report_node(struct slurm *slurm, const struct node_report *report)
{
    snprintf(slurm->reported, sizeof(slurm->reported), "%s", report->node);
    slurm->trouble = report->trouble;
}

void slurm_note(struct slurm *slurm, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(slurm->note, sizeof(slurm->note), format, list);
    va_end(list);
}

void slurm_held(struct slurm *slurm, const char *what,
                const struct slurm_job *job)
{
    slurm_note(slurm, "slurm holds %s %lld back: %s", what, (long long)job->id,
               job->reason);
}

void slurm_not_held(struct slurm *slurm, int64_t job)
{
    (void)slurm, (void)job;
}

void slurm_flight_waits(struct slurm_flight *flight, const char *reason)
{
    snprintf(flight->reason, sizeof(flight->reason), "%s", reason);
}

void slurm_label(struct slurm *slurm, const struct attempt_spec *spec,
                 bool is_array, struct slurm_submission *submission)
{
    (void)slurm, (void)spec, (void)is_array, (void)submission;
}

void slurm_keep_submission(const char *folder,
                           const struct slurm_submission *submission)
{
    (void)folder, (void)submission;
}

void slurm_link_submission(const char *folder, const char *directory)
{
    (void)folder, (void)directory;
}

void slurm_has_room(struct slurm *slurm)
{
    slurm->room_count++;
}

char *slurm_script(const struct slurm_options *options, const char *folder,
                   const char *const *arguments, struct err *err)
{
    struct buf script = BUF_INIT;

    (void)options;
    (void)folder;
    (void)err;
    for (; *arguments != NULL; arguments++)
        buf_printf(&script, "%s ", *arguments);
    return buf_take(&script);
}

#endif
