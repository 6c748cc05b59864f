/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_STATE_H
#define SMTUNE_EXECUTORS_SLURM_TALK_STATE_H

#include <stdint.h>

#include "executors/executor.h"

/*
 * Slurm's states of a job in one table, with what each means for an attempt.
 * What Slurm says is evidence of what the controller believes: an `exit` that
 * the attempt wrote is the better one of how its command ended.
 */

enum slurm_phase {
    SLURM_UNKNOWN, /* a word that is not in the table: keep looking */
    SLURM_PENDING,
    SLURM_HELD,    /* PENDING, and will not start by itself */
    SLURM_RUNNING, /* starting, suspended and completing, too */
    SLURM_ENDED
};

/* What is done about an end. */
enum slurm_action {
    SLURM_TAKE,     /* as the attempt's `exit` has it; without one: the cause */
    SLURM_OVERRIDE, /* the cause counts even where `exit` has another one */
    SLURM_EXCLUDE   /* the same, and its node is to be kept away from */
};

struct slurm_state {
    const char *word;  /* as squeue %T and sacct State have it, CANCELLED */
    const char *brief; /* as squeue %t has it, CA */
    enum slurm_phase phase;
    enum attempt_cause cause; /* of SLURM_ENDED */
    enum slurm_action action;
};

/* Of a word as squeue, sacct or slurmrestd give it ("CANCELLED by 1000", too);
 * an entry with SLURM_UNKNOWN for any other. */
const struct slurm_state *slurm_state_find(const char *word);

/* What is to be expected of a job that is PENDING. */
enum slurm_outlook {
    SLURM_WILL_START,
    SLURM_LOOK_AGAIN,  /* its reason may pass */
    SLURM_HELD_BACK,   /* it may wait for a person as well as for its turn */
    SLURM_NEVER_STARTS /* as it was asked for */
};

/* How long a job has had a reason that lets it never start. All zeroes: not. */
struct slurm_doubt {
    int looks;
    int64_t since_ms;
};

/*
 * Judges the reason (squeue %r) of one look at a job, at that time. A reason
 * such as "PartitionTimeLimit", "DependencyNeverSatisfied" or "JobHeldAdmin" is
 * SLURM_NEVER_STARTS from the third look in a row on. One that Slurm itself
 * tries again, such as "InvalidAccount", has to last for a minute, and is
 * SLURM_HELD_BACK until then. "PartitionConfig" (no node of the partition is so
 * large), "PartitionDown", "ReqNodeNotAvail" and the like are SLURM_HELD_BACK.
 */
enum slurm_outlook slurm_reason_judge(struct slurm_doubt *doubt,
                                      const char *reason, int64_t now_ms);

#endif
