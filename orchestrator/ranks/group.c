/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ranks/group.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/system/orphans.h"
#include "executors/machine/cpu_places.h"
#include "executors/machine/process_table.h"
#include "orchestrator/ranks/env.h"
#include "orchestrator/ranks/output.h"
#include "orchestrator/ranks/spawn.h"
#include "orchestrator/ranks/warned.h"

/*
 * All that happens leads to go_on(), which does what is due. While ranks live,
 * that is nothing, or (`kill_ms` has come) to kill them and all below them.
 * When the last has ended, what they left, which becomes our children, is
 * killed until we have none; then what was written is read to its end.
 */

enum {
    KILL_SIGNALS = 3,    /* so many from outside kill */
    KILL_AGAIN_MS = 100, /* where ranks live on */
    READER_MS = 1000,    /* for who reads our output, after two signals */
    ORDER_MS = 200,      /* for one that all were told, to come here too */
    SWEEP_MS = 10,       /* between two looks at what is left */
    SWEEPS_MAX = 500,    /* what cannot be killed in so many, is left */
    STATUS_TOLD = 1,     /* of one of many: less than all that may be wrong */
    STATUS_NOT_FOUND = 127,
    STATUS_NOT_STARTED = 126,
    STATUS_SIGNAL = 128
};

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

static bool is_passed_on(int signal_number)
{
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++) {
        if (passed_on[i] == signal_number)
            return true;
    }
    return false;
}

struct rank {
    pid_t pid; /* 0: it does not run */
    struct env_list environment;
};

struct rank_group {
    const struct rank_group_options *options;
    struct rank_meeting meeting;
    struct rank_outputs *outputs;
    struct rank *items; /* [tasks] */
    int living;
    bool is_ending;   /* SIGTERM or another signal was sent to them */
    bool is_warned;   /* of their end, before it */
    int64_t kill_ms;  /* monotonic: when they are killed; 0: not */
    int signal;       /* the first one from outside that ends them; 0: none */
    int signal_count; /* how many of those came */
    int sweeps;
    bool is_swept; /* nothing is left */
    bool has_failed;
    struct rank_failure failure; /* then: without its texts */
    struct buf tail;
    struct err start_error; /* ERR_NONE: all could be started */
    int status;
    uv_loop_t loop;
    uv_timer_t timer;
    uv_signal_t child;
    uv_signal_t signals[ARRAY_LEN(passed_on)];
    uv_signal_t warning; /* where that is another one */
    uv_poll_t orders;    /* on standard input, of one rank of many */
    bool has_orders;
    bool is_ordered; /* to end, by whoever started them all */
    bool has_waited; /* for an order that it may have ended of */
};

static void go_on(struct rank_group *ranks);

/* ---- ending ---- */

/* To the ranks with all of their group, as a terminal does it. */
static void signal_groups(struct rank_group *ranks, int signal_number)
{
    for (int i = 0; i < ranks->options->tasks; i++) {
        if (ranks->items[i].pid != 0)
            kill(-ranks->items[i].pid, signal_number);
    }
}

/* To those processes of a rank that handle it: the others may die of it. */
static void warn_ranks(struct rank_group *ranks, int signal_number)
{
    struct process_table table = {NULL, 0, 0};

    process_table_read(&table);
    for (int i = 0; i < ranks->options->tasks; i++) {
        struct process *process =
            process_table_find(&table, ranks->items[i].pid);

        if (process != NULL)
            process->owner = &ranks->items[i];
    }
    process_table_hand_down(&table);
    for (int i = 0; i < ranks->options->tasks; i++)
        process_table_warn(&table, &ranks->items[i], signal_number);
    process_table_clear(&table);
}

static void begin_ending(struct rank_group *ranks)
{
    signal_groups(ranks, SIGCONT); /* one that is stopped ends only then */
    if (ranks->is_ending)
        return;
    ranks->is_ending = true;
    ranks->kill_ms = clock_monotonic_ms() + ranks->options->grace_ms;
}

/* The first that fails decides; those after it mostly fail because of it. After
 * the warning each ends for itself: others may be at their checkpoints. */
