/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked: which jobs there are and were, and what the cluster has. */
#include "executors/slurm/talk/transport.h"

#include "base/compiler.h"
#include "tests/unit/executors/slurm/talk/commands_test.h"

#define S "\\037"
#define QUEUE_HEAD                                                             \
    "printf 'JOBID" S "A" S "T" S "S" S "R" S "N" S "X" S "C" S "B" S "E" S    \
    "NAME" S "\\n'\n"
#define QUEUE_ROW                                                              \
    "printf '5" S "5" S "N/A" S "RUNNING" S "" S "n1" S "0" S "0" S "17" S     \
    "18" S "smt-1-j2" S "\\n'\n"

/* -- Listings -------------------------------------------------------------*/

static void test_slurm_commands__lists_what_is_whole(void **state)
{
    static const struct {
        const char *program;
        enum slurm_answer answer;
        size_t count;
    } cases[] = {
        {QUEUE_HEAD, SLURM_DONE, 0},
        {QUEUE_HEAD QUEUE_ROW QUEUE_ROW, SLURM_DONE, 2},
        {"exit 0", SLURM_SILENT, 0},
        {QUEUE_HEAD QUEUE_ROW "printf 5", SLURM_SILENT, 0},
        {QUEUE_HEAD QUEUE_ROW "exit 1", SLURM_SILENT, 0},
        {QUEUE_HEAD QUEUE_ROW "kill -9 $$", SLURM_SILENT, 0},
        {QUEUE_ROW, SLURM_SILENT, 0},
        {"head -c 1000 /dev/urandom", SLURM_SILENT, 0},
        {"echo 'slurm_load_jobs error: Unable to contact slurm controller "
         "(connect failure)' >&2; exit 1",
         SLURM_SILENT, 0},
    };
    struct desk *desk = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        place_program(desk->root, "squeue", cases[i].program);
        list(desk);
        assert_int_equal(desk->reply.answer, cases[i].answer);
        assert_int_equal(desk->count, cases[i].count);
    }
}

static void test_slurm_commands__accounts_since_a_time(void **state)
{
    const int64_t ids[] = {14, 15}, since_ms = 1795318010123;
    struct desk *desk = *state;
    char *words;

    setenv("TZ", "UTC", 1);
    place_program(desk->root, "sacct",
                  "printf '%s\\n' \"$@\" >$ROOT/words\n"
                  "printf 'JobIDRaw" S "J" S "S" S "R" S "N" S "X" S "B" S "E" S
                  "NAME" S "\\n'\n"
                  "printf '14" S "14" S "FAILED" S "None" S "n3" S "3:0" S
                  "1795318010" S "1795318011" S "smt-1-j1" S "\\n'\n");
    desk->transport->type->account(desk->transport, ids, 2, since_ms, on_listed,
                                   desk);
    answer(desk);
    assert_int_equal(desk->reply.answer, SLURM_DONE);
    assert_int_equal(desk->count, 1);
    assert_string_equal(desk->names, "smt-1-j1");
    words = content(desk, "words");
    assert_non_null(strstr(words, "--starttime=2026-11-22T01:26:50\n"));
    assert_non_null(strstr(words, "--jobs=14,15\n"));
    free(words);
    place_program(desk->root, "sacct",
                  "echo 'Slurm accounting storage is disabled' >&2; exit 1");
    desk->transport->type->account(desk->transport, ids, 2, since_ms, on_listed,
                                   desk);
    answer(desk);
    assert_int_equal(desk->reply.answer, SLURM_REFUSED);
    unsetenv("TZ");
}

/* -- The cluster ----------------------------------------------------------*/

#define CONFIG                                                                 \
    "AccountingStorageType   = accounting_storage/slurmdbd\n"                  \
    "ClusterName             = lab\nMaxArraySize            = 1001\n"          \
    "MaxJobCount             = 10000\nMinJobAge               = 300 sec\n"     \
    "SLURM_VERSION           = 22.05.8\n"
#define SITE_HEAD                                                              \
    "printf 'PARTITION" S "A" S "N" S "C" S "M" S "G" S "T" S "D" S "L" S      \
    "\\n'\n"

static void on_site(void *user, const struct slurm_reply *reply,
                    struct slurm_site *site)
{
    struct desk *desk = user;

