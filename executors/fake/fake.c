/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "executors/attempt/attempt_file.h"
#include "executors/attempt/kind.h"
#include "executors/executor_impl.h"
#include "executors/fake/script.h"
#include "executors/local/adopted.h"
#include "executors/machine/slots.h"

/*
 * An executor that runs nothing: its attempts last and end as a script says
 * (script.h), and leave the same files behind as real ones. For trying
 * out an experiment file, and for tests of what is above executors.
 */

enum {
    CPUS = 4096,
    PID_MIN = 1 << 23, /* no process has such a pid */
    HANDLE_MAX = 32
};

struct fake_attempt {
    struct fake_attempt *next;
    struct fake *fake;
    uv_timer_t timer;
    const struct outcome *outcome;
    struct attempt_exit end;
    char *directory;
    char *metrics_path, *output_path; /* NULL: not said */
    char *checkpoint_directory;
    int64_t grace_ms;
    int64_t duration_ms;
    int claim_fd;
    int cpus, gpus;
    bool runs;
    bool has_started; /* and was told so */
};

struct fake {
    struct executor base;
    struct executor_events events;
    uv_loop_t *loop;
    struct fake_script script;
    struct adopted_list *adopted;
    struct fake_attempt *first; /* running, then waiting, as they came */
    uv_timer_t room;
    struct slots *slots; /* of pools */
    char **avoided;      /* nodes, NULL-ended; NULL: none */
    size_t parallel, running;
    int cpus, gpus, cpus_used, gpus_used;
    bool was_refused;
    bool is_turn; /* to take slots that others wait for, too */
    bool is_closing;
    int open_parts;
    void (*done)(void *user);
    void *done_user;
};

static const struct outcome default_outcome = {
    .attempt = -1, .queued_ms = -1, .trouble = -1};

/* -- Files ----------------------------------------------------------------*/

static void put(const char *path, int how, const char *text)
{
    int fd = fs_shared_open(path, O_WRONLY | how, 0600);

    if (fd < 0)
        return;
    if (write(fd, text, strlen(text)) < 0) {
        /* a full disk: as with a real command, its output is cut short */
    }
    close(fd);
}

static void write_output(const struct fake_attempt *attempt)
{
    char text[64];
    char path[PATH_MAX];
    const char *log = attempt->outcome->log;

    snprintf(path, sizeof(path), "%s/log", attempt->directory);
    snprintf(text, sizeof(text), "loss=%" PRId64 "\n", attempt->end.attempt);
    if (log == NULL && attempt->outcome == &default_outcome)
        log = text;
    put(path, O_APPEND, log != NULL ? log : "");
    if (attempt->outcome->metrics != NULL && attempt->metrics_path != NULL)
        put(attempt->metrics_path, O_APPEND, attempt->outcome->metrics);
    if (attempt->outcome->output != NULL && attempt->output_path != NULL)
        put(attempt->output_path, O_APPEND, attempt->outcome->output);
    if (attempt->outcome->checkpoint != NULL &&
        attempt->checkpoint_directory != NULL) {
        snprintf(path, sizeof(path), "%s/state", attempt->checkpoint_directory);
        put(path, O_TRUNC, attempt->outcome->checkpoint);
    }
}

static int write_claim(const struct fake_attempt *attempt)
{
    struct claim claim = {.attempt = attempt->end.attempt,
                          .pid = PID_MIN + attempt->end.attempt,
                          .time_ms = clock_wall_ms()};
    char line[CLAIM_LINE_MAX];
    size_t length;

    claim_identify(&claim);
    length = claim_format(&claim, line);
    return write(attempt->claim_fd, line, length) == (ssize_t)length ? 0 : -1;
}

/* -- Nodes ----------------------------------------------------------------*/

static void forget_avoided(struct fake *fake)
{
    for (char **node = fake->avoided; node != NULL && *node != NULL; node++)
        free(*node);
    free(fake->avoided);
    fake->avoided = NULL;
}

static void fake_avoid(struct executor *executor, const char *const *nodes)
{
    struct fake *fake = (struct fake *)executor;
    size_t count = 0;

    forget_avoided(fake);
    while (nodes[count] != NULL)
        count++;
    fake->avoided = mem_array(count + 1, sizeof(*fake->avoided));
    for (size_t i = 0; i < count; i++)
        fake->avoided[i] = mem_copy_string(nodes[i]);
}

/* -- Attempts -------------------------------------------------------------*/

