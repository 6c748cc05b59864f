/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/pilot.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/attempt_file.h"
#include "executors/attempt/pilot_spool.h"
#include "executors/attempt/pulse.h"
#include "executors/attempt/shim_status.h"
#include "executors/machine/cpus.h"
#include "executors/machine/gpus.h"
#include "executors/machine/process_table.h"
#include "executors/shim/beat.h"
#include "executors/shim/node.h"
#include "executors/shim/queue.h"

enum {
    MARGIN_MS = 5000, /* of its time, to write what is to be written */
    MARGIN_PART = 10, /* or so much of all its time, where that is less */
    TALK_MS = 100,    /* between two looks for another engine's talk */
    ENGINE_MS = 1000, /* between two looks at the engine's pulse */
    LAST_WORDS_MS = 2000
};

struct pilot {
    const struct shim_options *options;
    char *directory;
    struct queue queue;
    struct beat beat;
    struct spool_reader inbox;
    struct spool_writer outbox;
    int talk;        /* the number of the engine that it has to do with */
    int64_t talk_ms; /* when to look for another; all are monotonic */
    int64_t wait_ms; /* between two looks at the inbox */
    int64_t look_ms; /* when the next is due */
    int64_t over_ms; /* when its time is over; 0: never */
    int64_t idle_ms; /* since when nothing was to be done; 0: something is */
    struct pulse_watch engine;
    int64_t engine_ms; /* when to look at it */
    bool is_alone;     /* no engine lives */
    bool is_drained;   /* by its engine */
    bool takes_no_more;
    bool is_ending; /* what runs, too */
    bool was_killed;
};

static void say(const char *text)
{
    fprintf(stderr, "smtune-shim: %s\n", text);
}

/* -- What it tells --------------------------------------------------------*/

static void tell_drain(struct pilot *pilot)
{
    agent_put(pilot->queue.out, AGENT_DRAIN, "", 0);
}

/* Once that is said nothing begins here: so the engine may count on it. */
static void take_no_more(struct pilot *pilot)
{
    if (pilot->takes_no_more)
        return;
    pilot->takes_no_more = true;
    queue_drop(&pilot->queue);
    tell_drain(pilot);
}

static void end_all(struct pilot *pilot, enum attempt_cause cause,
                    const char *text)
{
    if (pilot->is_ending)
        return;
    say(text);
    take_no_more(pilot);
    pilot->is_ending = true;
    supervisor_end_all(pilot->queue.supervisor, cause, CANCEL_TERM, text);
}

static void kill_all(struct pilot *pilot, const char *text)
{
    if (pilot->was_killed)
        return;
    say(text);
    take_no_more(pilot);
    pilot->is_ending = pilot->was_killed = true;
    supervisor_end_all(pilot->queue.supervisor, CAUSE_NODE_FAIL, CANCEL_KILL,
                       text);
    beat_stop(&pilot->beat);
}

static void tell_running(void *user, const struct supervised *attempt)
{
    const struct agent_started started = {attempt->attempt, attempt->pid};

    agent_put(user, AGENT_STARTED, &started, sizeof(started));
}

static int64_t margin_ms(const struct shim_options *options)
{
    return options->left_ms / MARGIN_PART < MARGIN_MS
               ? options->left_ms / MARGIN_PART
               : MARGIN_MS;
}

static void tell_ready(struct pilot *pilot)
{
    const struct shim_options *options = pilot->options;
    struct agent_ready ready = {.cpus = (int32_t)options->cpus,
                                .gpus = (int32_t)options->gpus,
                                .memory_bytes = options->memory_bytes};

    if (pilot->over_ms != 0) {
        ready.left_ms =
            pilot->over_ms - margin_ms(options) - clock_monotonic_ms();
        if (ready.left_ms < 1)
            ready.left_ms = 1;
    }
    node_name(ready.node);
    agent_put(pilot->queue.out, AGENT_READY, &ready, sizeof(ready));
    supervisor_each(pilot->queue.supervisor, tell_running, pilot->queue.out);
    if (pilot->takes_no_more || pilot->is_drained)
        tell_drain(pilot);
}

/* -- What engines say -----------------------------------------------------*/

static bool has_talk(const struct pilot *pilot, int number)
{
    char name[32];

    snprintf(name, sizeof(name), "inbox.%d", number);
    return pulse_is_marked(pilot->directory, name);
}

/* What the last engine had to say and was not read is of no use to this one;
 * what it ought to have been told is in files. */
static void begin_talk(struct pilot *pilot, int number)
{
    char *in = mem_printf("%s/inbox.%d", pilot->directory, number);
    char *out = mem_printf("%s/outbox.%d", pilot->directory, number);
    struct spool_writer outbox;
    struct err err;

    if (spool_writer_open(&outbox, out, &err) == 0) {
        spool_reader_clear(&pilot->inbox);
        spool_writer_close(&pilot->outbox);
        queue_drop(&pilot->queue);
        pilot->talk = number;
        pilot->outbox = outbox;
        spool_reader_init(&pilot->inbox, in);
        tell_ready(pilot);
        pilot->takes_no_more |= pilot->is_drained;
    } else {
        say(err.text);
    }
    free(in);
    free(out);
}

