/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/order.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/units.h"
#include "executors/attempt/attempt_file.h"
#include "executors/attempt/order_file.h"
#include "executors/attempt/pulse.h"
#include "executors/attempt/shim_status.h"
#include "executors/shim/beat.h"
#include "executors/shim/node.h"
#include "executors/shim/reserve.h"
#include "executors/shim/supervisor.h"

struct foreground {
    struct supervisor *supervisor;
    struct attempt_exit end;
    struct beat beat;
    bool has_beat;
    bool was_cancelled; /* by a mark */
    bool was_killed;    /* for want of a pulse */
};

static void on_ended(void *user, const struct attempt_exit *end)
{
    struct foreground *foreground = user;

    foreground->end = *end;
}

static void on_signal(void *user, int signal_number)
{
    struct foreground *foreground = user;

    (void)signal_number;
    supervisor_end_all(foreground->supervisor, CAUSE_CANCELLED, CANCEL_TERM,
                       "");
}

/* 0 is of what ended well alone: by it Slurm starts what is queued behind. */
static int exit_status(const struct attempt_exit *end)
{
    if (end->signal != 0)
        return SHIM_SIGNAL + end->signal;
    return end->exit_code == 0 && end->cause != CAUSE_OK ? SHIM_SIGNAL + SIGTERM
                                                         : end->exit_code;
}

/* -- Its pulse ------------------------------------------------------------*/

static void kill_unseen(struct foreground *foreground, enum beat_state state)
{
    char text[128], silence[32];

    units_format_duration(foreground->beat.silence_ms, silence,
                          sizeof(silence));
    if (state == BEAT_REVOKED)
        snprintf(text, sizeof(text),
                 "killed: its node sent no sign of life, and the trial "
                 "continues elsewhere");
    else
        snprintf(text, sizeof(text),
                 "killed: no sign of life for %s, because its directory could "
                 "not be written",
                 silence);
    supervisor_end_all(foreground->supervisor, CAUSE_NODE_FAIL, CANCEL_KILL,
                       text);
    beat_stop(&foreground->beat);
    foreground->was_killed = true;
}

static void turn(struct foreground *foreground)
{
    struct beat *beat = &foreground->beat;
    enum beat_state state;

    if (!foreground->has_beat) {
        supervisor_turn(foreground->supervisor, -1, 0, 0);
        return;
    }
    supervisor_turn(foreground->supervisor, beat->fd, POLLIN,
                    beat_due_ms(beat));
    state = beat_listen(beat, clock_monotonic_ms());
    if (state == BEAT_CANCELLED && !foreground->was_cancelled)
        on_signal(foreground, SIGTERM);
    else if (state > BEAT_CANCELLED && !foreground->was_killed)
        kill_unseen(foreground, state);
    foreground->was_cancelled |= state == BEAT_CANCELLED;
}

/* -- Running --------------------------------------------------------------*/

/* Returns the pid of the command, or what supervisor_start() does. */
static pid_t run(struct foreground *foreground, const struct attempt_spec *spec)
{
    pid_t pid = supervisor_start(foreground->supervisor, spec, NULL, false,
                                 &foreground->end);

    while (!supervisor_is_idle(foreground->supervisor))
        turn(foreground);
    supervisor_destroy(foreground->supervisor);
    return pid;
}

static int foreground_init(struct foreground *foreground, bool without_cgroups,
                           struct err *err)
{
    const struct supervisor_events events = {
        .ended = on_ended, .signalled = on_signal, .user = foreground};

    foreground->supervisor = supervisor_create(&events, err);
    if (foreground->supervisor == NULL)
        return -1;
    if (!without_cgroups)
        supervisor_use_cgroups(foreground->supervisor, 0);
    return 0;
}

int order_run_command(const struct attempt_spec *spec, bool without_cgroups,
                      struct err *err)
{
    struct foreground foreground = {.has_beat = false};
    pid_t pid;

