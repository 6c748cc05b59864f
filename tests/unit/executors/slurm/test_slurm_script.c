/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time that the job of an attempt asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "executors/slurm/script.h"

enum { MINUTE_MS = 60000 };

static void test_slurm_script__asks_for_the_time_that_is_allowed(void **state)
{
    static const struct {
        int time, grace, usual; /* the attempt's, and executor.time; minutes */
        int limit;
        bool is_below_default;
        int expected;
    } cases[] =
        {
            {5, 1, 0, 0, false, 7}, /* with smtune's own margin */
            {5, 1, 0, 60, false, 7},
            {5, 1, 0, 6, true, 6}, /* which is cut */
            {5, 1, 0, 5, false, 5},
            {5, 1, 0, 4, false, 7}, /* Slurm will refuse it */
            {0, 0, 0, 0, false, 0}, /* the partition's default */
            {0, 0, 0, 4, false, 0},
            {0, 0, 0, 4, true, 4}, /* which is more than is allowed */
            {0, 0, 3, 4, true, 3},
            {0, 0, 9, 4, true, 4},
            {0, 0, 9, 0, false, 9},
        };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct attempt_spec spec = {
            .time_ms = (int64_t)cases[i].time * MINUTE_MS,
            .grace_ms = (int64_t)cases[i].grace * MINUTE_MS};
        const struct slurm_options options = {
            .time_ms = (int64_t)cases[i].usual * MINUTE_MS};
        const struct slurm_limit limit = {
            .time_ms = (int64_t)cases[i].limit * MINUTE_MS,
            .is_below_default = cases[i].is_below_default};

        assert_int_equal(slurm_job_time_ms(&options, &spec, &limit),
                         (int64_t)cases[i].expected * MINUTE_MS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_script__asks_for_the_time_that_is_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