static void on_part_closed(void *user)
{
    struct fake *fake = user;

    if (--fake->open_parts > 0)
        return;
    fake->done(fake->done_user);
    slots_close(fake->slots);
    forget_avoided(fake);
    fake_script_clear(&fake->script);
    free(fake);
}

static void on_attempt_closed(uv_handle_t *handle)
{
    struct fake_attempt *attempt = handle->data;
    struct fake *fake = attempt->fake;

    free(attempt->directory);
    free(attempt->metrics_path);
    free(attempt->output_path);
    free(attempt->checkpoint_directory);
    free(attempt);
    on_part_closed(fake);
}

/* Takes it out; the memory goes with the timer. */
static void remove_attempt(struct fake_attempt *attempt)
{
    struct fake *fake = attempt->fake;
    struct fake_attempt **link = &fake->first;

    while (*link != attempt)
        link = &(*link)->next;
    *link = attempt->next;
    fake->running -= attempt->runs;
    fake->cpus_used -= attempt->cpus;
    fake->gpus_used -= attempt->gpus;
    slots_release(fake->slots, attempt->end.attempt);
    if (attempt->claim_fd >= 0)
        close(attempt->claim_fd);
    uv_close((uv_handle_t *)&attempt->timer, on_attempt_closed);
}

static const char *queue_handle(int64_t attempt, char handle[HANDLE_MAX])
{
    snprintf(handle, HANDLE_MAX, "FAKE-%" PRId64, attempt);
    return handle;
}

static void run_waiting(struct fake *fake);

static void finish(struct fake_attempt *attempt)
{
    struct fake *fake = attempt->fake;
    struct attempt_exit end = attempt->end;
    const int trouble = attempt->outcome->trouble;

    end.ended_ms = clock_wall_ms();
    if (attempt->claim_fd >= 0 && end.cause != CAUSE_LOST)
        exit_write(attempt->directory, &end, NULL);
    remove_attempt(attempt);
    run_waiting(fake);
    if (trouble >= 0 && end.cause != CAUSE_CANCELLED)
        fake->events.node(fake->events.user,
                          &(struct node_report){end.node,
                                                (enum node_trouble)trouble,
                                                end.attempt, end.text});
    fake->events.ended(fake->events.user, &end);
    if (fake->is_closing || !fake->was_refused)
        return;
    fake->was_refused = false;
    fake->events.room(fake->events.user);
}

static void on_end(uv_timer_t *timer)
{
    struct fake_attempt *attempt = timer->data;

    if (attempt->has_started)
        write_output(attempt);
    finish(attempt);
}

static void tell_started(const struct fake_attempt *attempt)
{
    const struct executor_events *events = &attempt->fake->events;
    const int64_t id = attempt->end.attempt;
    char handle[HANDLE_MAX];
    const struct attempt_place place = {
        PID_MIN + id, attempt->end.node,
        attempt->outcome->queued_ms >= 0 ? queue_handle(id, handle) : ""};

    events->started(events->user, id, &place);
    if (attempt->outcome->note != NULL)
        events->note(events->user, attempt->outcome->note);
}

static void on_begin(uv_timer_t *timer)
{
    struct fake_attempt *attempt = timer->data;
    struct err err = {.text = "cannot write the claim"};

    attempt->end.started_ms = clock_wall_ms();
    attempt->claim_fd = claim_create(attempt->directory, &err);
    if (attempt->claim_fd < 0 || write_claim(attempt) != 0) {
        attempt->end.cause = CAUSE_LAUNCH_ERROR;
        attempt->end.exit_code = -1;
        snprintf(attempt->end.text, sizeof(attempt->end.text), "%.200s",
                 err.text);
    }
    if (attempt->end.cause == CAUSE_LAUNCH_ERROR) {
        finish(attempt);
        return;
    }
    attempt->has_started = true;
    uv_timer_start(timer, on_end, (uint64_t)attempt->duration_ms, 0);
    tell_started(attempt);
}

/* First it waits in a queue, where the script says so. */
static void on_queue(uv_timer_t *timer)
{
    struct fake_attempt *attempt = timer->data;
    const struct executor_events *events = &attempt->fake->events;
    char handle[HANDLE_MAX];

    uv_timer_start(timer, on_begin, (uint64_t)attempt->outcome->queued_ms, 0);
    events->queued(events->user, attempt->end.attempt,
                   queue_handle(attempt->end.attempt, handle));
}

static void run_waiting(struct fake *fake)
{
    for (struct fake_attempt *a = fake->first;
         a != NULL && fake->running < fake->parallel; a = a->next) {
        if (a->runs)
            continue;
        a->runs = true;
        fake->running++;
        uv_timer_start(&a->timer,
                       a->outcome->queued_ms >= 0 ? on_queue : on_begin, 0, 0);
    }
}

