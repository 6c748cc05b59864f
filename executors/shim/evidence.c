/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/evidence.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/system/signals.h"
#include "base/units.h"
#include "executors/attempt/attempt_file.h"
#include "executors/attempt/setup_failed.h"
#include "executors/machine/cgroup_file.h"

/* -- Memory ---------------------------------------------------------------*/

/* The limit is the group's own or that of one above it, or there was none and
 * the machine had no more. */
static void tell_kills(struct attempt *attempt,
                       const struct cgroup_facts *facts)
{
    char *text = attempt->end.text, limit[32];
    size_t size = sizeof(attempt->end.text);

    units_format_bytes(attempt->memory_bytes, limit, sizeof(limit));
    snprintf(text, size,
             "out of memory: the kernel killed %" PRId64 " process%s%s%s",
             facts->oom_kills, facts->oom_kills == 1 ? "" : "es",
             facts->was_at_limit ? " at the limit of "
                                 : ", but not at the trial's limit of ",
             limit);
}

bool evidence_look(struct attempt *attempt)
{
    struct cgroup_facts facts;

    if (!attempt->has_group)
        return false;
    cgroup_look(&attempt->group, &facts);
    if (facts.anon_bytes > attempt->end.max_rss_bytes)
        attempt->end.max_rss_bytes = facts.anon_bytes;
    if (facts.oom_kills == 0)
        return false;
    if (facts.was_at_limit &&
        attempt->memory_bytes > attempt->end.max_rss_bytes)
        attempt->end.max_rss_bytes = attempt->memory_bytes;
    if (attempt->told == CAUSE_OK || attempt->told == CAUSE_OOM) {
        attempt->told = CAUSE_OOM;
        tell_kills(attempt, &facts);
    }
    return true;
}

void evidence_of_memory(struct attempt *attempt)
{
    char taken[32], limit[32];

    units_format_bytes(attempt->rss_bytes, taken, sizeof(taken));
    units_format_bytes(attempt->memory_bytes, limit, sizeof(limit));
    attempt->told = CAUSE_OOM;
    snprintf(attempt->end.text, sizeof(attempt->end.text),
             "out of memory: its processes used %s, with a limit of %s", taken,
             limit);
}

struct oom_kills evidence_oom_kills(const char *group)
{
    struct oom_kills kills = {0};
    char text[16384];

    cgroup_read("/proc", "vmstat", text, sizeof(text));
    kills.machine = cgroup_line_number(text, "oom_kill");
    if (group == NULL)
        return kills;
    cgroup_read(group, "memory.events", text, sizeof(text));
    if (text[0] == '\0') /* version 1 */
        cgroup_read(group, "memory.oom_control", text, sizeof(text));
    kills.job = cgroup_line_number(text, "oom_kill");
    return kills;
}

/* A user's process can make no group in that of its job. */
static void tell_job_kills(struct attempt *attempt, int64_t count)
{
    attempt->told = CAUSE_OOM;
    snprintf(attempt->end.text, sizeof(attempt->end.text),
             "out of memory: the kernel killed %" PRId64
             " process%s of its Slurm job",
             count, count == 1 ? "" : "es");
}

/* -- The rest -------------------------------------------------------------*/

static void tell_timeout(struct attempt *attempt)
{
    char limit[32], grace[32];
    char *text = attempt->end.text;
    size_t size = sizeof(attempt->end.text);

    units_format_duration(attempt->time_ms, limit, sizeof(limit));
    units_format_duration(attempt->grace_ms, grace, sizeof(grace));
    if (attempt->was_killed)
        snprintf(text, size,
                 "time limit of %s reached; killed because SIGTERM did not "
                 "stop it within %s",
                 limit, grace);
    else
        snprintf(text, size, "time limit of %s reached", limit);
}

static void tell_signal(struct attempt *attempt, int number,
                        int64_t machine_oom_kills)
{
    static const char killed[] =
        "killed by SIGKILL; smtune did not send it, and the sender is unknown";
    const char *name = signal_name(number), *meaning = signal_meaning(number);
    char *text = attempt->end.text;
    size_t size = sizeof(attempt->end.text);

    if (number != SIGKILL)
        snprintf(text, size, "killed by SIG%s (%s)",
                 name != NULL ? name : "NAL", meaning != NULL ? meaning : "?");
    else if (machine_oom_kills > 0)
        snprintf(text, size,
                 "%s (the kernel recently killed %" PRId64
                 " process%s of this machine because memory ran out)",
                 killed, machine_oom_kills, machine_oom_kills == 1 ? "" : "es");
    else
        snprintf(text, size, "%s", killed);
}

void evidence_judge(struct attempt *attempt, int status,
                    const struct oom_kills *recent)
{
    struct attempt_exit *end = &attempt->end;

    if (WIFEXITED(status))
        end->exit_code = WEXITSTATUS(status);
    else
        end->signal = WTERMSIG(status);
    evidence_look(attempt);
    if (attempt->told == CAUSE_OK && recent->job > 0)
        tell_job_kills(attempt, recent->job);
    if (attempt->told == CAUSE_TIMEOUT)
        tell_timeout(attempt);
    if (attempt->told != CAUSE_OK) {
        end->cause = attempt->told;
    } else if (end->signal != 0) {
        end->cause = CAUSE_SIGNAL;
        tell_signal(attempt, end->signal, recent->machine);
    } else {
        end->cause = end->exit_code == 0 ? CAUSE_OK : CAUSE_EXIT;
        if (end->cause == CAUSE_EXIT &&
            setup_failed_read(attempt->directory, end->text, sizeof(end->text)))
            end->cause = CAUSE_SETUP_FAILED;
    }
    if (attempt_disk_is_full(attempt->directory)) {
        end->is_shortage = true;
        snprintf(end->text, sizeof(end->text), "the disk is full");
    }
}