static void fail(struct rank_group *ranks, const struct rank_failure *failure,
                 int status)
{
    if (ranks->has_failed)
        return;
    ranks->has_failed = true;
    ranks->status = status;
    ranks->failure = *failure;
    if (ranks->is_warned && !ranks->is_ending) {
        ranks->failure.was_warned = true;
        return;
    }
    if (ranks->options->meeting == NULL)
        ranks->failure.others = ranks->living;
    else
        ranks->failure.others = ranks->meeting.tasks - 1;
    rank_outputs_tail(ranks->outputs, failure->rank - ranks->meeting.first,
                      &ranks->tail);
    if (!ranks->is_ending)
        signal_groups(ranks, SIGTERM);
    begin_ending(ranks);
}

static int status_of(const struct rank_group *ranks, int wait_status)
{
    int signal_number;

    if (WIFEXITED(wait_status))
        return WEXITSTATUS(wait_status);
    signal_number = WTERMSIG(wait_status);
    if (signal_number == SIGKILL && ranks->signal != 0)
        signal_number = ranks->signal; /* we did that, because of it */
    return STATUS_SIGNAL + signal_number;
}

static void on_rank_end(struct rank_group *ranks, int rank, int wait_status)
{
    struct rank_failure failure = {
        .rank = ranks->meeting.first + rank,
        .exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1,
        .signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0,
    };
    int status = status_of(ranks, wait_status);

    ranks->items[rank].pid = 0;
    ranks->living--;
    rank_outputs_drain(ranks->outputs, rank);
    if (status != 0)
        fail(ranks, &failure, status);
}

/* Ranks, and orphans that have become our children. */
static void reap(struct rank_group *ranks)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (int i = 0; i < ranks->options->tasks; i++) {
            if (ranks->items[i].pid == pid) {
                on_rank_end(ranks, i, status);
                break;
            }
        }
    }
}

/* ---- what is due ---- */

static void on_timer(uv_timer_t *timer)
{
    go_on(timer->data);
}

static void sweep(struct rank_group *ranks)
{
    size_t seen = process_signal_descendants(getpid(), SIGKILL);
    ptrdiff_t children;

    reap(ranks);
    children = process_kill_children();
    if (children == 0 || (children < 0 && seen == 0) ||
        ++ranks->sweeps > SWEEPS_MAX)
        ranks->is_swept = true;
    else
        uv_timer_start(&ranks->timer, on_timer, SWEEP_MS, 0);
}

static void wait_for_ranks(struct rank_group *ranks)
{
    int64_t now_ms = clock_monotonic_ms();

    if (ranks->kill_ms == 0)
        return;
    if (ranks->kill_ms <= now_ms) {
        process_signal_descendants(getpid(), SIGKILL);
        ranks->kill_ms = now_ms + KILL_AGAIN_MS;
    }
    uv_timer_start(&ranks->timer, on_timer, (uint64_t)(ranks->kill_ms - now_ms),
                   0);
}

/* Its status is to be heard, and Slurm ends all tasks when one has failed. */
static void hear_no_more(int warning)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        sigaddset(&set, passed_on[i]);
    if (warning != 0)
        sigaddset(&set, warning);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void close_all(struct rank_group *ranks)
{
    if (uv_is_closing((uv_handle_t *)&ranks->timer))
        return;
    if (ranks->options->meeting != NULL)
        hear_no_more(ranks->options->warning);
    rank_outputs_close(ranks->outputs);
    uv_close((uv_handle_t *)&ranks->timer, NULL);
    uv_close((uv_handle_t *)&ranks->child, NULL);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        uv_close((uv_handle_t *)&ranks->signals[i], NULL);
    uv_close((uv_handle_t *)&ranks->warning, NULL);
    if (ranks->has_orders)
        uv_close((uv_handle_t *)&ranks->orders, NULL);
}

/* Where one of many failed, all are told to end by Slurm, each process of each
 * rank; so one may end of it before this process hears of it. */
static bool wait_for_order(struct rank_group *ranks)
{
    if (ranks->options->meeting == NULL || !ranks->has_failed ||
        ranks->failure.was_warned || ranks->signal != 0 || ranks->has_waited)
        return false;
    ranks->has_waited = true;
    uv_timer_start(&ranks->timer, on_timer, ORDER_MS, 0);
    return true;
}

static void on_reader_late(uv_timer_t *timer)
{
    close_all(timer->data);
}

static void go_on(struct rank_group *ranks)
{
    if (ranks->living > 0)
        wait_for_ranks(ranks);
    else if (!ranks->is_swept)
        sweep(ranks);
    if (!ranks->is_swept)
        return;
    if (rank_outputs_are_done(ranks->outputs) && !wait_for_order(ranks))
        close_all(ranks);
    else if (ranks->signal_count > 1)
        uv_timer_start(&ranks->timer, on_reader_late, READER_MS, 0);
}