    if (foreground_init(&foreground, without_cgroups, err) != 0)
        return SHIM_FAILED;
    pid = run(&foreground, spec);
    if (pid <= 0)
        err_set(err, ERR_FAILED, "%s", foreground.end.text);
    if (pid < 0)
        return 0;
    return pid == 0 ? SHIM_NOT_STARTED : exit_status(&foreground.end);
}

/* -- Orders ---------------------------------------------------------------*/

/* The array's list has a line for each of its tasks, from 0. */
static char *task_directory(const char *list, struct err *err)
{
    const char *task = getenv("SLURM_ARRAY_TASK_ID");
    long long left = task != NULL ? strtoll(task, NULL, 10) : -1;
    FILE *file = fopen(list, "re");
    char *line = NULL;
    size_t room = 0;
    ssize_t length = -1;

    if (file == NULL) {
        err_set_errno(err, ERR_NOT_FOUND, errno, "cannot open '%s'", list);
        return NULL;
    }
    for (; left >= 0; left--) {
        length = getline(&line, &room, file);
        if (length < 0)
            break;
    }
    fclose(file);
    if (length <= 0 || line[length - 1] != '\n') {
        err_set(err, ERR_NOT_FOUND, "'%s' has no line for task %s", list,
                task != NULL ? task : "(SLURM_ARRAY_TASK_ID is not set)");
        free(line);
        return NULL;
    }
    line[length - 1] = '\0';
    return line;
}

/* Another copy of the job has it, or nobody shall. */
static bool is_taken(const char *directory)
{
    return claim_exists(directory) || pulse_is_marked(directory, PULSE_REVOKED);
}

static void free_strings(char **strings)
{
    for (char **at = strings; *at != NULL; at++)
        free(*at);
    free(strings);
}

static int run_here(const struct attempt_spec *spec,
                    const struct shim_options *options, struct err *err)
{
    struct foreground foreground = {.has_beat = true};
    char node[EXECUTOR_NODE_MAX];
    pid_t pid;

    if (beat_start(&foreground.beat, spec->directory, options->heartbeat_ms,
                   options->silence_ms, err) != 0 ||
        foreground_init(&foreground, options->without_cgroups, err) != 0)
        return SHIM_FAILED;
    node_name(node);
    supervisor_say_place(foreground.supervisor, node, node_job(), false);
    pid = run(&foreground, spec);
    beat_stop(&foreground.beat);
    if (pid < 0)
        return 0;
    if (pid > 0)
        return exit_status(&foreground.end);
    err_set(err, ERR_FAILED, "%s", foreground.end.text);
    return SHIM_NOT_STARTED;
}

static int run_order(const struct attempt_spec *order,
                     const struct shim_options *options, struct err *err)
{
    struct attempt_spec spec = *order;
    char *programs, **envp;
    int status;

    if (is_taken(spec.directory))
        return 0;
    if (!node_is_healthy(options, &spec, err))
        return SHIM_UNHEALTHY;
    programs = fs_program_directory();
    envp = order_environment(order->envp, environ, programs);
    spec.envp = envp;
    status = run_here(&spec, options, err);
    free_strings(envp);
    free(programs);
    return status;
}

/* What a reserve is to do the engine may have written anew while it waited. */
static int run_in(const char *directory, const struct shim_options *options,
                  struct err *err)
{
    struct attempt_request *request;
    int status;

    if (options->reserve_of != NULL && !reserve_await(options, directory))
        return 0;
    request = order_read(directory, err);
    if (request == NULL)
        return SHIM_NO_ORDER;
    status = run_order(&request->spec, options, err);
    attempt_request_destroy(request);
    return status;
}

int order_run(const struct shim_options *options, struct err *err)
{
    char *directory = options->order != NULL
                          ? fs_absolute(options->order)
                          : task_directory(options->orders, err);
    int status =
        directory != NULL ? run_in(directory, options, err) : SHIM_NO_ORDER;

    free(directory);
    return status;
}