static char *copy_variable(char *const *envp, const char *name)
{
    size_t length = strlen(name);

    for (; envp != NULL && *envp != NULL; envp++) {
        if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
            return mem_copy_string(*envp + length + 1);
    }
    return NULL;
}

/* What its limits make of what the script says. */
static void limit(struct fake_attempt *attempt, const struct attempt_spec *spec)
{
    const struct outcome *outcome = attempt->outcome;
    int64_t warning_ms = spec->time_ms - spec->warn_before_ms;

    if (spec->time_ms <= 0 || outcome->end.cause == CAUSE_LAUNCH_ERROR)
        return;
    if (spec->warn_signal != 0 && outcome->heeds_warning &&
        attempt->duration_ms > warning_ms) {
        attempt->duration_ms = warning_ms;
        attempt->end.cause = outcome->warned_exit == 0 ? CAUSE_OK : CAUSE_EXIT;
        attempt->end.exit_code = outcome->warned_exit;
        attempt->end.signal = 0;
    } else if (attempt->duration_ms > spec->time_ms) {
        attempt->duration_ms =
            spec->time_ms + (outcome->ignores_term ? spec->grace_ms : 0);
        attempt->end.cause = CAUSE_TIMEOUT;
        attempt->end.exit_code = -1;
        attempt->end.signal = outcome->ignores_term ? SIGKILL : SIGTERM;
    }
}

static void add_attempt(struct fake *fake, const struct attempt_spec *spec,
                        const struct outcome *outcome)
{
    struct fake_attempt *attempt = mem_zero(sizeof(*attempt));
    struct fake_attempt **link = &fake->first;

    attempt->fake = fake;
    attempt->outcome = outcome;
    attempt->end = outcome->end;
    attempt->end.attempt = spec->attempt;
    attempt->directory = mem_copy_string(spec->directory);
    attempt->metrics_path = copy_variable(spec->envp, "SMTUNE_METRICS");
    attempt->output_path = copy_variable(spec->envp, "SMTUNE_OUTPUTS");
    attempt->checkpoint_directory =
        copy_variable(spec->envp, "SMTUNE_CHECKPOINT_DIR");
    if (text_list_has(spec->avoid, attempt->end.node) ||
        text_list_has((const char *const *)fake->avoided, attempt->end.node))
        snprintf(attempt->end.node, sizeof(attempt->end.node), "spare");
    attempt->duration_ms = outcome->duration_ms;
    attempt->grace_ms = spec->grace_ms;
    attempt->claim_fd = -1;
    attempt->cpus = spec->cpus;
    attempt->gpus = spec->gpus;
    limit(attempt, spec);
    uv_timer_init(fake->loop, &attempt->timer);
    attempt->timer.data = attempt;
    fake->open_parts++;
    fake->cpus_used += attempt->cpus;
    fake->gpus_used += attempt->gpus;
    while (*link != NULL)
        link = &(*link)->next;
    *link = attempt;
    run_waiting(fake);
}

/* -- The interface --------------------------------------------------------*/

static void on_room(uv_timer_t *timer)
{
    struct fake *fake = timer->data;

    fake->was_refused = false;
    fake->is_turn = true;
    fake->events.room(fake->events.user);
    fake->is_turn = false;
    if (!fake->was_refused)
        slots_give_up(fake->slots);
}

static void on_adopted_ended(void *user, const struct attempt_exit *end)
{
    struct fake *fake = user;

    if (!fake->is_closing)
        fake->events.ended(fake->events.user, end);
}

static struct executor *fake_create(uv_loop_t *loop,
                                    const struct executor_options *options,
                                    const struct executor_events *events,
                                    struct err *err)
{
    struct fake *fake = mem_zero(sizeof(*fake));

    if (fake_script_load(&fake->script, options->script, err) != 0) {
        free(fake);
        return NULL;
    }
    fake->base.type = &executor_fake;
    fake->events = *events;
    fake->loop = loop;
    fake->parallel = options->parallel > 0 ? (size_t)options->parallel : 1;
    fake->cpus = options->cpus >= 0 ? options->cpus : CPUS;
    fake->gpus = options->gpus >= 0 ? options->gpus : 0;
    fake->slots = slots_open("", 0, NULL, 0);
    fake->adopted = adopted_create(loop, on_adopted_ended, fake);
    uv_timer_init(loop, &fake->room);
    fake->room.data = fake;
    fake->open_parts = 2;
    return &fake->base;
}

