/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim_supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "executors/attempt_file.h"
#include "executors/shim_spawn.h"
#include "executors/shim_tree.h"

/*
 * An attempt's life here: it runs; it may be told to end (a limit, a
 * cancel), first by SIGTERM, then by SIGKILL; its command is reaped; what the
 * command left behind is killed; `exit` is written and `ended` called.
 *
 * What is left behind is cheap to rule out in the common case: nobody is in
 * the command's process group and nobody holds the claim's lock. Only a
 * process that left the group and closed all its files escapes that, and is
 * found by a census of /proc, which costs milliseconds and is therefore made
 * at most every CENSUS_MS while all looks well.
 *
 * A command's pid is safe to signal until it is reaped, and only we reap it:
 * so its group is killed after its death is known and before it is reaped.
 */

enum {
    CENSUS_MS = 200,
    MEMORY_MS = 100,
    CENSUS_REST = 20, /* times the time it takes */
    REPEAT_KILL_MS = 1000,
    REWRITE_MS = 1000,
    DRAIN_FIRST_MS = 1,
    DRAIN_STEP_MAX_MS = 50,
    OUTSIDER_MS = 1000, /* how long a lock held elsewhere is waited for */
    DRAIN_MAX_MS = 10000
};

struct supervisor {
    struct supervisor_events events;
    struct spawner spawner;
    struct attempt *attempts;
    struct attempt *unwritten; /* ended, but `exit` could not be written */
    size_t count;
    struct tree tree;
    int64_t census_ms; /* when the last was */
    int64_t armed_ms;  /* what the timer is set to */
    int64_t census_cost_ms;
    bool strays; /* there may be some since the last census */
    int signal_fd;
    int timer_fd;
};

static int64_t earlier(int64_t a, int64_t b)
{
    if (a == 0 || b == 0)
        return a == 0 ? b : a;
    return a < b ? a : b;
}

/* -- Ending ---------------------------------------------------------------*/

static void attempt_destroy(struct attempt *attempt)
{
    free(attempt->directory);
    free(attempt);
}

static void attempt_remove(struct supervisor *supervisor,
                           struct attempt *attempt)
{
    struct attempt **link = &supervisor->attempts;

    while (*link != NULL && *link != attempt)
        link = &(*link)->next;
    *link = attempt->next;
    supervisor->count--;
}

static bool written_or_gone(const struct attempt *attempt)
{
    struct err err;

    return exit_write(attempt->directory, &attempt->end, &err) == 0 ||
           err.kind == ERR_NOT_FOUND;
}

static void finish(struct supervisor *supervisor, struct attempt *attempt)
{
    struct attempt_exit end = attempt->end;

    attempt_remove(supervisor, attempt);
    supervisor->strays = true;
    if (written_or_gone(attempt)) {
        attempt_destroy(attempt);
    } else {
        attempt->check_ms = clock_monotonic_ms() + REWRITE_MS;
        attempt->next = supervisor->unwritten;
        supervisor->unwritten = attempt;
    }
    supervisor->events.ended(supervisor->events.user, &end);
}

static void rewrite_exits(struct supervisor *supervisor, int64_t now_ms)
{
    struct attempt **link = &supervisor->unwritten;

    while (*link != NULL) {
        struct attempt *attempt = *link;

        if (attempt->check_ms > now_ms) {
            link = &attempt->next;
        } else if (written_or_gone(attempt)) {
            *link = attempt->next;
            attempt_destroy(attempt);
        } else {
            attempt->check_ms = now_ms + REWRITE_MS;
            link = &attempt->next;
        }
    }
}

static void kill_now(struct attempt *attempt, int64_t now_ms)
{
    kill(-attempt->pid, SIGKILL);
    attempt->kill_ms = now_ms + REPEAT_KILL_MS;
}

static void terminate(struct attempt *attempt, enum attempt_cause cause,
                      int64_t now_ms)
{
    if (attempt->told == CAUSE_OK)
        attempt->told = cause;
    attempt->deadline_ms = 0;
    if (attempt->kill_ms != 0)
        return;
    attempt->kill_ms = now_ms + attempt->grace_ms;
    if (attempt->grace_ms <= 0) {
        kill_now(attempt, now_ms);
        return;
    }
    kill(-attempt->pid, SIGTERM);
    kill(-attempt->pid, SIGCONT);
}

