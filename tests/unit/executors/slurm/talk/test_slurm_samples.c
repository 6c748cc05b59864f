/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/slurm/talk/rest_impl.h"
#include "executors/slurm/talk/rows.h"

/* The same jobs on every version of Slurm: tests/golden/slurm/README.md. */

#define PREFIX "smt-0badcafe-"

enum { JOBS = 12, FILE_MAX_BYTES = 1 << 20 };

static const int versions[] = {41, 42, 43, 44, 45};

/* JOB ARRAY TASK WORD REASON NODES EXIT SIGNAL. Job 3 was cancelled: its shell
 * ended by the signal, or reported the end of its child. */
static const char *const expected[] = {
    "1 0 -1 FAILED NonZeroExitCode n1 3 0",
    "2 0 -1 FAILED RaisedSignal n1 -1 9",
    "3 0 -1 CANCELLED  n1 143 0",
    "3 0 -1 CANCELLED  n1 -1 15",
    "4 0 -1 PENDING JobHeldUser  -1 0",
    "5 0 -1 PENDING PartitionTimeLimit  -1 0",
    "6 6 2 PENDING JobArrayTaskLimit  -1 0",
    "6 6 3 PENDING JobArrayTaskLimit  -1 0",
    "6 6 4 PENDING JobArrayTaskLimit  -1 0",
    "6 6 5 PENDING JobArrayTaskLimit  -1 0",
    "7 0 -1 COMPLETED  n1 0 0",
    "8 6 0 RUNNING  n1 -1 0",
    "9 6 1 RUNNING  n1 -1 0",
};

static void read_file(const char *name, struct buf *text)
{
    char *path = mem_printf("tests/golden/slurm/%s", name);
    struct err err;

    assert_int_equal(fs_read(path, FILE_MAX_BYTES, text, &err), 0);
    free(path);
}

/* A reason of squeue may have more words: "RaisedSignal:9(Killed)". */
static void check_rows(const struct slurm_job *jobs, size_t count)
{
    assert_int_equal(count, JOBS);
    for (size_t i = 0; i < count; i++) {
        const struct slurm_job *job = &jobs[i];
        char *line =
            mem_printf("%lld %lld %d %s %.*s %s %d %d", (long long)job->id,
                       (long long)job->array, job->task, job->word,
                       (int)strcspn(job->reason, ":"), job->reason, job->nodes,
                       job->exit_code, job->signal);
        size_t at = 0;

        while (at < ARRAY_LEN(expected) && strcmp(expected[at], line) != 0)
            at++;
        if (at == ARRAY_LEN(expected))
            fail_msg("unexpected row: %s", line);
        assert_true(job->state->phase != SLURM_UNKNOWN);
        assert_true((job->start_ms > 0) ==
                    (job->state->phase == SLURM_RUNNING ||
                     job->state->phase == SLURM_ENDED));
        free(line);
    }
}

static void test_slurm_samples__squeue(void **state)
{
    static const char *const files[] = {"squeue-24.11.txt", "squeue-26.05.txt"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct slurm_rows rows = {0};
        struct buf text = BUF_INIT;

        read_file(files[i], &text);
        assert_int_equal(slurm_rows_parse(&slurm_queue_rows, text.data,
                                          text.length, PREFIX, &rows),
                         0);
        check_rows(rows.jobs, rows.count);
        slurm_rows_clear(&rows);
        buf_clear(&text);
    }
}

/* The answer of that name in the file of the version; free(answer->body). */
static struct fetch_answer answer_of(int version, const char *name)
{
    char *file = mem_printf("rest-%d.json", version);
    struct buf text = BUF_INIT;
    json_t *all;
    char *body;

    read_file(file, &text);
    all = json_parse_up_to(text.data, text.length, FILE_MAX_BYTES, NULL);
    body = json_dumps(json_object_get(all, name), JSON_COMPACT);
    assert_non_null(body);
    json_decref(all);
    buf_clear(&text);
    free(file);
    return (struct fetch_answer){
        .status = 200, .text = "", .body = body, .body_bytes = strlen(body)};
}

static void test_slurm_samples__jobs_of_slurmrestd(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct fetch_answer answer = answer_of(versions[i], "jobs");
        struct slurm_rest_rows rows = {0};
        struct slurm_reply reply;

        slurm_rest_read_jobs(&answer, PREFIX, 0, &rows, &reply);
        assert_int_equal(reply.answer, SLURM_DONE);
        check_rows(rows.jobs, rows.count);
        for (size_t k = 0; k < rows.count; k++)
            assert_string_equal(rows.jobs[k].partition,
                                rows.jobs[k].id == 5 ? "short" : "batch");
        slurm_rest_rows_clear(&rows);
        free((void *)(uintptr_t)answer.body);
    }
}

static void test_slurm_samples__accounting_of_slurmrestd(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct fetch_answer answer = answer_of(versions[i], "account");
        struct slurm_rest_rows rows = {0};
        struct slurm_reply reply;

        slurm_rest_read_account(&answer, 0, &rows, &reply);
        assert_int_equal(reply.answer, SLURM_DONE);
        assert_int_equal(rows.count, 1);
        assert_int_equal(rows.jobs[0].id, 1);
        assert_string_equal(rows.jobs[0].word, "FAILED");
        assert_int_equal(rows.jobs[0].exit_code, 3);
        assert_string_equal(rows.jobs[0].nodes, "n1");
        slurm_rest_rows_clear(&rows);
        free((void *)(uintptr_t)answer.body);
    }
}

/* v0.0.45 alone reports the default partition. */
static void test_slurm_samples__cluster_of_slurmrestd(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct fetch_answer partitions = answer_of(versions[i], "partitions");
        struct fetch_answer nodes = answer_of(versions[i], "nodes");
        const struct slurm_partition *brief, *usual;
        struct slurm_site site = {0};
        struct slurm_reply reply;

        slurm_rest_read_partitions(&partitions, &site, &reply);
        assert_int_equal(reply.answer, SLURM_DONE);
        slurm_rest_read_nodes(&nodes, &site, &reply);
        assert_int_equal(reply.answer, SLURM_DONE);
        assert_string_equal(site.version,
                            versions[i] <= 42 ? "24.11.5" : "26.05.5");
        assert_int_equal(site.partition_count, 4);
        assert_int_equal(slurm_site_partition(&site, NULL) != NULL,
                         versions[i] == 45);
        slurm_site_set_default(&site, "nowhere");
        slurm_site_set_default(&site, "batch");
        usual = slurm_site_partition(&site, NULL);
        assert_string_equal(usual->name, "batch");
        assert_true(usual->is_up);
        assert_int_equal(usual->nodes, 4);
        assert_int_equal(usual->node_cpus, 16);
        assert_int_equal(usual->node_gpus, 4);
        assert_int_equal(usual->default_time_ms, 600000);
        assert_int_equal(usual->max_time_ms, 0);
        brief = slurm_site_partition(&site, "short");
        assert_int_equal(brief->nodes, 1);
        assert_int_equal(brief->max_time_ms, 120000);
        slurm_site_clear(&site);
        free((void *)(uintptr_t)partitions.body);
        free((void *)(uintptr_t)nodes.body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_samples__squeue),
        cmocka_unit_test(test_slurm_samples__jobs_of_slurmrestd),
        cmocka_unit_test(test_slurm_samples__accounting_of_slurmrestd),
        cmocka_unit_test(test_slurm_samples__cluster_of_slurmrestd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
