/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_BENCH_REGRET_RUN_H
#define SMTUNE_TESTS_BENCH_REGRET_RUN_H

#include <stdint.h>

#include "base/err.h"
#include "tests/bench/regret/problem.h"

struct buf;

/* One method's run on one instance. */
struct run {
    const struct problem *problem;
    const char *method;
    uint64_t seed; /* of the instance and of the method */
    uint64_t trials;
    uint64_t parallel;  /* so many are pending when the next is asked for */
    double improvement; /* convergence is looked for by it; 0: it is not */
};

/* Appends a line of JSON: what the run was, the incumbent's measure after 10,
 * 25, 50 ... finished trials (null: none), the seconds in ask and tell. */
int run_method(const struct run *run, struct buf *out, struct err *err);

/*
 * Lines of JSON between two programs, for a search method that is not ours.
 * Says what the instance's parameters are; then answers every line
 * {"params": {...}} with {"need": NAME} for a parameter that is active and
 * missing, {"state": "infeasible"}, or the evaluation. -1 when a line was
 * wrong.
 */
int serve_instance(const struct problem *problem, uint64_t seed,
                   struct err *err);

#endif