static void take_census(struct supervisor *supervisor, int64_t now_ms)
{
    tree_census(&supervisor->tree, supervisor->attempts);
    supervisor->census_cost_ms = clock_monotonic_ms() - now_ms;
    supervisor->strays =
        tree_kill_strays(&supervisor->tree, supervisor->attempts) > 0;
    supervisor->census_ms = now_ms;
    for (struct attempt *a = supervisor->attempts; a != NULL; a = a->next) {
        if (a->rss_bytes > a->end.max_rss_bytes)
            a->end.max_rss_bytes = a->rss_bytes;
        if (a->reaped_ms != 0)
            tree_kill(&supervisor->tree, a);
    }
}

static bool looks_clear(const struct attempt *attempt)
{
    return kill(-attempt->pid, 0) != 0 && errno == ESRCH &&
           claim_is_free(attempt->directory);
}

/* Ends a reaped attempt if nothing of it is left. */
static void settle(struct supervisor *supervisor, struct attempt *attempt,
                   int64_t now_ms)
{
    int64_t waited_ms = now_ms - attempt->reaped_ms;

    if (looks_clear(attempt) && now_ms - supervisor->census_ms < CENSUS_MS) {
        finish(supervisor, attempt);
        return;
    }
    take_census(supervisor, now_ms);
    if ((attempt->living == 0 &&
         (claim_is_free(attempt->directory) || waited_ms > OUTSIDER_MS)) ||
        waited_ms > DRAIN_MAX_MS) {
        finish(supervisor, attempt);
        return;
    }
    if (waited_ms < DRAIN_FIRST_MS)
        waited_ms = DRAIN_FIRST_MS;
    attempt->check_ms =
        now_ms +
        (waited_ms < DRAIN_STEP_MAX_MS ? waited_ms : DRAIN_STEP_MAX_MS);
}

/* -- Reaping --------------------------------------------------------------*/

static int64_t cpu_ms(const struct rusage *usage)
{
    return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * INT64_C(1000) +
           (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1000;
}

static void note_end(struct attempt *attempt, int status,
                     const struct rusage *usage)
{
    struct attempt_exit *end = &attempt->end;

    end->ended_ms = clock_wall_ms();
    end->cpu_ms += cpu_ms(usage);
    if (usage->ru_maxrss * INT64_C(1024) > end->max_rss_bytes)
        end->max_rss_bytes = usage->ru_maxrss * INT64_C(1024);
    if (WIFEXITED(status))
        end->exit_code = WEXITSTATUS(status);
    else
        end->signal = WTERMSIG(status);
    if (attempt->told != CAUSE_OK)
        end->cause = attempt->told;
    else if (end->signal != 0)
        end->cause = CAUSE_SIGNAL;
    else
        end->cause = end->exit_code == 0 ? CAUSE_OK : CAUSE_EXIT;
}

static struct attempt *find_session(struct supervisor *supervisor,
                                    pid_t session)
{
    struct attempt *attempt = supervisor->attempts;

    while (attempt != NULL && attempt->pid != session)
        attempt = attempt->next;
    return attempt;
}

static void reap_orphan(struct supervisor *supervisor, pid_t pid)
{
    struct process process;
    struct attempt *attempt = NULL;
    struct rusage usage;

    if (process_read(pid, &process))
        attempt = find_session(supervisor, process.session);
    if (wait4(pid, NULL, 0, &usage) == pid && attempt != NULL)
        attempt->end.cpu_ms += cpu_ms(&usage);
}

static void reap_command(struct supervisor *supervisor, struct attempt *attempt,
                         int64_t now_ms)
{
    struct rusage usage;
    int status = 0;

    kill(-attempt->pid, SIGKILL);
    if (wait4(attempt->pid, &status, 0, &usage) != attempt->pid)
        return;
    note_end(attempt, status, &usage);
    attempt->reaped_ms = now_ms;
    attempt->deadline_ms = 0;
    attempt->kill_ms = 0;
    settle(supervisor, attempt, now_ms);
}

static void reap(struct supervisor *supervisor, int64_t now_ms)
{
    for (;;) {
        siginfo_t info = {.si_pid = 0};
        struct attempt *attempt;

        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid == 0)
            return;
        attempt = find_session(supervisor, info.si_pid);
        if (attempt != NULL && attempt->reaped_ms == 0)
            reap_command(supervisor, attempt, now_ms);
        else
            reap_orphan(supervisor, info.si_pid);
    }
}

/* -- Time -----------------------------------------------------------------*/

/* Where there are so many processes that a census takes long, it is made
 * less often. */
