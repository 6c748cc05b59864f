/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/ending.h"

#include <errno.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "executors/attempt/attempt_file.h"
#include "executors/container/end.h"
#include "executors/shim/evidence.h"

/*
 * An attempt's life here: it runs; it may be told to end (a limit, a
 * cancel), first by SIGTERM, then by SIGKILL; its command is reaped; what the
 * command left behind is killed; `exit` is written and `ended` called.
 *
 * Where an attempt has a control group, the kernel tells what is left behind:
 * a group in which anything lives cannot be removed. Without one it is cheap
 * to rule out in the common case: nobody is in the command's process group
 * and nobody holds the claim's lock. Only a process that left the group and
 * closed all its files escapes that. It has become our child, as we are a
 * subreaper: so it is there only if we have more children than commands run.
 * Then it is found by a census of /proc, which costs milliseconds, or where
 * thousands run a tenth of a second. So this is looked into at most every
 * STRAYS_MS while all looks well.
 *
 * A command's pid is safe to signal until it is reaped, and only we reap it:
 * so its group is killed after its death is known and before it is reaped.
 */

enum {
    STRAYS_MS = 200,
    REAP_MS = 10, /* at a time: there is no end to what a bomb leaves */
    REPEAT_KILL_MS = 1000,
    REWRITE_MS = 1000,
    DRAIN_FIRST_MS = 1,
    DRAIN_STEP_MAX_MS = 50,
    OUTSIDER_MS = 1000, /* how long a lock held elsewhere is waited for */
    DRAIN_MAX_MS = 10000,
    PACE_WEIGHT = 8, /* of the past in the mean duration */
    DURATION_MAX_MS = 1000,
    HOLD_MS = 50,
    HOLD_TERMINATED_MS = 1000,
    LONG_MS = 1000
};

/* -- Ending ---------------------------------------------------------------*/

static void attempt_destroy(struct attempt *attempt)
{
    free(attempt->directory);
    free(attempt->visible);
    free(attempt->gpus);
    free(attempt);
}

static int compare_pids(const void *a, const void *b)
{
    pid_t left = ((const struct attempt *)a)->pid;
    pid_t right = ((const struct attempt *)b)->pid;

    return (left > right) - (left < right);
}

/* The last one that was started with that pid: one before it of which nothing
 * is left may not be over yet. */
static struct attempt *find_session(const struct supervisor *supervisor,
                                    pid_t session)
{
    struct attempt key = {.pid = session};
    struct attempt **found = tfind(&key, &supervisor->by_pid, compare_pids);

    return found != NULL ? *found : NULL;
}

void ending_add(struct supervisor *supervisor, struct attempt *attempt)
{
    struct attempt **found =
        tsearch(attempt, &supervisor->by_pid, compare_pids);

    if (found == NULL)
        abort();
    *found = attempt;
    attempt->living = 1;
    attempt->next = supervisor->attempts;
    if (attempt->next != NULL)
        attempt->next->before = attempt;
    supervisor->attempts = attempt;
    supervisor->count++;
}

static void attempt_remove(struct supervisor *supervisor,
                           struct attempt *attempt)
{
    if (find_session(supervisor, attempt->pid) == attempt)
        tdelete(attempt, &supervisor->by_pid, compare_pids);
    if (attempt->before != NULL)
        attempt->before->next = attempt->next;
    else
        supervisor->attempts = attempt->next;
    if (attempt->next != NULL)
        attempt->next->before = attempt->before;
    supervisor->count--;
}

static bool written_or_gone(const struct attempt *attempt)
{
    struct err err;

    return exit_write(attempt->directory, &attempt->end, &err) == 0 ||
           err.kind == ERR_NOT_FOUND;
}

/* `ended` comes first because it starts the next attempt in the slot, while the
 * owner hears of this one only after the turn, when `exit` is written. */