static void find_talk(struct pilot *pilot, int64_t now_ms)
{
    int number = pilot->talk > 0 ? pilot->talk : 1;

    if (now_ms < pilot->talk_ms)
        return;
    pilot->talk_ms = now_ms + TALK_MS;
    while (has_talk(pilot, number + 1))
        number++;
    if (number != pilot->talk)
        begin_talk(pilot, number);
}

static int on_message(struct pilot *pilot, const struct agent_message *message)
{
    if (message->kind == AGENT_DRAIN) {
        pilot->is_drained = true;
        return 0;
    }
    if (message->kind == AGENT_START && pilot->takes_no_more)
        return 0;
    return queue_take(&pilot->queue, message);
}

/* Whether anything came. What is no message is a damaged file: nothing more
 * will be understood of it, but another engine may begin a new one. */
static bool hear(struct pilot *pilot)
{
    struct agent_message message;
    bool came = spool_read(&pilot->inbox, NULL) > 0;

    while (spool_next(&pilot->inbox, &message) > 0) {
        if (on_message(pilot, &message) != 0)
            say("invalid message from an engine");
    }
    return came;
}

/* Looks at the files, and tells what there is to tell. */
static void look(struct pilot *pilot, int64_t now_ms)
{
    bool came = false;

    find_talk(pilot, now_ms);
    if (pilot->talk > 0) {
        came = hear(pilot);
        queue_turn(&pilot->queue);
        came |= pilot->queue.out->length > 0;
        came &= spool_write(&pilot->outbox, NULL) == 0;
    }
    pilot->look_ms = now_ms + spool_wait_ms(&pilot->wait_ms, came);
}

/* -- Its life -------------------------------------------------------------*/

static void on_ended(void *user, const struct attempt_exit *end)
{
    struct pilot *pilot = user;

    queue_ended(&pilot->queue, end);
}

/* Somebody cancelled the allocation, or Slurm wants it back: which, the engine
 * learns from Slurm. */
static void on_signal(void *user, int signal_number)
{
    (void)signal_number;
    end_all(user, CAUSE_CANCELLED, "slurm stopped the allocation of its pilot");
}

static void find_grace(void *user, const struct supervised *attempt)
{
    int64_t *longest_ms = user;

    if (attempt->grace_ms > *longest_ms)
        *longest_ms = attempt->grace_ms;
}

/* When it has to begin to end what runs; 0: never. */
static int64_t ending_due_ms(const struct pilot *pilot)
{
    int64_t grace_ms = 0;

    if (pilot->over_ms == 0 || pilot->is_ending)
        return 0;
    supervisor_each(pilot->queue.supervisor, find_grace, &grace_ms);
    return pilot->over_ms - margin_ms(pilot->options) - grace_ms;
}

static void watch_engine(struct pilot *pilot, int64_t now_ms)
{
    const struct shim_options *options = pilot->options;

    if (options->engine == NULL || now_ms < pilot->engine_ms)
        return;
    pilot->engine_ms = now_ms + ENGINE_MS;
    pilot->is_alone = pulse_silence_ms(&pilot->engine, options->engine,
                                       now_ms) >= options->silence_ms;
}

static void watch(struct pilot *pilot, int64_t now_ms)
{
    enum beat_state state = beat_listen(&pilot->beat, now_ms);
    int64_t ending_ms = ending_due_ms(pilot);

    if (state == BEAT_REVOKED)
        kill_all(pilot, "killed: its node sent no sign of life, and the trial "
                        "continues elsewhere");
    else if (state == BEAT_SILENT)
        kill_all(pilot, "killed: no sign of life, because the folder of its "
                        "pilot could not be written");
    if (ending_ms != 0 && ending_ms <= now_ms)
        end_all(pilot, CAUSE_PREEMPTED, "time limit of its pilot reached");
    watch_engine(pilot, now_ms);
}

/* Whether there is nothing more to do, and will be none. */
static bool is_over(struct pilot *pilot, int64_t now_ms)
{
    const struct shim_options *options = pilot->options;
    const struct queue *queue = &pilot->queue;

    if (pilot->was_killed)
        return supervisor_count(queue->supervisor) == 0;
    if (queue->waiting > 0 || !supervisor_is_idle(queue->supervisor)) {
        pilot->idle_ms = 0;
        return false;
    }
    if (pilot->idle_ms == 0)
        pilot->idle_ms = now_ms;
    return pilot->is_drained || pilot->takes_no_more || pilot->is_alone ||
           (options->idle_ms > 0 &&
            now_ms - pilot->idle_ms >= options->idle_ms);
}

static void sooner(int64_t *wake_ms, int64_t due_ms)
{
    if (due_ms != 0 && due_ms < *wake_ms)
        *wake_ms = due_ms;
}

static int64_t wake_ms(const struct pilot *pilot)
{
    int64_t wake = pilot->look_ms;

    sooner(&wake, queue_wake_ms(&pilot->queue));
    sooner(&wake, beat_due_ms(&pilot->beat));
    sooner(&wake, ending_due_ms(pilot));
    return wake;
}