    take(desk, reply);
    assert_int_equal(site != NULL, reply->answer == SLURM_DONE);
    if (site == NULL)
        return;
    assert_string_equal(site->version, "22.05.8");
    assert_string_equal(site->cluster, "lab");
    assert_int_equal(site->array_max, 1001);
    assert_int_equal(site->jobs_max, 10000);
    assert_int_equal(site->job_age_ms, 300000);
    assert_true(site->has_accounting);
    assert_int_equal(site->partition_count, 2);
    assert_string_equal(slurm_site_partition(site, NULL)->name, "batch");
    assert_int_equal(site->partitions[0].nodes, 4);
    assert_int_equal(site->partitions[0].node_cpus, 8);
    assert_int_equal(site->partitions[0].node_gpus, 6);
    assert_int_equal(site->partitions[0].node_memory_bytes, 16000LL << 20);
    assert_int_equal(site->partitions[0].default_time_ms, 600000);
    assert_int_equal(site->partitions[0].max_time_ms, 0);
    assert_false(site->partitions[1].is_up);
    assert_int_equal(site->partitions[1].max_time_ms, 93784000);
    assert_null(slurm_site_partition(site, "nowhere"));
}

static void on_limits(void *user, const struct slurm_reply *reply,
                      struct slurm_site *site)
{
    struct desk *desk = user;

    take(desk, reply);
    if (site != NULL)
        slurm_site_move(&desk->site, site);
}

static void test_slurm_commands__describes_the_cluster(void **state)
{
    struct desk *desk = *state;

    place_program(desk->root, "scontrol", "cat <<E\n" CONFIG "E\n");
    place_program(desk->root, "sinfo",
                  SITE_HEAD "printf 'batch*" S "up" S "3" S "16" S "16000" S
                            "gpu:a:4(S:0,1),gpu:b:2" S "infinite" S "10:00" S
                            "n[1-3]" S "\\n'\n"
                            "printf 'batch*" S "up" S "1" S "8" S "32000" S
                            "(null)" S "infinite" S "10:00" S "n4" S "\\n'\n"
                            "printf 'old" S "down" S "1" S "8" S "32000" S
                            "gpus" S "1-02:03:04" S "n/a" S "n4" S "\\n'\n");
    desk->transport->type->describe(desk->transport, on_site, desk);
    answer(desk);
    assert_int_equal(desk->reply.answer, SLURM_DONE);
    assert_int_equal(desk->transport->requests, 2); /* no limits enforced */
    place_program(desk->root, "sinfo", SITE_HEAD "printf 'batch*" S "up'");
    desk->transport->type->describe(desk->transport, on_site, desk);
    answer(desk);
    assert_int_equal(desk->reply.answer, SLURM_SILENT);
    place_program(desk->root, "scontrol", "echo nonsense");
    desk->transport->type->describe(desk->transport, on_site, desk);
    answer(desk);
    assert_int_equal(desk->reply.answer, SLURM_SILENT);
}

/* Each question that depends on the accounting may fail by itself. */
static void test_slurm_commands__asks_for_limits_that_count(void **state)
{
    static const char *const accounting[] = {
        "case $4 in qos) echo 'few|00:05:00|OverPartQOS';;\n"
        "user) echo \"lab|lab||few|few|00:07:00\"; echo $* >$ROOT/words;;\n"
        "esac\n",
        "echo 'sacctmgr: error: Sending PersistInit msg' >&2; exit 1\n"};
    struct desk *desk = *state;
    char *words;

    place_program(desk->root, "scontrol",
                  "case \"$*\" in\n*config) cat <<E\n" CONFIG
                  "AccountingStorageEnforce = associations,limits\nE\n;;\n"
                  "*partition) echo PartitionName=batch QoS=few Max=3;;\n"
                  "*) printf 'QOS=few(2)\\n    MaxWallPJ=6\\n';;\nesac\n");
    place_program(desk->root, "sinfo",
                  SITE_HEAD "printf 'batch*" S "up" S "3" S "16" S "16000" S
                            "(null)" S "infinite" S "10:00" S "n[1-3]" S
                            "\\n'\n");
    for (size_t i = 0; i < ARRAY_LEN(accounting); i++) {
        place_program(desk->root, "sacctmgr", accounting[i]);
        desk->transport->type->describe(desk->transport, on_limits, desk);
        answer(desk);
        assert_int_equal(desk->reply.answer, SLURM_DONE);
        assert_string_equal(desk->site.partitions[0].qos, "few");
        assert_int_equal(desk->site.qos_count, 1);
        assert_int_equal(desk->site.qos_list[0].max_time_ms,
                         i == 0 ? 300000 : 360000);
        assert_int_equal(desk->site.association_count, i == 0);
        slurm_site_clear(&desk->site);
    }
    words = content(desk, "words");
    assert_non_null(strstr(words, " cluster=lab withassoc format="));
    free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_slurm_commands__lists_what_is_whole),
        TEST(test_slurm_commands__accounts_since_a_time),
        TEST(test_slurm_commands__describes_the_cluster),
        TEST(test_slurm_commands__asks_for_limits_that_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
