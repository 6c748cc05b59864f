/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_RETRY_H
#define SMTUNE_ORCHESTRATOR_JOB_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "executors/executor.h"
#include "orchestrator/spec/experiment/experiment.h"

/*
 * Which failures are tried again, when, and with what. Pure. The first rule
 * that matches decides; each rule counts for itself. What is no fault of the
 * trial's (its machine went away), and exit status 75 (EX_TEMPFAIL), with which
 * it asks for it, are tried again without a rule, too, unless the list of rules
 * is there and empty.
 */

struct buf;

/* Up to 3 retries, a second apart, of node_fail, preempted, lost and exit 75.
 */
extern const struct retry_rule retry_default;

/*
 * Starts that spend no retry. Each kind has a bound of its own, so that nothing
 * starts for ever; beyond it an end is what its cause says, for the retry
 * rules.
 */
enum retry_free {
    FREE_NONE,
    FREE_DISPLACED, /* the executor took away what it ran in or waited for */
    FREE_SHORTAGE   /* the machine had no room for it: job_had_no_chance() */
};

/* Per job, of each kind. */
enum { RETRY_DISPLACED_MAX = 20, RETRY_SHORTAGE_MAX = 100 };

/* How often a job has ended so; all zeroes at first. */
struct free_starts {
    int64_t displaced, shortages;
};

/* To be told of every end of a job's attempts, which it counts. The kind of
 * start that follows though it failed, within its bound. */
enum retry_free retry_free_start(const struct attempt_exit *end,
                                 struct free_starts *counts);

/* Appends "infrastructure failure 3 of 20" or "shortage 3 of 100"; nothing
 * where the end is of neither kind. */
void retry_print_free(const struct attempt_exit *end,
                      const struct free_starts *counts, struct buf *out);

/* An attempt's end, and of its log what retry_wants_log() asks for. */
struct retry_evidence {
    const struct attempt_exit *end;
    const char *log; /* any bytes; NULL: none */
    size_t log_length;
};

/* Whether it hangs on the log which rule matches. */
bool retry_wants_log(const struct retry_rule *rules, size_t rule_count,
                     const struct attempt_exit *end);

/*
 * The task's rule for an end, as an index; retry_count stands for
 * retry_default; -1: no rule matches. Cause ok never matches, and cancelled
 * only where a rule names it; a log says nothing of an end that is no fault of
 * the trial's.
 */
int retry_match(const struct job_spec *spec,
                const struct retry_evidence *evidence);

/* The rule of an index that retry_match() gave. */
const struct retry_rule *retry_rule_at(const struct retry_rule *rules,
                                       size_t rule_count, int index);

/*
 * How long to wait before retry number `nth` (1, 2, ...) of a rule: delay *
 * backoff^(nth - 1), at most max_delay; with full jitter that times `random`,
 * which is uniform in [0, 1).
 */
int64_t retry_delay_ms(const struct retry_rule *rule, int64_t nth,
                       double random);

/* That of a trial, whose chance is drawn from the search's seed. */
int64_t retry_wait_ms(const struct retry_rule *rule, uint64_t seed,
                      int64_t trial, int64_t nth);

/* What the machine has: nothing is scaled beyond. */
struct retry_machine {
    int cpus, gpus;
};

/*
 * Gives the next attempt the resources that one retry of the rule leads to,
 * and appends to *text what they are, "8 cpus (all there are), memory 2 GiB";
 * nothing where the rule scales nothing.
 */
void retry_scale(const struct retry_rule *rule,
                 const struct retry_machine *machine,
                 struct resources *resources, struct buf *text);

#endif