static int64_t memory_due_ms(const struct supervisor *supervisor)
{
    return supervisor->census_ms + MEMORY_MS +
           CENSUS_REST * supervisor->census_cost_ms;
}

static void check_memory(struct supervisor *supervisor, int64_t now_ms)
{
    bool limited = false;

    for (struct attempt *a = supervisor->attempts; a != NULL; a = a->next)
        limited |= a->memory_bytes > 0 && a->reaped_ms == 0;
    if (!limited || now_ms < memory_due_ms(supervisor))
        return;
    take_census(supervisor, now_ms);
    for (struct attempt *a = supervisor->attempts; a != NULL; a = a->next) {
        if (a->memory_bytes == 0 || a->rss_bytes <= a->memory_bytes ||
            (a->living > 1 &&
             tree_pss_bytes(&supervisor->tree, a) <= a->memory_bytes))
            continue;
        if (a->told == CAUSE_OK)
            a->told = CAUSE_OOM;
        kill_now(a, now_ms);
    }
}

static void check_time(struct supervisor *supervisor, int64_t now_ms)
{
    struct attempt *attempt, *next;

    for (attempt = supervisor->attempts; attempt != NULL; attempt = next) {
        next = attempt->next;
        if (attempt->reaped_ms != 0) {
            if (attempt->check_ms <= now_ms)
                settle(supervisor, attempt, now_ms);
            continue;
        }
        if (attempt->kill_ms != 0 && attempt->kill_ms <= now_ms)
            kill_now(attempt, now_ms);
        if (attempt->deadline_ms != 0 && attempt->deadline_ms <= now_ms)
            terminate(attempt, CAUSE_TIMEOUT, now_ms);
    }
    check_memory(supervisor, now_ms);
    if (supervisor->strays && now_ms - supervisor->census_ms >= CENSUS_MS)
        take_census(supervisor, now_ms);
    rewrite_exits(supervisor, now_ms);
}

static int64_t next_wake_ms(const struct supervisor *supervisor)
{
    int64_t wake_ms =
        supervisor->strays ? supervisor->census_ms + CENSUS_MS : 0;

    for (struct attempt *a = supervisor->attempts; a != NULL; a = a->next) {
        wake_ms = earlier(wake_ms, earlier(a->deadline_ms, a->kill_ms));
        wake_ms = earlier(wake_ms, a->check_ms);
        if (a->memory_bytes > 0)
            wake_ms = earlier(wake_ms, memory_due_ms(supervisor));
    }
    for (struct attempt *a = supervisor->unwritten; a != NULL; a = a->next)
        wake_ms = earlier(wake_ms, a->check_ms);
    return wake_ms;
}

