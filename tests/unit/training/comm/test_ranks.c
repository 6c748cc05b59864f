/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Sets the variables, "NAME=value" each and NULL at the end; none else. */
static int read_with(struct ranks *ranks, struct err *err, ...)
{
    char *texts[16] = {NULL};
    va_list list;
    const char *text;
    int status, count = 0;

    clearenv();
    va_start(list, err);
    while ((text = va_arg(list, const char *)) != NULL && count < 16) {
        texts[count] = strdup(text);
        putenv(texts[count++]);
    }
    va_end(list);
    status = ranks_read(ranks, err);
    clearenv();
    while (count > 0)
        free(texts[--count]);
    return status;
}

static void test_ranks__one_where_nothing_is_set(void **state)
{
    struct ranks ranks;
    struct err err;

    (void)state;
    assert_int_equal(read_with(&ranks, &err, NULL), 0);
    assert_int_equal(ranks.rank, 0);
    assert_int_equal(ranks.size, 1);
    assert_int_equal(ranks.local_size, 1);
    assert_true(ranks.host[0] != '\0');
}

static void test_ranks__by_the_names_of_torchrun(void **state)
{
    struct ranks ranks;
    struct err err;

    (void)state;
    assert_int_equal(read_with(&ranks, &err, "RANK=3", "WORLD_SIZE=4",
                               "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2",
                               "MASTER_ADDR=a.example", "MASTER_PORT=1234",
                               "OMPI_COMM_WORLD_RANK=0",
                               "OMPI_COMM_WORLD_SIZE=9", NULL),
                     0);
    assert_int_equal(ranks.rank, 3);
    assert_int_equal(ranks.size, 4);
    assert_int_equal(ranks.local_rank, 1);
    assert_int_equal(ranks.local_size, 2);
    assert_string_equal(ranks.address, "a.example");
    assert_int_equal(ranks.port, 1234);
}

static void test_ranks__on_one_host_where_nothing_else_is_said(void **state)
{
    struct ranks ranks;
    struct err err;

    (void)state;
    assert_int_equal(read_with(&ranks, &err, "RANK=1", "WORLD_SIZE=2", NULL),
                     0);
    assert_int_equal(ranks.local_rank, 1);
    assert_int_equal(ranks.local_size, 2);
    assert_string_equal(ranks.address, "127.0.0.1");
    assert_int_equal(ranks.port, 29500);
}

static void test_ranks__of_one_mpirun_meet_at_one_port(void **state)
{
    struct ranks ranks, other;
    struct err err;

    (void)state;
    assert_int_equal(read_with(&ranks, &err, "OMPI_COMM_WORLD_RANK=1",
                               "OMPI_COMM_WORLD_SIZE=2", "PMIX_NAMESPACE=77",
                               NULL),
                     0);
    assert_int_equal(ranks.rank, 1);
    assert_int_equal(read_with(&other, &err, "OMPI_COMM_WORLD_RANK=0",
                               "OMPI_COMM_WORLD_SIZE=2", "PMIX_NAMESPACE=77",
                               NULL),
                     0);
    assert_int_equal(ranks.port, other.port);
    assert_int_equal(read_with(&other, &err, "OMPI_COMM_WORLD_RANK=0",
                               "OMPI_COMM_WORLD_SIZE=2", "PMIX_NAMESPACE=78",
                               NULL),
                     0);
    assert_int_not_equal(ranks.port, other.port);
}

static void test_ranks__by_pmi(void **state)
{
    struct ranks ranks;
    struct err err;

    (void)state;
    assert_int_equal(read_with(&ranks, &err, "PMI_RANK=5", "PMI_SIZE=8",
                               "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=4",
                               "MASTER_ADDR=b", NULL),
                     0);
    assert_int_equal(ranks.rank, 5);
    assert_int_equal(ranks.local_rank, 1);
    assert_int_equal(ranks.local_size, 4);
}

static void test_ranks__of_a_step_meet_at_its_first_node(void **state)
{
    struct ranks ranks;
    struct err err;

    (void)state;
    assert_int_equal(
        read_with(&ranks, &err, "SLURM_PROCID=2", "SLURM_NTASKS=4",
                  "SLURM_LOCALID=0", "SLURM_STEP_ID=1", "SLURM_JOB_ID=12",
                  "SLURM_STEP_NODELIST=gpu[07-09,12]-x,other", NULL),
        0);
    assert_int_equal(ranks.rank, 2);
    assert_int_equal(ranks.size, 4);
    assert_int_equal(ranks.local_rank, 0);
    assert_string_equal(ranks.address, "gpu07-x");
}

static void test_ranks__a_batch_script_is_no_task(void **state)
{
    struct ranks ranks;
    struct err err;

    (void)state;
    assert_int_equal(read_with(&ranks, &err, "SLURM_PROCID=0", "SLURM_NTASKS=4",
                               "SLURM_JOB_ID=12", NULL),
                     0);
    assert_int_equal(ranks.size, 1);
    assert_int_equal(read_with(&ranks, &err, "SLURM_PROCID=0", "SLURM_NTASKS=4",
                               "SLURM_JOB_ID=12", "SLURM_STEP_ID=4294967291",
                               NULL),
                     0);
    assert_int_equal(ranks.size, 1);
}

static void test_ranks__what_contradicts_itself_is_named(void **state)
{
    struct ranks ranks;
    struct err err;

    (void)state;
    assert_int_equal(read_with(&ranks, &err, "RANK=0", NULL), -1);
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.text, "WORLD_SIZE is not"));
    assert_int_equal(read_with(&ranks, &err, "RANK=4", "WORLD_SIZE=4", NULL),
                     -1);
    assert_non_null(
        strstr(err.text, "RANK: expected a number from 0 to 3, got '4'"));
    assert_int_equal(read_with(&ranks, &err, "RANK=0", "WORLD_SIZE=2x", NULL),
                     -1);
    assert_non_null(strstr(err.text, "'2x'"));
    assert_int_equal(read_with(&ranks, &err, "RANK=0", "WORLD_SIZE=4",
                               "LOCAL_WORLD_SIZE=2", "LOCAL_RANK=0", NULL),
                     -1);
    assert_non_null(strstr(err.text, "MASTER_ADDR is not set"));
    assert_int_equal(read_with(&ranks, &err, "RANK=0", "WORLD_SIZE=2",
                               "MASTER_PORT=70000", NULL),
                     -1);
    assert_non_null(strstr(err.text, "MASTER_PORT"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks__one_where_nothing_is_set),
        cmocka_unit_test(test_ranks__by_the_names_of_torchrun),
        cmocka_unit_test(test_ranks__on_one_host_where_nothing_else_is_said),
        cmocka_unit_test(test_ranks__of_one_mpirun_meet_at_one_port),
        cmocka_unit_test(test_ranks__by_pmi),
        cmocka_unit_test(test_ranks__of_a_step_meet_at_its_first_node),
        cmocka_unit_test(test_ranks__a_batch_script_is_no_task),
        cmocka_unit_test(test_ranks__what_contradicts_itself_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