static void finish(struct supervisor *supervisor, struct attempt *attempt,
                   bool had_group)
{
    struct attempt_exit end = attempt->end;

    container_end_all(attempt->directory);
    attempt_remove(supervisor, attempt);
    supervisor->strays |= !had_group;
    supervisor->events.ended(supervisor->events.user, &end);
    if (written_or_gone(attempt)) {
        attempt_destroy(attempt);
    } else {
        attempt->check_ms = clock_monotonic_ms() + REWRITE_MS;
        attempt->next = supervisor->unwritten;
        supervisor->unwritten = attempt;
    }
}

void ending_note_due(struct supervisor *supervisor, int64_t due_ms)
{
    if (due_ms != 0 && (supervisor->due_ms == 0 || due_ms < supervisor->due_ms))
        supervisor->due_ms = due_ms;
}

static void settle_at(struct supervisor *supervisor, struct attempt *attempt,
                      int64_t check_ms)
{
    attempt->check_ms = check_ms;
    ending_note_due(supervisor, check_ms);
}

void ending_rewrite(struct supervisor *supervisor, int64_t now_ms)
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

void ending_kill(struct attempt *attempt, int64_t now_ms)
{
    if (attempt->has_group)
        cgroup_kill(&attempt->group);
    kill(-attempt->pid, SIGKILL);
    attempt->was_killed = true;
    attempt->kill_ms = now_ms + REPEAT_KILL_MS;
}

void ending_terminate(struct attempt *attempt, enum attempt_cause cause,
                      int64_t now_ms)
{
    if (attempt->told == CAUSE_OK)
        attempt->told = cause;
    attempt->deadline_ms = attempt->warn_ms = 0;
    if (attempt->kill_ms != 0)
        return;
    attempt->kill_ms = now_ms + attempt->grace_ms;
    if (attempt->grace_ms <= 0) {
        ending_kill(attempt, now_ms);
        return;
    }
    kill(-attempt->pid, SIGTERM);
    kill(-attempt->pid, SIGCONT);
}

void ending_census(struct supervisor *supervisor, int64_t now_ms)
{
    tree_census(&supervisor->tree, supervisor->attempts,
                supervisor->gpu_watch.pid);
    supervisor->census_cost_ms = clock_monotonic_ms() - now_ms;
    supervisor->strays =
        tree_kill_strays(&supervisor->tree, supervisor->attempts) > 0;
    supervisor->census_ms = supervisor->strays_ms = now_ms;
    ending_note_due(supervisor, now_ms); /* the next may come sooner now */
    for (struct attempt *a = supervisor->attempts; a != NULL; a = a->next) {
        if (a->rss_bytes > a->end.max_rss_bytes)
            a->end.max_rss_bytes = a->rss_bytes;
        if (a->reaped_ms != 0)
            tree_kill(&supervisor->tree, a);
    }
}

void ending_warn(struct supervisor *supervisor, struct attempt *attempt,
                 int64_t now_ms)
{
    attempt->warn_ms = 0;
    ending_census(supervisor, now_ms);
    process_table_warn(&supervisor->tree.table, attempt, attempt->warn_signal);
}

/* Whether every child of ours is a command that runs, or looks at GPUs: then
 * nothing is left of any attempt that is over. */
static bool has_no_strays(const struct supervisor *supervisor)
{
    ptrdiff_t commands = supervisor->gpu_watch.pid > 0;

    for (const struct attempt *a = supervisor->attempts; a != NULL; a = a->next)
        commands += a->reaped_ms == 0;
    return process_count_children() == commands;
}

static bool was_looked_for(const struct supervisor *supervisor, int64_t now_ms)
{
    return now_ms - supervisor->strays_ms < STRAYS_MS ||
           now_ms - supervisor->census_ms <
               CENSUS_REST * supervisor->census_cost_ms;
}

int64_t ending_strays_due_ms(const struct supervisor *supervisor)
{
    return supervisor->strays ? supervisor->strays_ms + STRAYS_MS : 0;
}