static void on_child(uv_signal_t *handle, int signal_number)
{
    struct rank_group *ranks = handle->data;

    (void)signal_number;
    reap(ranks);
    go_on(ranks);
}

static void on_output_done(void *user)
{
    go_on(user);
}

static bool ends_ranks(int signal_number)
{
    return signal_number == SIGINT || signal_number == SIGTERM ||
           signal_number == SIGHUP;
}

/* Whether this is the warning, which comes once. */
static bool is_warning(struct rank_group *ranks, int signal_number)
{
    bool is_first = signal_number == ranks->options->warning &&
                    !ranks->is_warned && !ranks->is_ending;

    ranks->is_warned |= is_first;
    return is_first;
}

static void pass_on(struct rank_group *ranks, int signal_number)
{
    bool warns = is_warning(ranks, signal_number);

    if (!ends_ranks(signal_number)) {
        warn_ranks(ranks, signal_number);
        return;
    }
    signal_groups(ranks, signal_number);
    if (warns) /* those that do not handle it end of it, as alone */
        return;
    if (ranks->signal == 0)
        ranks->signal = signal_number;
    begin_ending(ranks);
    if (++ranks->signal_count >= KILL_SIGNALS)
        ranks->kill_ms = clock_monotonic_ms();
    if (ranks->is_swept) /* only a reader of our output is waited for */
        close_all(ranks);
    else
        go_on(ranks);
}

static void on_signal(uv_signal_t *handle, int signal_number)
{
    pass_on(handle->data, signal_number);
}

/* Whoever tells one rank of many what the others are told. */
static void on_order(uv_poll_t *poll, int status, int events)
{
    struct rank_group *ranks = poll->data;
    unsigned char order = SIGTERM;
    ssize_t count = read(STDIN_FILENO, &order, 1);

    (void)status, (void)events;
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count <= 0)
        uv_poll_stop(poll);
    if (is_passed_on(order) || order == ranks->options->warning)
        pass_on(ranks, order);
    ranks->is_ordered |= ends_ranks(order) && ranks->signal != 0;
}

/* ---- starting ---- */

/* A job in the background must not take its shell's input. */
static bool is_background_terminal(int fd)
{
    pid_t front = tcgetpgrp(fd);

    return front > 0 && front != getpgrp();
}

/* What ranks share when they start. */
struct spawning {
    int null_fd;
    struct cpu_place places[CPU_SETSIZE]; /* that this process may run on */
    int place_count;                      /* 0: ranks are not pinned */
};

/* Its share of the CPUs. */
static const cpu_set_t *find_cpus(const struct rank_group *ranks,
                                  const struct spawning *spawning, int rank,
                                  cpu_set_t *set)
{
    int first, end;

    if (spawning->place_count == 0)
        return NULL;
    rank_share(rank, ranks->options->tasks, spawning->place_count, &first,
               &end);
    CPU_ZERO(set);
    for (int i = first; i < end; i++)
        CPU_SET(spawning->places[i].cpu, set);
    return set;
}

static int spawn(struct rank_group *ranks, const struct spawning *spawning,
                 int rank, struct err *err)
{
    struct rank *item = &ranks->items[rank];
    struct rank_spec spec = {.argv = ranks->options->argv,
                             .in_fd = spawning->null_fd};
    cpu_set_t cpus;
    int result;

    env_list_inherit(&item->environment, ranks->options->environment);
    rank_env_set(&item->environment, &ranks->meeting, rank);
    spec.envp = item->environment.items;
    spec.cpus = find_cpus(ranks, spawning, rank, &cpus);
    if (rank == 0 && ranks->options->meeting == NULL &&
        !is_background_terminal(STDIN_FILENO))
        spec.in_fd = STDIN_FILENO;
    result = rank_outputs_open(ranks->outputs, rank, &spec.out_fd, &spec.err_fd,
                               err);
    if (result == 0)
        result = item->pid = rank_spawn(&spec, err);
    rank_outputs_started(ranks->outputs, rank);
    env_list_clear(&item->environment);
    if (result < 0)
        item->pid = 0;
    else
        ranks->living++;
    return result < 0 ? -1 : 0;
}