static void arm_timer(struct supervisor *supervisor, int64_t wake_ms)
{
    struct itimerspec when = {
        .it_value = {wake_ms / 1000, wake_ms % 1000 * 1000000}};

    if (wake_ms == supervisor->armed_ms)
        return;
    supervisor->armed_ms = wake_ms;
    timerfd_settime(supervisor->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* -- The interface --------------------------------------------------------*/

/* Every signal has its default action then, also the two that libc keeps for
 * itself: its own signal() would not touch them. All zeroes are SIG_DFL. */
static void reset_signals(void)
{
    const unsigned char action[64] = {0};

    for (int number = 1; number < NSIG; number++)
        syscall(SYS_rt_sigaction, number, action, NULL, NSIG / 8);
}

static int own_signals(void)
{
    sigset_t all, watched;

    reset_signals();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGHUP);
    return signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
}

struct supervisor *supervisor_create(const struct supervisor_events *events,
                                     struct err *err)
{
    struct supervisor *supervisor = mem_zero(sizeof(*supervisor));

    supervisor->events = *events;
    supervisor->signal_fd = own_signals();
    supervisor->timer_fd =
        timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (spawner_init(&supervisor->spawner, err) != 0)
        goto fail;
    if (supervisor->signal_fd < 0 || supervisor->timer_fd < 0 ||
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
        err_set_errno(err, ERR_FAILED, errno, "cannot watch over processes");
        goto fail;
    }
    return supervisor;
fail:
    supervisor_destroy(supervisor);
    return NULL;
}

/* Until a census finds none; those that cannot be killed are left. */
static void end_strays(struct supervisor *supervisor)
{
    enum { ROUNDS_MAX = 200 };
    const struct timespec pause = {.tv_nsec = 1000000};

    for (int round = 0; round < ROUNDS_MAX; round++) {
        take_census(supervisor, clock_monotonic_ms());
        if (!supervisor->strays)
            return;
        nanosleep(&pause, NULL);
        reap(supervisor, clock_monotonic_ms());
    }
}

void supervisor_destroy(struct supervisor *supervisor)
{
    if (supervisor == NULL)
        return;
    end_strays(supervisor);
    tree_clear(&supervisor->tree);
    spawner_clear(&supervisor->spawner);
    if (supervisor->signal_fd >= 0)
        close(supervisor->signal_fd);
    if (supervisor->timer_fd >= 0)
        close(supervisor->timer_fd);
    free(supervisor);
}

static pid_t launch_failed(const struct attempt_spec *spec,
                           const struct err *err, struct attempt_exit *end)
{
    end->cause = CAUSE_LAUNCH_ERROR;
    end->ended_ms = end->started_ms;
    snprintf(end->text, sizeof(end->text), "%.*s", (int)sizeof(end->text) - 1,
             err->text);
    if (err->kind == ERR_BUSY)
        return -1;
    exit_write(spec->directory, end, NULL);
    return 0;
}

pid_t supervisor_start(struct supervisor *supervisor,
                       const struct attempt_spec *spec, const char *gpus,
                       struct attempt_exit *end)
{
    struct attempt *attempt;
    uint64_t pid_start;
    struct err err;
    pid_t pid;

    *end = (struct attempt_exit){.attempt = spec->attempt,
                                 .exit_code = -1,
                                 .started_ms = clock_wall_ms()};
    pid = spawn_command(&supervisor->spawner, spec, gpus, &pid_start, &err);
    if (pid < 0)
        return launch_failed(spec, &err, end);
    attempt = mem_zero(sizeof(*attempt));
    attempt->end = *end;
    attempt->directory = mem_copy_string(spec->directory);
    attempt->pid = pid;
    attempt->pid_start = pid_start;
    attempt->memory_bytes = spec->memory_bytes;
    attempt->grace_ms = spec->grace_ms;
    if (spec->time_ms > 0)
        attempt->deadline_ms = clock_monotonic_ms() + spec->time_ms;
    attempt->next = supervisor->attempts;
    supervisor->attempts = attempt;
    supervisor->count++;
    return pid;
}

void supervisor_cancel(struct supervisor *supervisor, int64_t id,
                       enum cancel_mode mode)
{
    struct attempt *attempt = supervisor->attempts;
    siginfo_t info = {.si_pid = 0};
    int64_t now_ms = clock_monotonic_ms();

    while (attempt != NULL && attempt->end.attempt != id)
        attempt = attempt->next;
    if (attempt == NULL || attempt->reaped_ms != 0)
        return;
    waitid(P_PID, (id_t)attempt->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    if (info.si_pid != 0)
        return;
    terminate(attempt, CAUSE_CANCELLED, now_ms);
    if (mode == CANCEL_KILL)
        kill_now(attempt, now_ms);
}

size_t supervisor_count(const struct supervisor *supervisor)
{
    return supervisor->count;
}

bool supervisor_is_idle(const struct supervisor *supervisor)
{
    return supervisor->count == 0 && supervisor->unwritten == NULL;
}

static void on_signals(struct supervisor *supervisor)
{
    struct signalfd_siginfo info;

    while (read(supervisor->signal_fd, &info, sizeof(info)) == sizeof(info)) {
        if (info.ssi_signo != SIGCHLD)
            supervisor->events.signalled(supervisor->events.user,
                                         (int)info.ssi_signo);
    }
}

short supervisor_turn(struct supervisor *supervisor, int fd, short events,
                      int64_t wake_ms)
{
    struct pollfd polled[] = {
        {.fd = supervisor->signal_fd, .events = POLLIN},
        {.fd = supervisor->timer_fd, .events = POLLIN},
        {.fd = fd, .events = events},
    };
    uint64_t expirations;

    arm_timer(supervisor, earlier(wake_ms, next_wake_ms(supervisor)));
    if (poll(polled, ARRAY_LEN(polled), -1) < 0)
        return 0;
    if (polled[1].revents != 0 &&
        read(supervisor->timer_fd, &expirations, sizeof(expirations)) > 0)
        supervisor->armed_ms = 0;
    if (polled[0].revents != 0) {
        on_signals(supervisor);
        reap(supervisor, clock_monotonic_ms());
    }
    if (polled[0].revents != 0 || polled[1].revents != 0)
        check_time(supervisor, clock_monotonic_ms());
    return polled[2].revents;
}