static void serve(struct pilot *pilot)
{
    int64_t now_ms = clock_monotonic_ms();

    while (!is_over(pilot, now_ms)) {
        supervisor_turn(pilot->queue.supervisor, pilot->beat.fd, POLLIN,
                        wake_ms(pilot));
        now_ms = clock_monotonic_ms();
        watch(pilot, now_ms);
        queue_turn(&pilot->queue);
        if (pilot->queue.out->length > 0)
            sooner(&pilot->look_ms, now_ms + SPOOL_POLL_MIN_MS);
        if (now_ms >= pilot->look_ms)
            look(pilot, now_ms);
    }
}

static void say_last_words(struct pilot *pilot)
{
    const struct timespec pause = {.tv_nsec = 50 * 1000000L};
    int64_t end_ms = clock_monotonic_ms() + LAST_WORDS_MS;

    take_no_more(pilot);
    while (pilot->talk > 0 && spool_write(&pilot->outbox, NULL) > 0 &&
           clock_monotonic_ms() < end_ms)
        nanosleep(&pause, NULL);
}

/* -- Its beginning --------------------------------------------------------*/

/* Returns the descriptor, to be held for as long as it lives. */
static int take_claim(const char *directory, struct err *err)
{
    struct claim claim = {.pid = getpid(), .time_ms = clock_wall_ms()};
    int fd = claim_create(directory, err);
    char line[CLAIM_LINE_MAX];
    struct process self;

    if (fd < 0)
        return -1;
    claim_identify(&claim);
    node_name(claim.node);
    claim.job = node_job();
    claim.shim_pid = claim.pid;
    if (process_read(getpid(), &self))
        claim.pid_start = claim.shim_start = self.start;
    if (fs_write_all(fd, line, claim_format(&claim, line)) == 0)
        return fd;
    err_set_errno(err, ERR_FAILED, errno, "cannot write '%s/claim'", directory);
    close(fd);
    return -1;
}

/* The names of the allocation's GPUs: where it says none, as CUDA counts. */
static struct slots *open_slots(const struct shim_options *options)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    struct gpu gpus[GPUS_MAX];
    size_t count = options->gpus < GPUS_MAX ? (size_t)options->gpus : GPUS_MAX;
    size_t named = visible != NULL ? gpus_parse(visible, gpus) : 0;

    for (size_t i = named; i < count; i++)
        snprintf(gpus[i].name, sizeof(gpus[i].name), "%zu", i);
    return slots_open(NULL, (int)options->cpus, gpus, count);
}

static int fly(struct pilot *pilot, struct err *err)
{
    const struct shim_options *options = pilot->options;
    const struct supervisor_events events = {
        .ended = on_ended, .signalled = on_signal, .user = pilot};
    struct queue *queue = &pilot->queue;
    char node[EXECUTOR_NODE_MAX], *programs;

    if (beat_start(&pilot->beat, pilot->directory, options->heartbeat_ms,
                   options->silence_ms, err) != 0)
        return SHIM_FAILED;
    queue->supervisor = supervisor_create(&events, err);
    if (queue->supervisor == NULL)
        return SHIM_FAILED;
    if (!options->without_cgroups)
        supervisor_use_cgroups(queue->supervisor, 0);
    node_name(node);
    supervisor_say_place(queue->supervisor, node, node_job(), true);
    programs = fs_program_directory();
    queue->programs = programs;
    queue->slots = open_slots(options);
    queue->parallel = SLOTS_CPUS_MAX;
    queue->memory_bytes = options->memory_bytes;
    queue->hides_gpus = options->gpus > 0;
    queue->out = spool_out(&pilot->outbox);
    serve(pilot);
    say_last_words(pilot);
    supervisor_destroy(queue->supervisor);
    beat_stop(&pilot->beat);
    slots_close(queue->slots);
    free(programs);
    return 0;
}

int pilot_run(const struct shim_options *said, struct err *err)
{
    struct shim_options has = *said;
    const struct shim_options *options = &has;
    struct pilot pilot = {.options = options,
                          .directory = fs_absolute(options->pilot),
                          .outbox = {.fd = -1}};
    const struct attempt_spec needs = {.directory = pilot.directory,
                                       .gpus = (int)options->gpus,
                                       .memory_bytes = options->memory_bytes};
    int status = SHIM_UNHEALTHY, claim_fd;

    if (has.cpus == 0)
        has.cpus = cpus_find("");
    if (options->left_ms > 0)
        pilot.over_ms = clock_monotonic_ms() + options->left_ms;
    if (node_is_healthy(options, &needs, err)) {
        claim_fd = take_claim(pilot.directory, err);
        status = SHIM_FAILED;
        if (claim_fd >= 0)
            status = fly(&pilot, err);
        if (claim_fd >= 0)
            close(claim_fd);
        if (claim_fd < 0 && err->kind == ERR_BUSY) {
            err->kind = ERR_NONE;
            status = 0;
        }
    }
    spool_reader_clear(&pilot.inbox);
    spool_writer_close(&pilot.outbox);
    free(pilot.directory);
    return status;
}