static void spawn_all(struct rank_group *ranks)
{
    struct spawning spawning = {.null_fd =
                                    open("/dev/null", O_RDONLY | O_CLOEXEC)};
    struct err *err = &ranks->start_error;

    if (ranks->options->pins)
        spawning.place_count = (int)cpu_places_find("", spawning.places);
    for (int rank = 0; rank < ranks->options->tasks; rank++) {
        struct rank_failure failure = {.rank = ranks->meeting.first + rank,
                                       .exit_code = -1};

        if (spawn(ranks, &spawning, rank, err) == 0)
            continue;
        fail(ranks, &failure,
             err->kind == ERR_NOT_FOUND ? STATUS_NOT_FOUND
                                        : STATUS_NOT_STARTED);
        break;
    }
    close(spawning.null_fd);
}

static void start_handles(struct rank_group *ranks)
{
    uv_timer_init(&ranks->loop, &ranks->timer);
    ranks->timer.data = ranks;
    uv_signal_init(&ranks->loop, &ranks->child);
    ranks->child.data = ranks;
    uv_signal_start(&ranks->child, on_child, SIGCHLD);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++) {
        uv_signal_init(&ranks->loop, &ranks->signals[i]);
        ranks->signals[i].data = ranks;
        uv_signal_start(&ranks->signals[i], on_signal, passed_on[i]);
    }
    uv_signal_init(&ranks->loop, &ranks->warning);
    ranks->warning.data = ranks;
    if (ranks->options->warning != 0 && !is_passed_on(ranks->options->warning))
        uv_signal_start(&ranks->warning, on_signal, ranks->options->warning);
    if (ranks->options->meeting == NULL ||
        uv_poll_init(&ranks->loop, &ranks->orders, STDIN_FILENO) != 0)
        return;
    ranks->has_orders = true;
    ranks->orders.data = ranks;
    uv_poll_start(&ranks->orders, UV_READABLE, on_order);
}

/* Who ended them by a signal knows why they ended. */
static void tell(struct rank_group *ranks)
{
    const struct rank_group_options *options = ranks->options;
    const struct err *lost = rank_outputs_error(ranks->outputs);

    if (ranks->has_failed && ranks->signal == 0 &&
        (!ranks->failure.was_warned || options->meeting == NULL)) {
        ranks->failure.tail = buf_text(&ranks->tail);
        if (ranks->start_error.kind != ERR_NONE)
            ranks->failure.start_error = ranks->start_error.text;
        options->failed(options->user, &ranks->failure);
    }
    if (lost != NULL)
        options->log_lost(options->user, lost);
}

/* What the process exits with. */
static int find_status(const struct rank_group *ranks)
{
    const struct rank_end end = {ranks->failure.rank, ranks->status,
                                 clock_wall_ms()};

    if (ranks->options->meeting == NULL || ranks->status == 0)
        return ranks->status;
    if (ranks->signal != 0)
        return ranks->is_ordered ? 0 : STATUS_TOLD;
    if (ranks->failure.was_warned && ranks->options->log_directory != NULL &&
        rank_end_write(ranks->options->log_directory, &end, NULL) == 0)
        return 0;
    return ranks->status;
}

int rank_group_run(const struct rank_group_options *options, int *status,
                   struct err *err)
{
    struct rank_group ranks = {.options = options};
    struct rank_output_options output = {
        .loop = &ranks.loop,
        .tasks = options->tasks,
        .first = options->meeting != NULL ? options->meeting->first : 0,
        .log_directory = options->log_directory,
        .tag = options->tag,
        .done = on_output_done,
        .user = &ranks,
    };
    int result = -1;

    *status = 0;
    if (options->meeting != NULL)
        ranks.meeting = *options->meeting;
    else if (rank_meeting_arrange(&ranks.meeting, options->tasks,
                                  options->split_gpus, err) != 0)
        return -1;
    if (orphans_adopt() != 0)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot watch over processes");
    uv_loop_init(&ranks.loop);
    ranks.outputs = rank_outputs_create(&output, err);
    if (ranks.outputs != NULL) {
        ranks.items = mem_array((size_t)options->tasks, sizeof(*ranks.items));
        start_handles(&ranks);
        spawn_all(&ranks);
        go_on(&ranks);
        uv_run(&ranks.loop, UV_RUN_DEFAULT);
        tell(&ranks);
        *status = find_status(&ranks);
        result = 0;
        rank_outputs_destroy(ranks.outputs);
        buf_clear(&ranks.tail);
        free(ranks.items);
    }
    uv_loop_close(&ranks.loop);
    return result;
}