static void on_room_closed(uv_handle_t *handle)
{
    on_part_closed(handle->data);
}

static void fake_destroy(struct executor *executor, void (*done)(void *user),
                         void *user)
{
    struct fake *fake = (struct fake *)executor;

    fake->is_closing = true;
    fake->done = done;
    fake->done_user = user;
    while (fake->first != NULL)
        remove_attempt(fake->first);
    uv_close((uv_handle_t *)&fake->room, on_room_closed);
    adopted_close(fake->adopted, on_part_closed, fake);
}

/* What is not to be had now is told in *lacks. */
static bool take(struct fake *fake, const struct attempt_spec *spec,
                 uint32_t *lacks)
{
    const struct attempt_spec pools = {.attempt = spec->attempt,
                                       .pools = spec->pools,
                                       .pool_count = spec->pool_count};
    uint32_t short_of = 0;

    if (spec->cpus > 0 && fake->cpus_used + spec->cpus > fake->cpus)
        short_of |= LACKS_CPUS;
    if (spec->gpus > 0 && fake->gpus_used + spec->gpus > fake->gpus)
        short_of |= LACKS_GPUS;
    *lacks |= short_of;
    if (short_of != 0)
        return false;
    if (slots_take(fake->slots, &pools, fake->is_turn, lacks))
        return true;
    if (!uv_is_active((uv_handle_t *)&fake->room))
        uv_timer_start(&fake->room, on_room, SLOTS_RETRY_MS, 0);
    return false;
}

static enum start_result fake_start(struct executor *executor,
                                    const struct attempt_spec *spec,
                                    uint32_t *lacks, struct err *err)
{
    struct fake *fake = (struct fake *)executor;
    const struct outcome *outcome;

    if (spec->cpus > fake->cpus || spec->gpus > fake->gpus)
        return err_set(err, ERR_FAILED,
                       "needs %d CPU%s and %d GPU%s, the executor has %d and "
                       "%d",
                       spec->cpus, units_plural(spec->cpus), spec->gpus,
                       units_plural(spec->gpus), fake->cpus, fake->gpus);
    if (executor_check_pools(spec, err) != 0)
        return START_ERROR;
    if (!take(fake, spec, lacks)) {
        fake->was_refused = true;
        return START_FULL;
    }
    outcome = fake_script_next(&fake->script, spec);
    if (outcome == NULL)
        outcome = &default_outcome;
    if (outcome->start != FAKE_OK)
        slots_release(fake->slots, spec->attempt);
    if (outcome->start == FAKE_ERROR)
        return err_set(err, ERR_FAILED, "%s",
                       outcome->end.text[0] != '\0'
                           ? outcome->end.text
                           : "start error from the script");
    if (outcome->start == FAKE_FULL) {
        uv_timer_start(&fake->room, on_room, (uint64_t)outcome->duration_ms, 0);
        return START_FULL;
    }
    add_attempt(fake, spec, outcome);
    return START_OK;
}

static void fake_cancel(struct executor *executor, int64_t id,
                        enum cancel_mode mode)
{
    struct fake *fake = (struct fake *)executor;
    struct fake_attempt *attempt = fake->first;
    int64_t delay_ms = 0;

    if (adopted_cancel(fake->adopted, id, mode))
        return;
    while (attempt != NULL && attempt->end.attempt != id)
        attempt = attempt->next;
    if (attempt == NULL)
        return;
    if (attempt->outcome->ignores_term && mode == CANCEL_TERM)
        delay_ms = attempt->grace_ms;
    attempt->end.cause = CAUSE_CANCELLED;
    attempt->end.exit_code = -1;
    attempt->end.signal = 0;
    if (attempt->has_started)
        attempt->end.signal = delay_ms > 0 || mode == CANCEL_KILL ? 9 : 15;
    uv_timer_start(&attempt->timer, on_end, (uint64_t)delay_ms, 0);
}

static int fake_reattach(struct executor *executor,
                         const struct attempt_spec *spec, struct err *err)
{
    return adopted_add(((struct fake *)executor)->adopted, spec, err);
}

static int fake_cpus(const struct executor *executor)
{
    return ((const struct fake *)executor)->cpus;
}

static int fake_gpus(const struct executor *executor)
{
    return ((const struct fake *)executor)->gpus;
}

const struct executor_type executor_fake = {
    .name = "fake",
    .create = fake_create,
    .destroy = fake_destroy,
    .start = fake_start,
    .cancel = fake_cancel,
    .reattach = fake_reattach,
    .avoid = fake_avoid,
    .cpus = fake_cpus,
    .gpus = fake_gpus,
};
