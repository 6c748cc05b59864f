/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/system/orphans.h"
#include "executors/attempt/attempt_file.h"
#include "executors/machine/cgroup_place.h"
#include "executors/shim/ending.h"
#include "executors/shim/evidence.h"

enum {
    MEMORY_MS = 100,
    SHORT_MS = 100 /* on average: no groups for what asks for no limits */
};

static int64_t earlier(int64_t a, int64_t b)
{
    if (a == 0 || b == 0)
        return a == 0 ? b : a;
    return a < b ? a : b;
}

/* -- Time -----------------------------------------------------------------*/

static int64_t memory_due_ms(const struct supervisor *supervisor)
{
    return supervisor->census_ms + MEMORY_MS +
           CENSUS_REST * supervisor->census_cost_ms;
}

static int64_t groups_due_ms(const struct supervisor *supervisor)
{
    return supervisor->groups_ms + MEMORY_MS +
           CENSUS_REST * supervisor->groups_cost_ms;
}

/* A look at several processes is none at one moment: as some end, what they
 * shared is counted anew for the others. So it takes two of them. */
static bool is_over_memory(const struct supervisor *supervisor,
                           struct attempt *attempt)
{
    bool was_over = attempt->was_over;

    attempt->was_over = false;
    if (attempt->memory_bytes == 0 ||
        attempt->rss_bytes <= attempt->memory_bytes)
        return false;
    if (attempt->living == 1)
        return true;
    attempt->was_over =
        tree_pss_bytes(&supervisor->tree, attempt) > attempt->memory_bytes;
    return attempt->was_over && was_over;
}

static bool is_limited_by_group(const struct attempt *attempt)
{
    return attempt->has_group && attempt->group.limits_memory &&
           attempt->reaped_ms == 0;
}

static bool must_watch_memory(const struct attempt *attempt)
{
    return attempt->memory_bytes > 0 && attempt->reaped_ms == 0 &&
           !is_limited_by_group(attempt);
}

static void check_memory(struct supervisor *supervisor, int64_t now_ms)
{
    bool limited = false;

    for (struct attempt *a = supervisor->attempts; a != NULL; a = a->next)
        limited |= must_watch_memory(a);
    if (!limited || now_ms < memory_due_ms(supervisor))
        return;
    ending_census(supervisor, now_ms);
    for (struct attempt *a = supervisor->attempts; a != NULL; a = a->next) {
        if (!must_watch_memory(a) || !is_over_memory(supervisor, a))
            continue;
        if (a->told == CAUSE_OK)
            evidence_of_memory(a);
        ending_kill(a, now_ms);
    }
}

/* Version 1 kills one process and lets the others be. */
static void check_groups(struct supervisor *supervisor, int64_t now_ms)
{
    if (now_ms < groups_due_ms(supervisor))
        return;
    for (struct attempt *a = supervisor->attempts; a != NULL; a = a->next) {
        if (!is_limited_by_group(a))
            continue;
        if (evidence_look(a) && a->kill_ms == 0)
            ending_kill(a, now_ms);
    }
    supervisor->groups_ms = now_ms;
    supervisor->groups_cost_ms = clock_monotonic_ms() - now_ms;
}

/* A command that was killed and is still to be seen may be held by a tracer,
 * which may be a descendant in a session of its own. */
static void kill_all(struct supervisor *supervisor, struct attempt *attempt,
                     int64_t now_ms)
{
    if (attempt->was_killed && !attempt->has_group) {
        ending_census(supervisor, now_ms);
        tree_kill(&supervisor->tree, attempt);
    }
    ending_kill(attempt, now_ms);
}

static void note_times(struct supervisor *supervisor,
                       const struct attempt *attempt)
{
    ending_note_due(supervisor, attempt->deadline_ms);
    ending_note_due(supervisor, attempt->kill_ms);
    ending_note_due(supervisor, attempt->warn_ms);
    ending_note_due(supervisor, attempt->check_ms);
    if (must_watch_memory(attempt))
        ending_note_due(supervisor, memory_due_ms(supervisor));
    if (is_limited_by_group(attempt))
        ending_note_due(supervisor, groups_due_ms(supervisor));
}