void ending_find_strays(struct supervisor *supervisor, int64_t now_ms)
{
    bool may_take_long = !was_looked_for(supervisor, now_ms);

    supervisor->strays = !has_no_strays(supervisor);
    supervisor->strays_ms = now_ms;
    if (supervisor->strays && may_take_long)
        ending_census(supervisor, now_ms);
}

static bool looks_clear(const struct attempt *attempt)
{
    return kill(-attempt->pid, 0) != 0 && errno == ESRCH &&
           claim_is_free(attempt->directory);
}

/* Removes the group of a reaped attempt, or else kills what lives there. */
static bool clear_group(struct attempt *attempt)
{
    if (!cgroup_remove(&attempt->group)) {
        cgroup_kill(&attempt->group);
        return false;
    }
    attempt->has_group = false;
    return true;
}

/* Before the end of a command counts as its own. */
static int64_t hold_ms(const struct supervisor *supervisor,
                       const struct attempt *attempt)
{
    const struct attempt_exit *end = &attempt->end;

    if (!supervisor->is_in_job || attempt->told != CAUSE_OK)
        return 0;
    if (end->signal == SIGTERM)
        return HOLD_TERMINATED_MS;
    return end->cause != CAUSE_OK || end->ended_ms - end->started_ms >= LONG_MS
               ? HOLD_MS
               : 0;
}

void ending_settle(struct supervisor *supervisor, struct attempt *attempt,
                   int64_t now_ms)
{
    int64_t waited_ms = now_ms - attempt->reaped_ms;
    bool is_over, had_group = false;

    if (waited_ms < hold_ms(supervisor, attempt)) {
        settle_at(supervisor, attempt,
                  attempt->reaped_ms + hold_ms(supervisor, attempt));
        return;
    }
    if (attempt->has_group) {
        is_over = clear_group(attempt) && looks_clear(attempt);
        had_group = is_over;
    } else if (looks_clear(attempt) && (was_looked_for(supervisor, now_ms) ||
                                        has_no_strays(supervisor))) {
        is_over = true;
    } else if (waited_ms < DRAIN_FIRST_MS) {
        is_over = false; /* what is left has just been killed */
    } else {
        if (supervisor->census_ms != now_ms)
            ending_census(supervisor, now_ms);
        is_over = attempt->living == 0 && (claim_is_free(attempt->directory) ||
                                           waited_ms > OUTSIDER_MS);
    }
    if (is_over || waited_ms > DRAIN_MAX_MS) {
        finish(supervisor, attempt, had_group);
        return;
    }
    if (waited_ms < DRAIN_FIRST_MS)
        waited_ms = DRAIN_FIRST_MS;
    settle_at(supervisor, attempt,
              now_ms + (waited_ms < DRAIN_STEP_MAX_MS ? waited_ms
                                                      : DRAIN_STEP_MAX_MS));
}

/* -- Reaping --------------------------------------------------------------*/

