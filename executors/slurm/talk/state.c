/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/talk/state.h"

#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"

/*
 * A job may be COMPLETED although the attempt in it never was: what finds the
 * claim taken ends without a word and well. Only `exit` says that one was ok.
 */
static const struct slurm_state states[] = {
    {"PENDING", "PD", SLURM_PENDING, CAUSE_LOST, SLURM_TAKE},
    {"REQUEUED", "RQ", SLURM_PENDING, CAUSE_LOST, SLURM_TAKE},
    {"REQUEUE_FED", "RF", SLURM_PENDING, CAUSE_LOST, SLURM_TAKE},

    {"REQUEUE_HOLD", "RH", SLURM_HELD, CAUSE_LOST, SLURM_TAKE},
    {"SPECIAL_EXIT", "SE", SLURM_HELD, CAUSE_LOST, SLURM_TAKE},
    {"RESV_DEL_HOLD", "RD", SLURM_HELD, CAUSE_LOST, SLURM_TAKE},

    {"RUNNING", "R", SLURM_RUNNING, CAUSE_LOST, SLURM_TAKE},
    {"CONFIGURING", "CF", SLURM_RUNNING, CAUSE_LOST, SLURM_TAKE},
    {"COMPLETING", "CG", SLURM_RUNNING, CAUSE_LOST, SLURM_TAKE},
    {"SUSPENDED", "S", SLURM_RUNNING, CAUSE_LOST, SLURM_TAKE},
    {"STOPPED", "ST", SLURM_RUNNING, CAUSE_LOST, SLURM_TAKE},
    {"SIGNALING", "SI", SLURM_RUNNING, CAUSE_LOST, SLURM_TAKE},
    {"STAGE_OUT", "SO", SLURM_RUNNING, CAUSE_LOST, SLURM_TAKE},
    {"RESIZING", "RS", SLURM_RUNNING, CAUSE_LOST, SLURM_TAKE},
    {"POWER_UP_NODE", "PU", SLURM_RUNNING, CAUSE_LOST, SLURM_TAKE},
    {"EXPEDITING", "EX", SLURM_RUNNING, CAUSE_LOST, SLURM_TAKE},
    {"UPDATE_DB", "UD", SLURM_RUNNING, CAUSE_LOST, SLURM_TAKE},

    {"COMPLETED", "CD", SLURM_ENDED, CAUSE_LOST, SLURM_TAKE},
    {"FAILED", "F", SLURM_ENDED, CAUSE_EXIT, SLURM_TAKE},
    {"CANCELLED", "CA", SLURM_ENDED, CAUSE_CANCELLED, SLURM_TAKE},
    {"REVOKED", "RV", SLURM_ENDED, CAUSE_LOST, SLURM_TAKE},
    {"TIMEOUT", "TO", SLURM_ENDED, CAUSE_TIMEOUT, SLURM_OVERRIDE},
    {"DEADLINE", "DL", SLURM_ENDED, CAUSE_TIMEOUT, SLURM_OVERRIDE},
    {"OUT_OF_MEMORY", "OOM", SLURM_ENDED, CAUSE_OOM, SLURM_OVERRIDE},
    {"PREEMPTED", "PR", SLURM_ENDED, CAUSE_PREEMPTED, SLURM_OVERRIDE},
    {"NODE_FAIL", "NF", SLURM_ENDED, CAUSE_NODE_FAIL, SLURM_EXCLUDE},
    {"BOOT_FAIL", "BF", SLURM_ENDED, CAUSE_NODE_FAIL, SLURM_EXCLUDE},
    {"LAUNCH_FAILED", "LF", SLURM_ENDED, CAUSE_NODE_FAIL, SLURM_EXCLUDE},
    {"RECONFIG_FAIL", "RL", SLURM_ENDED, CAUSE_NODE_FAIL, SLURM_EXCLUDE},
};

static const struct slurm_state unknown = {"", "", SLURM_UNKNOWN, CAUSE_LOST,
                                           SLURM_TAKE};

const struct slurm_state *slurm_state_find(const char *word)
{
    size_t length = strcspn(word, " +");

    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        if (strlen(states[i].word) == length &&
            memcmp(states[i].word, word, length) == 0)
            return &states[i];
    }
    return &unknown;
}

/* Parts of squeue's words, with '_' for what may be a blank, too. Of a limit
 * that one job alone breaks there is a word for each kind of thing. */
static const char *const final_reasons[] = {
    "AccountNotAllowed",
    "DependencyNeverSatisfied",
    "JobHeldAdmin",
    "MaxMemPerLimit",
    "MaxRequeue",
    "PartitionNodeLimit",
    "PartitionTimeLimit",
    "PerJob",
    "QOSMinCpuNotSatisfied",
    "QOSMinGRES",
    "QOSMinMemory",
    "QOSNotAllowed",
    "ReservationDeleted",
    "launch_failed_requeued_held",
};

/* Slurm 23.11 without accounting gives the first to each job for half a second,
 * until its backfill scheduler, every 30 s by default, starts it. Accounts and
 * features of nodes may come back. */
static const char *const passing_reasons[] = {
    "InvalidAccount",
    "InvalidQOS",
    "BadConstraints",
};

/* Whether the text begins so, '_' standing for a blank, too. */
static bool begins(const char *text, const char *part)
{
    for (; *part != '\0'; text++, part++) {
        if (*text != *part && !(*part == '_' && *text == ' '))
            return false;
    }
    return true;
}

static const char *const worrying_reasons[] = {
    "PartitionConfig", "PartitionDown",   "PartitionInactive",
    "NodeDown",        "ReqNodeNotAvail", "JobHeldUser",
};

static bool has_one_of(const char *reason, const char *const *parts,
                       size_t count)
{
    for (; *reason != '\0'; reason++) {
        for (size_t i = 0; i < count; i++) {
            if (begins(reason, parts[i]))
                return true;
        }
    }
    return false;
}

enum slurm_outlook slurm_reason_judge(struct slurm_doubt *doubt,
                                      const char *reason, int64_t now_ms)
{
    enum { LOOKS = 3, LASTING_MS = 60000 };
    bool passes =
        has_one_of(reason, passing_reasons, ARRAY_LEN(passing_reasons));

    if (!passes &&
        !has_one_of(reason, final_reasons, ARRAY_LEN(final_reasons))) {
        memset(doubt, 0, sizeof(*doubt));
        return has_one_of(reason, worrying_reasons, ARRAY_LEN(worrying_reasons))
                   ? SLURM_HELD_BACK
                   : SLURM_WILL_START;
    }
    if (doubt->looks++ == 0)
        doubt->since_ms = now_ms;
    if (doubt->looks < LOOKS)
        return SLURM_LOOK_AGAIN;
    return passes && now_ms - doubt->since_ms < LASTING_MS ? SLURM_HELD_BACK
                                                           : SLURM_NEVER_STARTS;
}