static void check_attempts(struct supervisor *supervisor, int64_t now_ms)
{
    struct attempt *attempt, *next;

    for (attempt = supervisor->attempts; attempt != NULL; attempt = next) {
        next = attempt->next;
        if (attempt->reaped_ms != 0) {
            if (attempt->check_ms <= now_ms)
                ending_settle(supervisor, attempt, now_ms);
            continue;
        }
        if (attempt->kill_ms != 0 && attempt->kill_ms <= now_ms)
            kill_all(supervisor, attempt, now_ms);
        if (attempt->warn_ms != 0 && attempt->warn_ms <= now_ms)
            ending_warn(supervisor, attempt, now_ms);
        if (attempt->deadline_ms != 0 && attempt->deadline_ms <= now_ms)
            ending_terminate(attempt, CAUSE_TIMEOUT, now_ms);
    }
    check_memory(supervisor, now_ms);
    check_groups(supervisor, now_ms);
    supervisor->due_ms = 0;
    for (attempt = supervisor->attempts; attempt != NULL;
         attempt = attempt->next)
        note_times(supervisor, attempt);
}

static void check_time(struct supervisor *supervisor, int64_t now_ms)
{
    if (supervisor->due_ms != 0 && supervisor->due_ms <= now_ms)
        check_attempts(supervisor, now_ms);
    if (supervisor->strays && ending_strays_due_ms(supervisor) <= now_ms)
        ending_find_strays(supervisor, now_ms);
    ending_rewrite(supervisor, now_ms);
}

