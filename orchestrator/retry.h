/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RETRY_H
#define SMTUNE_ORCHESTRATOR_RETRY_H

#include <stdint.h>

#include "executors/executor.h"
#include "orchestrator/experiment.h"

/*
 * Which failures are tried again. Pure. The first rule that matches decides;
 * each rule counts for itself. What is no fault of the trial's (its machine
 * went away), and exit status 75 (EX_TEMPFAIL), with which it asks for it, are
 * tried again without a rule, too.
 */

/* Up to 3 retries, a second apart, of node_fail, preempted, lost and exit 75.
 */
extern const struct retry_rule retry_default;

/*
 * The rule for an end, as an index; rule_count stands for retry_default; -1:
 * no rule matches. Causes ok and cancelled never match.
 */
int retry_match(const struct retry_rule *rules, size_t rule_count,
                const struct attempt_exit *end);

/*
 * How long to wait before retry number `nth` (1, 2, ...) of a rule: delay *
 * backoff^(nth - 1), at most max_delay; with full jitter that times `random`,
 * which is uniform in [0, 1).
 */
int64_t retry_delay_ms(const struct retry_rule *rule, int64_t nth,
                       double random);

#endif
