/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/steps/checkpoint_torn.h"
#include "tests/unit/folder.h"

enum { SINCE_S = 1000000, RANKS = 4 };

/* "+path" was saved after the time, "-path" before it. */
static void save(const char *folder, const char *file)
{
    const struct timespec times[] = {
        {.tv_sec = SINCE_S + (file[0] == '+' ? 5 : -5)},
        {.tv_sec = SINCE_S + (file[0] == '+' ? 5 : -5)}};
    char *path = fs_join(folder, file + 1);
    char *slash = strrchr(path, '/');

    *slash = '\0';
    assert_int_equal(fs_make_directories(path, NULL), 0);
    *slash = '/';
    assert_int_equal(fs_write_atomic(path, "x", 1, 0644, NULL), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

static const struct {
    const char *files[9];
    const char *torn; /* NULL: it is whole */
} cases[] = {
    /* rewritten in their place */
    {{"+rank0.pt", "+rank1.pt", "+rank2.pt", "+rank3.pt"}, NULL},
    {{"-rank0.pt", "+rank1.pt", "+rank2.pt", "+rank3.pt"},
     "rank0.pt is older than rank3.pt"},
    {{"+rank0.pt", "-rank1.pt", "+rank2.pt", "+rank3.pt"},
     "rank1.pt is older than rank3.pt"},
    {{"-rank0.pt", "-rank1.pt", "-rank2.pt", "-rank3.pt"}, NULL},
    {{"+mp_rank_00/m.pt", "-mp_rank_01/m.pt"},
     "mp_rank_01/m.pt is older than mp_rank_00/m.pt"},
    {{"+ck/__0_0.distcp", "-ck/__1_0.distcp", "+ck/.metadata"},
     "ck/__1_0.distcp is older than ck/__0_0.distcp"},
    /* the first checkpoint */
    {{"+shard1", "+shard2", "+shard3"}, "shard0 is missing"},
    {{"+shard0", "+shard2", "+shard3"}, "shard1 is missing"},
    {{"+shard0"}, NULL}, /* rank 0 alone saves */
    {{"+shard-1", "+shard-2", "+shard-3", "+shard-4"}, NULL},
    /* a folder for each */
    {{"-5/rank_0", "-5/rank_1", "+9/rank_0"}, "9/rank_1 is missing"},
    {{"-5/rank_0", "-5/rank_1", "+9/rank_0", "+9/rank_1"}, NULL},
    {{"+5/rank_0", "+5/rank_1", "+9/rank_0"}, NULL}, /* 5 is whole and new */
    {{"-5/rank_0", "-5/rank_1", "+5/model", "+9/rank_1", "+9/model"},
     "9/rank_0 is missing"},
    {{"+9/model_rank_0", "+9/model_rank_1", "+9/optim_rank_0",
      "-9/optim_rank_1"},
     "9/optim_rank_1 is older than 9/optim_rank_0"},
    {{"+zero_pp_rank_0_mp_rank_00.pt", "+zero_pp_rank_1_mp_rank_00.pt"}, NULL},
    /* of more ranks before */
    {{"+rank0", "+rank1", "+rank2", "+rank3", "-rank4", "-rank5"}, NULL},
    /* one after the other, and other files */
    {{"-epoch-0", "+epoch-1", "-step1.pt", "+step2.pt"}, NULL},
    {{"-shard-0", "-shard-1", "+shard-2"}, NULL},
    {{"-shard-3", "+shard-4", "+shard-5"}, NULL},
    {{"+rank0.pt", "+rank1.pt", "-rank1.log", "+rank0.log", "+rank1.pt.tmp"},
     NULL},
    {{"+drank", "+rank", "+rank1234567", "+a.pt"}, NULL},
    {{NULL}, NULL},
};

static void test_torn__is_a_rank_that_did_not_save(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *folder = mem_printf("%s/%zu", (const char *)*state, i);
        char *torn;

        for (size_t j = 0; cases[i].files[j] != NULL; j++)
            save(folder, cases[i].files[j]);
        torn = checkpoint_find_torn(folder, RANKS, INT64_C(1000) * SINCE_S);
        if (cases[i].torn == NULL && torn != NULL)
            fail_msg("case %zu: %s", i, torn);
        if (cases[i].torn != NULL) {
            assert_non_null(torn);
            assert_string_equal(torn, cases[i].torn);
        }
        free(torn);
        free(folder);
    }
}

static void test_torn__is_no_folder_that_is_not_there(void **state)
{
    char *folder = fs_join(*state, "none");

    assert_null(checkpoint_find_torn(folder, RANKS, 0));
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_torn__is_a_rank_that_did_not_save,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(
            test_torn__is_no_folder_that_is_not_there, make_folder,
            remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
