/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/preview.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "executors/slurm/talk/site.h"

enum { MINUTE_MS = 60000 };

/* The comment on the limit says what was done to --time. */
static void test_slurm_preview__a_limit_cuts_or_sets_the_time(void **state)
{
    static const struct {
        int time, usual; /* the attempt's, and executor.time; minutes */
        const char *word, *comment;
    } cases[] = {
        {4, 0, " --time=5\n", "at most 5m 00s: --time is cut to it.\n"},
        {0, 9, " --time=5\n", "at most 5m 00s: --time is cut to it.\n"},
        {0, 0, " --time=5\n",
         "at most 5m 00s: --time is set to it, because the partition gives "
         "more.\n"},
        {3, 0, " --time=5\n", NULL},
        {0, 2, " --time=2\n", NULL},
    };
    char batch[] = "batch", few[] = "few";
    struct slurm_partition partition = {.name = batch,
                                        .qos = few,
                                        .is_default = true,
                                        .default_time_ms = 10 * MINUTE_MS};
    struct slurm_qos qos = {.name = few, .max_time_ms = 5 * MINUTE_MS};
    const struct slurm_site site = {.enforces_limits = true,
                                    .partitions = &partition,
                                    .partition_count = 1,
                                    .qos_list = &qos,
                                    .qos_count = 1};

    (void)state;
    setenv("SMTUNE_SHIM", "/bin/smtune-shim", true);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct slurm_options slurm = {.ask = {.mode = "job"},
                                            .time_ms = (int64_t)cases[i].usual *
                                                       MINUTE_MS,
                                            .site = &site};
        const struct executor_options options = {.name = "slurm",
                                                 .slurm = &slurm};
        const struct attempt_spec spec = {.directory = "/tmp/attempt",
                                          .work_directory = "/tmp",
                                          .time_ms = (int64_t)cases[i].time *
                                                     MINUTE_MS,
                                          .grace_ms = MINUTE_MS};
        struct buf out = BUF_INIT;

        assert_int_equal(slurm_preview(&options, &spec, "/tmp", &out, NULL), 0);
        assert_non_null(strstr(buf_text(&out), cases[i].word));
        if (cases[i].comment != NULL)
            assert_non_null(strstr(buf_text(&out), cases[i].comment));
        else
            assert_null(strstr(buf_text(&out), "allows at most"));
        buf_clear(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_preview__a_limit_cuts_or_sets_the_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
