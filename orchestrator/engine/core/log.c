/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mask.h"
#include "orchestrator/job/job_name.h"
#include "orchestrator/spec/spec_mask.h"
#include "orchestrator/wrap/env_sources.h"

/*
 * What the engine writes to its log about jobs and turns. The record has each
 * change of a job's state as an event; the log has it at level info, with the
 * cause, at the moment when the engine decides it, which is before the commit.
 * Turns, and why one starts nothing, are in idle.c.
 *
 * No line holds what belongs to the user's program: its command, its
 * environment, its output. Values below `env` and the URLs of receivers are
 * hidden all the same, because an error's text may quote them.
 */

/* ---- secrets ---- */

/* Those of its env_file. One that cannot be read is an error elsewhere. */
static void call_file(const struct job_spec *task, spec_secret_fn *call,
                      void *user)
{
    struct word_list list = {0};
    struct err ignored;

    env_sources_read_file(task, &list, &ignored);
    for (size_t i = 0; i < list.count; i++) {
        char *name = list.items[i], *value = strchr(name, '=');

        *value++ = '\0';
        call(user, name, value);
    }
    words_free(list.items);
}

static void each_secret(const struct engine *engine, bool wants_all,
                        spec_secret_fn *call, void *user)
{
    const struct experiment *experiment = engine->experiment;
    const struct workflow *workflow = engine->run->workflow;
    size_t step_count = workflow != NULL ? workflow->step_count : 0;

    spec_each_secret(experiment, workflow, wants_all, call, user);
    call_file(&experiment->task, call, user);
    for (size_t i = 0; i < step_count; i++)
        call_file(&workflow->steps[i].task, call, user);
    for (size_t i = 0; i < experiment->receiver_count; i++) {
        const struct receiver *receiver = &experiment->receivers[i];
        const char *secret =
            receiver->secret_env != NULL ? getenv(receiver->secret_env) : NULL;

        if (secret != NULL)
            call(user, receiver->secret_env, secret);
    }
}

static void hide(void *user, const char *name, const char *value)
{
    mask_hide(user, name, value);
}

static void hide_in_log(void *user, const char *name, const char *value)
{
    log_hide(user, name, value);
}

struct mask *engine_mask(const struct engine *engine)
{
    struct mask *mask = mask_create();

    each_secret(engine, false, hide, mask);
    return mask;
}

void engine_log_begin(const struct engine *engine)
{
    if (engine->log == NULL)
        return;
    each_secret(engine, true, hide_in_log, engine->log);
    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0,
        "engine started pid=%d version=%s", (int)getpid(), SMTUNE_VERSION);
}

/* ---- jobs ---- */

static void add_name(const struct engine *engine, const struct job *job,
                     struct buf *out)
{
    const struct step *step;

    if (job->step < 0)
        return;
    step = &engine->run->workflow->steps[job->step];
    buf_add_string(out, " step=");
    job_name_print(step->name,
                   step->axis_count > 0 || step->copies > 1 ? job->copy : -1,
                   job->round, out);
}

static void add_end(const struct job *job, const char *cause, struct buf *out)
{
    const struct attempt_exit *end = &job->end;

    if (cause != NULL)
        buf_printf(out, " cause=%s", cause);
    if (end->exit_code >= 0)
        buf_printf(out, " exit=%d", end->exit_code);
    if (end->signal > 0)
        buf_printf(out, " signal=%d", end->signal);
    if (end->started_ms > 0)
        buf_printf(out, " ran_ms=%" PRId64, end->ended_ms - end->started_ms);
    if (job->node[0] != '\0')
        buf_printf(out, " node=%s", job->node);
    if (end->text[0] != '\0')
        buf_printf(out, " text='%s'", end->text);
}

static void add_start(const struct job *job, struct buf *out)
{
    if (job->handle[0] != '\0')
        buf_printf(out, " handle=%s", job->handle);
    if (job->node[0] != '\0')
        buf_printf(out, " node=%s", job->node);
}

/* The level, and whether the event ends an attempt. */
static const struct {
    enum log_level level;
    bool is_end;
} events[JOB_EVENT_COUNT] = {
    [EVENT_SUCCEEDED] = {LOG_INFO, true},
    [EVENT_FAILED] = {LOG_WARNING, true},
    [EVENT_RETRY] = {LOG_WARNING, true},
    [EVENT_DISPLACED] = {LOG_WARNING, true},
    [EVENT_LINKED] = {LOG_INFO, true},
    [EVENT_PAUSED] = {LOG_INFO, true},
    [EVENT_INTERRUPTED] = {LOG_INFO, true},
    [EVENT_STOPPED] = {LOG_INFO, true},
};

void engine_log_change(const struct engine *engine, const struct job *job,
                       enum job_event event, const char *cause)
{
    enum log_level level =
        events[event].level != LOG_OFF ? events[event].level : LOG_INFO;
    struct buf text = BUF_INIT;

    if (!log_has(engine->log, LOG_ENGINE, level))
        return;
    buf_add_string(&text, job_event_names[event]);
    add_name(engine, job, &text);
    if (job->attempt_number > 0)
        buf_printf(&text, " attempt=%" PRId64, job->attempt_number);
    if (events[event].is_end)
        add_end(job, cause, &text);
    else if (event == EVENT_STARTED)
        add_start(job, &text);
    if (event == EVENT_RETRY)
        buf_printf(&text, " retry=%" PRId64 " rule=%d in_ms=%" PRId64,
                   job->retries_used[job->retry_rule], job->retry_rule + 1,
                   job->wait_ms);
    LOG(engine->log, LOG_ENGINE, level, job->number, "%s", buf_text(&text));
    buf_clear(&text);
}

void engine_log_exit(const struct engine *engine, const struct job *job,
                     const struct attempt_exit *end)
{
    LOG(engine->log, LOG_EXECUTOR, LOG_DEBUG, job->number,
        "exit read attempt=%" PRId64 " cause=%s exit=%d signal=%d "
        "cpu_ms=%" PRId64 " max_rss=%" PRId64 " node=%s displaced=%d text='%s'",
        job->attempt_number, attempt_cause_names[end->cause], end->exit_code,
        end->signal, end->cpu_ms, end->max_rss_bytes, end->node,
        end->is_displaced, end->text);
}