static int64_t cpu_ms(const struct rusage *usage)
{
    return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * INT64_C(1000) +
           (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1000;
}

static void note_gpus(struct attempt *attempt)
{
    struct attempt_exit *end = &attempt->end;
    const struct gpu_tally *gpus = attempt->gpus;

    if (gpus == NULL || (gpus->samples == 0 && !gpus->has_memory))
        return;
    end->has_gpu_use = true;
    end->gpu_ms = gpu_tally_busy_ms(gpus, end->ended_ms - end->started_ms);
    end->gpu_memory_bytes = gpus->has_memory ? gpus->memory_bytes : -1;
}

static void note_end(struct attempt *attempt, const struct rusage *usage)
{
    struct attempt_exit *end = &attempt->end;

    end->ended_ms = clock_wall_ms();
    end->cpu_ms += cpu_ms(usage);
    if (usage->ru_maxrss * INT64_C(1024) > end->max_rss_bytes)
        end->max_rss_bytes = usage->ru_maxrss * INT64_C(1024);
    note_gpus(attempt);
}

/* Whether it may have ended by the kernel's kill of one of its processes. Of
 * several attempts in a job, another one's may have been killed. */
static bool may_lack_memory(const struct supervisor *supervisor, int status)
{
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGKILL;
    return supervisor->is_in_job &&
           (WEXITSTATUS(status) == 128 + SIGKILL ||
            (WEXITSTATUS(status) != 0 && supervisor->count == 1));
}

/* The kills since this was last asked. */
static struct oom_kills recent_oom_kills(struct supervisor *supervisor)
{
    struct oom_kills before = supervisor->oom_kills;

    supervisor->oom_kills =
        evidence_oom_kills(supervisor->is_in_job ? supervisor->group : NULL);
    return (struct oom_kills){.machine = supervisor->oom_kills.machine -
                                         before.machine,
                              .job = supervisor->oom_kills.job - before.job};
}

static void reap_orphan(struct supervisor *supervisor, pid_t pid)
{
    struct process process;
    struct attempt *attempt = NULL;
    struct rusage usage;

    if (process_read(pid, &process))
        attempt = find_session(supervisor, process.session);
    if (wait4(pid, NULL, 0, &usage) != pid)
        return;
    if (pid == supervisor->gpu_watch.pid)
        supervisor->gpu_watch.pid = 0;
    else if (attempt != NULL)
        attempt->end.cpu_ms += cpu_ms(&usage);
}

static void follow_duration(struct supervisor *supervisor,
                            const struct attempt *attempt)
{
    int64_t duration_ms = attempt->end.ended_ms - attempt->end.started_ms;

    if (duration_ms < 0)
        duration_ms = 0;
    if (duration_ms > DURATION_MAX_MS)
        duration_ms = DURATION_MAX_MS;
    supervisor->mean_ms += (duration_ms - supervisor->mean_ms) / PACE_WEIGHT;
}

/* What ended was perhaps no command, but the child that could not become it. */
static void note_launch(struct supervisor *supervisor, struct attempt *attempt)
{
    struct attempt_exit *end = &attempt->end;
    struct err err;

    if (spawn_result(&supervisor->spawner, attempt->pid, &err) == 0)
        return;
    end->cause = CAUSE_LAUNCH_ERROR;
    end->exit_code = -1;
    end->is_shortage = err.kind == ERR_SHORTAGE;
    snprintf(end->text, sizeof(end->text), "%.*s", (int)sizeof(end->text) - 1,
             err.text);
}

static void reap_command(struct supervisor *supervisor, struct attempt *attempt,
                         int64_t now_ms)
{
    struct oom_kills recent = {0};
    struct rusage usage;
    int status = 0;

    kill(-attempt->pid, SIGKILL);
    if (wait4(attempt->pid, &status, 0, &usage) != attempt->pid)
        return;
    note_end(attempt, &usage);
    /* Those of a job are read at each end, so that none is left for another
     * attempt's. */
    if (supervisor->is_in_job || may_lack_memory(supervisor, status))
        recent = recent_oom_kills(supervisor);
    if (!may_lack_memory(supervisor, status))
        recent = (struct oom_kills){0};
    evidence_judge(attempt, status, &recent);
    note_launch(supervisor, attempt);
    follow_duration(supervisor, attempt);
    attempt->reaped_ms = now_ms;
    attempt->deadline_ms = attempt->warn_ms = 0;
    attempt->kill_ms = 0;
    ending_settle(supervisor, attempt, now_ms);
}

bool ending_reap(struct supervisor *supervisor, int64_t now_ms)
{
    while (clock_monotonic_ms() - now_ms <= REAP_MS) {
        siginfo_t info = {.si_pid = 0};
        struct attempt *attempt;

        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid == 0)
            return false;
        attempt = find_session(supervisor, info.si_pid);
        if (attempt != NULL && attempt->reaped_ms == 0)
            reap_command(supervisor, attempt, now_ms);
        else
            reap_orphan(supervisor, info.si_pid);
    }
    return true;
}
