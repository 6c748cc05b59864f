/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generic resources as Slurm's manuals and its versions write them, those of
 * MIG devices after gres.html, "MIG Management". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "executors/slurm/talk/gres.h"
#include "executors/slurm/talk/site.h"

static void test_gres__of_every_form(void **state)
{
    static const struct {
        const char *list, *expected;
    } cases[] = {
        /* sinfo, scontrol show node and slurmrestd */
        {"gpu:1g.5gb:7(S:0-1)", "gpu 1g.5gb 7;"},
        {"gpu:a100_1g.5gb:2(IDX:0-1)", "gpu a100_1g.5gb 2;"},
        {"gpu:a100:1,gpu:a100_3g.20gb:2", "gpu a100 1;gpu a100_3g.20gb 2;"},
        {"gpu:a100:4(S:0,1),gpu:2", "gpu a100 4;gpu - 2;"},
        {"gpu:tesla:2,mps:400,bandwidth:lustre:no_consume:4G",
         "gpu tesla 2;mps - 400;bandwidth lustre 4294967296;"},
        {"gpu:(null):2(IDX:0-1)", "gpu - 2;"},
        {"craynetwork:4,gpu:no_consume:2K", "craynetwork - 4;gpu - 2048;"},
        {"(null)", " - 1;"},
        /* tres_per_node and tres_per_task, v0.0.38, v0.0.39 and later */
        {"gres:gpu:8", "gpu - 8;"},
        {"gres:gpu:a100:2,gres:gpu:v100:1", "gpu a100 2;gpu v100 1;"},
        {"gres/gpu:a100:2,gres/gpu:v100:1", "gpu a100 2;gpu v100 1;"},
        {"gres/gpu:a100=2,gres/gpu:v100=1", "gpu a100 2;gpu v100 1;"},
        {"gres/gpu=2 gres/gpu:1g.10gb=2", "gpu - 2;gpu 1g.10gb 2;"},
        {"cpu=4,gres/gpu=1", "cpu - 4;gpu - 1;"},
        /* options of sbatch */
        {"gpu", "gpu - 1;"},
        {"gpu:a100", "gpu a100 1;"},
        {"gpu:3g.20gb", "gpu 3g.20gb 1;"},
        {"gpu:a100:2, shard:1", "gpu a100 2;shard - 1;"},
        {"gpu:0", "gpu - 0;"},
        {"", ""},
        {" ,\t, ", ""},
        /* no lists at all */
        {"gpu:", "gpu - 1;"},
        {"gpu:a100:99999999999", "gpu a100:99999999999 1;"},
        {"gpu:a100:2(S:0", "gpu a100 2;"},
        {"gpu:a100:2)", "gpu a100:2) 1;"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *at = cases[i].list;
        struct slurm_gres gres;
        struct buf out = BUF_INIT;

        while (slurm_gres_next(&at, &gres))
            buf_printf(&out, "%s %s %lld;", gres.name,
                       gres.type[0] != '\0' ? gres.type : "-",
                       (long long)gres.count);
        assert_string_equal(buf_text(&out), cases[i].expected);
        buf_clear(&out);
    }
}

static void test_gres__too_long_is_cut(void **state)
{
    char list[1000] = "gpu:";
    const char *at = list;
    struct slurm_gres gres;

    (void)state;
    memset(list + 4, 'x', sizeof(list) - 5);
    assert_true(slurm_gres_next(&at, &gres));
    assert_string_equal(gres.name, "gpu");
    assert_int_equal(strlen(gres.type), GRES_TYPE_MAX - 1);
    assert_false(slurm_gres_next(&at, &gres));
}

static void test_gres__options_of_sbatch_are_joined(void **state)
{
    static const struct {
        const char *prefix, *option, *expected;
    } cases[] = {
        {"gres/gpu:", "2", "gres/gpu:2"},
        {"gres/gpu:", "a100:2,v100:1", "gres/gpu:a100:2,gres/gpu:v100:1"},
        {"gres/gpu:", "a100=2, v100=1", "gres/gpu:a100:2,gres/gpu:v100:1"},
        {"gres/", "gpu:a100_1g.5gb:2,shard:1",
         "gres/gpu:a100_1g.5gb:2,gres/shard:1"},
        {"gres/", "gres/gpu:2,gres:shard=1", "gres/gpu:2,gres/shard:1"},
        {"gres/", ",", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = BUF_INIT;

        slurm_gres_add(&out, cases[i].prefix, cases[i].option);
        assert_string_equal(buf_text(&out), cases[i].expected);
        buf_clear(&out);
    }
}

static void test_gres__gpus_of_a_node_are_counted_by_type(void **state)
{
    struct slurm_site site = {0};
    struct slurm_partition *gpu = slurm_site_add(&site, "gpu");

    (void)state;
    slurm_partition_add(gpu, 2, 32, 1 << 20, "gpu:a100:1,gpu:a100_3g.20gb:2");
    slurm_partition_add(gpu, 1, 32, 1 << 20,
                        "gpu:a100:2(S:0),gpu:a100:2(S:1),nic:4");
    slurm_partition_add(gpu, 1, 64, 1 << 20, "gpu:3");
    assert_int_equal(slurm_partition_gpus(gpu, NULL), 4);
    assert_int_equal(slurm_partition_gpus(gpu, "a100"), 4);
    assert_int_equal(slurm_partition_gpus(gpu, "a100_3g.20gb"), 2);
    assert_int_equal(slurm_partition_gpus(gpu, "v100"), 0);
    assert_int_equal(slurm_partition_gpus(gpu, "nic"), 0);
    slurm_site_clear(&site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gres__of_every_form),
        cmocka_unit_test(test_gres__too_long_is_cut),
        cmocka_unit_test(test_gres__options_of_sbatch_are_joined),
        cmocka_unit_test(test_gres__gpus_of_a_node_are_counted_by_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
