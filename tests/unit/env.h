/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_ENV_H
#define SMTUNE_TESTS_UNIT_ENV_H

#include "base/expr/expr.h"

/* Where the expressions of a file's tests live, for as long as its group
 * runs: cmocka_run_group_tests(tests, open_env, close_env). */

static struct expr_env *env;

static inline int open_env(void **state)
{
    (void)state;
    env = expr_env_create(NULL);
    return env != NULL ? 0 : -1;
}

static inline int close_env(void **state)
{
    (void)state;
    expr_env_destroy(env);
    return 0;
}

#endif
