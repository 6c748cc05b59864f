/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_LINKS_H
#define SMTUNE_ORCHESTRATOR_JOB_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "executors/executor.h"
#include "orchestrator/spec/workflow/workflow.h"

struct attempt_row;

/*
 * `continue`: a job longer than its time limit, as a chain of attempts, each of
 * which goes on from the checkpoint of the one before. An attempt that its time
 * limit ended, or that ended by itself after the warning before it, badly or
 * with a status of the rule, is followed by the next link at once, and that is
 * no retry. Ends of any other kind are for the retry rules.
 *
 * Pure: what follows is known from the rule and the ends so far, as they are in
 * the record, so the engine, one that takes up the run, and a replay come to
 * the same.
 */

/* Of one job; all zeroes at first. */
struct links {
    int64_t count;   /* links that followed the first attempt */
    int64_t used_ms; /* by all its attempts */
    int idle;        /* links in a row that left the checkpoint as it was */
    int unseen;      /* those since whose checkpoint nobody has seen */
    bool is_torn;    /* the last checkpoint is LINKS_TORN */
    char checkpoint[DIGEST_HEX_SIZE]; /* the last; "": there was none yet */
};

enum { LINKS_IDLE_MAX = 2, LINKS_TEXT_MAX = 64 };

/* The checkpoint of a link where the next one had begun before an engine came:
 * what a later one left tells of both. */
#define LINKS_UNSEEN "not seen"
/* A checkpoint of which some ranks have not saved their parts
 * (steps/checkpoint_torn.h): that is no progress. */
#define LINKS_TORN "torn"

enum link_verdict {
    LINK_NONE, /* its time was not the reason: it ended as any attempt does */
    LINK_FOLLOWS,
    LINK_DENIED /* it is the end of the chain: the job has failed */
};

struct link_end {
    const struct attempt_exit *exit;
    int64_t time_ms;        /* the limit that it had */
    const char *checkpoint; /* what checkpoint_hash() found, LINKS_UNSEEN or
                               LINKS_TORN; NULL: nothing */
};

/* How an attempt of the record ended; -1: it has not, or not as this version
 * knows it. */
int links_read_exit(const struct attempt_row *row, struct attempt_exit *exit);

/* Gives an exit with 0 after the warning, which the rule takes for a link, the
 * cause `exit`: its job is not done. */
void links_take_exit(const struct link_rule *rule, int64_t time_ms,
                     struct attempt_exit *exit);

/* Whether its time was the reason for the end. */
bool links_is_by_time(const struct link_rule *rule, const struct link_end *end);

/*
 * To be told of every attempt's end, in order, the verdict being of use where
 * it counts as failed. Of LINK_DENIED the reason goes to text: "two links in a
 * row left the checkpoint as it was", "60 links are used", "28d are used".
 */
enum link_verdict links_end(struct links *links, const struct link_rule *rule,
                            const struct link_end *end,
                            char text[LINKS_TEXT_MAX]);

#endif