static int64_t next_wake_ms(const struct supervisor *supervisor)
{
    int64_t wake_ms =
        earlier(supervisor->due_ms, ending_strays_due_ms(supervisor));

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

/* The group of this process that counts its memory, before it may make itself
 * another; NULL where there is none. The caller's to free. */
static char *own_memory_group(void)
{
    struct cgroup_places places;
    char *found;

    cgroup_places_find(&places, "");
    found = mem_copy_string(places.directories[CGROUP_MEMORY] != NULL
                                ? places.directories[CGROUP_MEMORY]
                                : places.directories[CGROUP_UNIFIED]);
    cgroup_places_clear(&places);
    return found;
}

struct supervisor *supervisor_create(const struct supervisor_events *events,
                                     struct err *err)
{
    struct supervisor *supervisor = mem_zero(sizeof(*supervisor));

    supervisor->events = *events;
    supervisor->gpu_watch.fd = -1;
    supervisor->mean_ms = INT64_C(10) * SHORT_MS;
    supervisor->group = own_memory_group();
    supervisor->oom_kills = evidence_oom_kills(supervisor->group);
    supervisor->signal_fd = own_signals();
    supervisor->timer_fd =
        timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (spawner_init(&supervisor->spawner, err) != 0)
        goto fail;
    if (supervisor->signal_fd < 0 || supervisor->timer_fd < 0 ||
        orphans_adopt() != 0) {
        err_set_errno(err, ERR_FAILED, errno, "cannot supervise processes");
        goto fail;
    }
    return supervisor;
fail:
    supervisor_destroy(supervisor);
    return NULL;
}

void supervisor_use_cgroups(struct supervisor *supervisor, pid_t partner)
{
    supervisor->has_site = cgroup_site_open(&supervisor->site, "", partner);
}

void supervisor_say_place(struct supervisor *supervisor, const char *node,
                          int64_t job, bool is_in_pilot)
{
    struct claim *claim = &supervisor->spawner.claim;

    snprintf(claim->node, sizeof(claim->node), "%s", node);
    claim->job = job;
    claim->is_in_pilot = is_in_pilot;
    supervisor->spawner.ends_with_us = true;
    supervisor->is_in_job = true;
}

/* No attempt is left. A census alone would miss who hands on to a successor and
 * ends, again and again. Those that cannot be killed are left. */
static void end_strays(struct supervisor *supervisor)
{
    enum { ROUNDS_MAX = 200 };
    const struct timespec pause = {.tv_nsec = 1000000};

    for (int round = 0; round < ROUNDS_MAX; round++) {
        ptrdiff_t children;

        ending_reap(supervisor, clock_monotonic_ms());
        children = process_kill_children();
        if (children == 0)
            return;
        ending_census(supervisor, clock_monotonic_ms());
        if (children < 0 && !supervisor->strays)
            return;
        nanosleep(&pause, NULL);
    }
}

void supervisor_destroy(struct supervisor *supervisor)
{
    if (supervisor == NULL)
        return;
    gpu_watch_stop(&supervisor->gpu_watch);
    end_strays(supervisor);
    cgroup_site_close(&supervisor->site);
    tree_clear(&supervisor->tree);
    spawner_clear(&supervisor->spawner);
    free(supervisor->group);
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
    end->is_shortage = err->kind == ERR_SHORTAGE;
    snprintf(end->text, sizeof(end->text), "%.*s", (int)sizeof(end->text) - 1,
             err->text);
    if (err->kind == ERR_BUSY)
        return -1;
    exit_write(spec->directory, end, NULL);
    return 0;
}

/* A group costs a tenth of a millisecond, which nobody notices but those who
 * start many trials that take few of them. */
static bool give_group(struct supervisor *supervisor, struct attempt *attempt,
                       const struct attempt_spec *spec)
{
    const struct cgroup_limits limits = {spec->memory_bytes, spec->cpus};

    return supervisor->has_site &&
           (spec->memory_bytes > 0 || supervisor->mean_ms >= SHORT_MS) &&
           cgroup_create(&attempt->group, &supervisor->site, spec->attempt,
                         &limits);
}

static void attempt_fill(struct attempt *attempt,
                         const struct attempt_spec *spec)
{
    attempt->directory = mem_copy_string(spec->directory);
    attempt->memory_bytes = spec->memory_bytes;
    attempt->time_ms = spec->time_ms;
    attempt->grace_ms = spec->grace_ms;
    attempt->warn_signal = spec->warn_signal;
    if (spec->time_ms > 0)
        attempt->deadline_ms = clock_monotonic_ms() + spec->time_ms;
    if (spec->time_ms > 0 && spec->warn_signal != 0)
        attempt->warn_ms = attempt->deadline_ms - spec->warn_before_ms;
}

/* Of parts of a GPU nobody can tell whose use it is. */
static void watch_gpus(struct supervisor *supervisor, struct attempt *attempt,
                       const struct attempt_spec *spec, const char *visible)
{
    if (spec->gpus <= 0 || spec->gpu_permille > 0)
        return;
    if (visible == NULL)
        visible = getenv("CUDA_VISIBLE_DEVICES");
    attempt->gpus = mem_zero(sizeof(*attempt->gpus));
    attempt->visible = visible != NULL ? mem_copy_string(visible) : NULL;
    gpu_watch_start(&supervisor->gpu_watch);
}

pid_t supervisor_start(struct supervisor *supervisor,
                       const struct attempt_spec *spec, const char *gpus,
                       bool overlaps, struct attempt_exit *end)
{
    struct attempt *attempt = mem_zero(sizeof(*attempt));
    struct spawn_place place = {.gpus = gpus,
                                .overlaps = overlaps && spec->time_ms <= 0};
    struct err err;

    *end = (struct attempt_exit){.attempt = spec->attempt,
                                 .exit_code = -1,
                                 .started_ms = clock_wall_ms()};
    memcpy(end->node, supervisor->spawner.claim.node, sizeof(end->node));
    if (give_group(supervisor, attempt, spec))
        place.group = &attempt->group;
    attempt->pid = spawn_command(&supervisor->spawner, spec, &place,
                                 &attempt->pid_start, &err);
    if (attempt->pid < 0) {
        if (place.group != NULL)
            cgroup_remove(place.group);
        free(attempt);
        return launch_failed(spec, &err, end);
    }
    attempt_fill(attempt, spec);
    watch_gpus(supervisor, attempt, spec, gpus);
    attempt->end = *end;
    attempt->has_group = place.group != NULL && cgroup_is_there(place.group);
    ending_add(supervisor, attempt);
    note_times(supervisor, attempt);
    return attempt->pid;
}

static bool has_ended(struct supervisor *supervisor,
                      const struct attempt *attempt)
{
    siginfo_t info = {.si_pid = 0};

    spawn_await(&supervisor->spawner, attempt->pid);
    waitid(P_PID, (id_t)attempt->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid != 0;
}

static void end_attempt(struct supervisor *supervisor, struct attempt *attempt,
                        enum attempt_cause cause, enum cancel_mode mode)
{
    int64_t now_ms = clock_monotonic_ms();

    ending_terminate(attempt, cause, now_ms);
    if (mode == CANCEL_KILL)
        ending_kill(attempt, now_ms);
    note_times(supervisor, attempt);
}

void supervisor_cancel(struct supervisor *supervisor, int64_t id,
                       enum cancel_mode mode)
{
    struct attempt *attempt = supervisor->attempts;

    while (attempt != NULL && attempt->end.attempt != id)
        attempt = attempt->next;
    if (attempt != NULL && attempt->reaped_ms == 0 &&
        !has_ended(supervisor, attempt))
        end_attempt(supervisor, attempt, CAUSE_CANCELLED, mode);
}

/* Also of one that was reaped and is not over yet. */
static void end_for(struct supervisor *supervisor, struct attempt *attempt,
                    enum attempt_cause cause, enum cancel_mode mode,
                    const char *text)
{
    if (attempt->told == CAUSE_OK) {
        attempt->end.cause = cause;
        attempt->end.is_displaced = cause == CAUSE_PREEMPTED;
        snprintf(attempt->end.text, sizeof(attempt->end.text), "%s", text);
    }
    if (attempt->reaped_ms == 0)
        end_attempt(supervisor, attempt, cause, mode);
    else if (attempt->told == CAUSE_OK)
        attempt->told = cause;
}

void supervisor_end_all(struct supervisor *supervisor, enum attempt_cause cause,
                        enum cancel_mode mode, const char *text)
{
    for (struct attempt *a = supervisor->attempts; a != NULL; a = a->next)
        end_for(supervisor, a, cause, mode, text);
}

void supervisor_each(const struct supervisor *supervisor,
                     void (*visit)(void *user, const struct supervised *),
                     void *user)
{
    for (const struct attempt *a = supervisor->attempts; a != NULL;
         a = a->next) {
        const struct supervised one = {a->end.attempt, a->pid, a->memory_bytes,
                                       a->grace_ms};

        visit(user, &one);
    }
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

static void on_gpu_sample(void *user, const struct gpu_sample *sample)
{
    const struct supervisor *supervisor = user;

    for (struct attempt *a = supervisor->attempts; a != NULL; a = a->next) {
        if (a->gpus != NULL && a->reaped_ms == 0)
            gpu_tally_add(a->gpus, a->visible, sample);
    }
}

short supervisor_turn(struct supervisor *supervisor, int fd, short events,
                      int64_t wake_ms)
{
    struct pollfd polled[] = {
        {.fd = supervisor->signal_fd, .events = POLLIN},
        {.fd = supervisor->timer_fd, .events = POLLIN},
        {.fd = fd, .events = events},
        {.fd = supervisor->gpu_watch.fd, .events = POLLIN},
    };
    uint64_t expirations;
    bool has_dead;

    arm_timer(supervisor, earlier(wake_ms, next_wake_ms(supervisor)));
    if (poll(polled, ARRAY_LEN(polled), supervisor->has_more_dead ? 0 : -1) < 0)
        return 0;
    if (polled[1].revents != 0 &&
        read(supervisor->timer_fd, &expirations, sizeof(expirations)) > 0)
        supervisor->armed_ms = 0;
    has_dead = polled[0].revents != 0 || supervisor->has_more_dead;
    if (polled[0].revents != 0)
        on_signals(supervisor);
    if (has_dead)
        supervisor->has_more_dead =
            ending_reap(supervisor, clock_monotonic_ms());
    if (has_dead || polled[1].revents != 0)
        check_time(supervisor, clock_monotonic_ms());
    if (polled[3].revents != 0)
        gpu_watch_read(&supervisor->gpu_watch, on_gpu_sample, supervisor);
    return polled[2].revents;
}
