/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/folder.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "executors/slurm/talk/commands_impl.h"
#include "executors/slurm/talk/transport.h"

/* The transport, with programs of a test's own where Slurm's would be. */

#define S "\\037"
#define QUEUE_HEAD                                                             \
    "printf 'JOBID" S "A" S "T" S "S" S "R" S "N" S "X" S "C" S "B" S "E" S    \
    "NAME" S "\\n'\n"
#define QUEUE_ROW                                                              \
    "printf '5" S "5" S "N/A" S "RUNNING" S "" S "n1" S "0" S "0" S "17" S     \
    "18" S "smt-1-j2" S "\\n'\n"

struct desk {
    char *root;
    uv_loop_t loop;
    struct slurm_transport *transport;
    struct slurm_reply reply;
    int64_t id;
    size_t count;
    char names[256];
    struct slurm_site site;
    int answers;
    bool is_destroyed;
};

static void place_program(const char *root, const char *name, const char *text)
{
    char *script = mem_printf("#!/bin/sh\n%s", text);
    char *path = mem_printf("%s/bin/%s", root, name);

    put(root, "bin", name, script);
    assert_int_equal(chmod(path, 0700), 0);
    free(path);
    free(script);
}

static int open_desk(void **state)
{
    static const char *const programs[] = {"sbatch",  "squeue",   "sacct",
                                           "scancel", "scontrol", "sinfo",
                                           "sacctmgr"};
    const struct slurm_options options = {0};
    struct desk *desk = mem_zero(sizeof(*desk));
    char *path;

    if (make_folder((void **)&desk->root) != 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        place_program(desk->root, programs[i], "exit 0");
    path = mem_printf("%s/bin:/usr/bin:/bin", desk->root);
    setenv("PATH", path, 1);
    free(path);
    setenv("ROOT", desk->root, 1);
    uv_loop_init(&desk->loop);
    desk->transport = slurm_transport_create(&desk->loop, &options, NULL);
    *state = desk;
    return desk->transport != NULL ? 0 : -1;
}

static void on_destroyed(void *user)
{
    struct desk *desk = user;

    desk->is_destroyed = true;
}

static int close_desk(void **state)
{
    struct desk *desk = *state;

    if (!desk->is_destroyed)
        desk->transport->type->destroy(desk->transport, on_destroyed, desk);
    uv_run(&desk->loop, UV_RUN_DEFAULT);
    assert_true(desk->is_destroyed);
    assert_int_equal(uv_loop_close(&desk->loop), 0);
    slurm_site_clear(&desk->site);
    remove_folder((void **)&desk->root);
    free(desk);
    return 0;
}

/* What a file in the test's folder holds. */
static char *content(const struct desk *desk, const char *name)
{
    struct buf text = BUF_INIT;
    char *path = fs_join(desk->root, name);

    assert_int_equal(fs_read(path, 1 << 20, &text, NULL), 0);
    free(path);
    return text.data != NULL ? text.data : mem_copy_string("");
}

static void take(struct desk *desk, const struct slurm_reply *reply)
{
    desk->reply = *reply;
    desk->answers++;
}

static void on_submitted(void *user, const struct slurm_reply *reply,
                         int64_t id)
{
    struct desk *desk = user;

    take(desk, reply);
    desk->id = id;
}

static void on_listed(void *user, const struct slurm_reply *reply,
                      const struct slurm_job *jobs, size_t count)
{
    struct desk *desk = user;

    take(desk, reply);
    desk->count = count;
    desk->names[0] = '\0';
    for (size_t i = 0; i < count; i++)
        snprintf(desk->names, sizeof(desk->names), "%s", jobs[i].name);
}

static void on_done(void *user, const struct slurm_reply *reply)
{
    take(user, reply);
}

static void on_site(void *user, const struct slurm_reply *reply,
                    const struct slurm_site *site)
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
                      const struct slurm_site *site)
{
    struct desk *desk = user;

    take(desk, reply);
    if (site != NULL)
        slurm_site_copy(&desk->site, site);
}

static void answer(struct desk *desk)
{
    int before = desk->answers;

    assert_int_equal(before, 0); /* never from inside the call */
    uv_run(&desk->loop, UV_RUN_DEFAULT);
    assert_int_equal(desk->answers, 1);
    desk->answers = 0;
}

static const struct slurm_submission plain = {.name = "smt-1-j1",
                                              .directory = "/tmp",
                                              .log = "/tmp/log",
                                              .script = "#!/bin/sh\n"};

static void submit(struct desk *desk, const struct slurm_submission *submission)
{
    desk->transport->type->submit(desk->transport, submission, on_submitted,
                                  desk);
    answer(desk);
}

static void list(struct desk *desk)
{
    desk->transport->type->list(desk->transport, "smt-1-", on_listed, desk);
    answer(desk);
}

/* -- Submissions ----------------------------------------------------------*/

static void test_slurm_commands__submits_as_it_is_told(void **state)
{
    static const char *const extra[] = {"--comment", "a b"};
    static const char *const avoid[] = {"n1", "n2", NULL};
    const struct slurm_ask fallback = {.partition = "batch", .account = "us"};
    const struct slurm_ask own = {.partition = "high",
                                  .qos = "q",
                                  .extra = extra,
                                  .extra_count = ARRAY_LEN(extra)};
    const struct slurm_submission submission = {.name = "smt-1-j7",
                                                .directory = "/tmp/a 'b\" $c",
                                                .log = "/tmp/l %j\\o g",
                                                .script =
                                                    "#!/bin/sh\necho '$x'\n",
                                                .ask = &own,
                                                .fallback = &fallback,
                                                .nodes = 2,
                                                .tasks = 4,
                                                .cpus = 9,
                                                .gpus = 3,
                                                .memory_bytes = (100 << 20) + 1,
                                                .time_ms = 60001,
                                                .array = 5,
                                                .after = 12,
                                                .avoid = avoid,
                                                .without_environment = true};
    struct desk *desk = *state;
    char *words, *script;

    place_program(desk->root, "sbatch",
                  "printf '%s\\n' \"$@\" >$ROOT/words; cat >$ROOT/script\n"
                  "echo '42;cluster'");
    submit(desk, &submission);
    assert_int_equal(desk->reply.answer, SLURM_DONE);
    assert_int_equal(desk->id, 42);
    words = content(desk, "words");
    script = content(desk, "script");
    assert_string_equal(script, submission.script);
    assert_string_equal(words, "--parsable\n--open-mode=append\n--no-requeue\n"
                               "--export=NIL\n--job-name=smt-1-j7\n"
                               "--chdir=/tmp/a 'b\" $c\n"
                               "--output=/tmp/l \\%j\\\\o g\n"
                               "--nodes=2\n--ntasks=4\n--ntasks-per-node=2\n"
                               "--cpus-per-task=3\n"
                               "--gres=gpu:2\n--mem=101M\n--time=2\n"
                               "--array=0-4\n--exclude=n1,n2\n"
                               "--dependency=afternotok:12\n"
                               "--kill-on-invalid-dep=yes\n"
                               "--partition=high\n--account=us\n--qos=q\n"
                               "--comment\na b\n");
    free(words);
    free(script);
}

static void test_slurm_commands__says_nothing_that_was_not_asked(void **state)
{
    struct desk *desk = *state;
    char *words;

    place_program(desk->root, "sbatch",
                  "printf '%s\\n' \"$@\" >$ROOT/words; echo 1");
    submit(desk, &plain);
    assert_int_equal(desk->id, 1);
    words = content(desk, "words");
    assert_string_equal(words, "--parsable\n--open-mode=append\n--no-requeue\n"
                               "--export=ALL\n--job-name=smt-1-j1\n"
                               "--chdir=/tmp\n--output=/tmp/log\n"
                               "--nodes=1\n--ntasks=1\n");
    free(words);
}

static void test_slurm_commands__no_variable_speaks_for_us(void **state)
{
    const struct slurm_options options = {0};
    struct desk *desk = *state;
    char *words;

    place_program(desk->root, "sbatch", "env >$ROOT/words; echo 1");
    place_program(desk->root, "squeue", "env >$ROOT/words; exit 1");
    desk->transport->type->destroy(desk->transport, on_destroyed, desk);
    uv_run(&desk->loop, UV_RUN_DEFAULT);
    desk->is_destroyed = false;
    setenv("SBATCH_ARRAY_INX", "0-9", 1);
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SQUEUE_FORMAT", "%i", 1);
    setenv("SBATCH_ACCOUNT", "ours", 1);
    setenv("SLURM_CONF", "/there", 1);
    desk->transport = slurm_transport_create(&desk->loop, &options, NULL);
    unsetenv("SBATCH_ARRAY_INX");
    unsetenv("SLURM_JOB_ID");
    unsetenv("SQUEUE_FORMAT");
    unsetenv("SBATCH_ACCOUNT");
    unsetenv("SLURM_CONF");
    submit(desk, &plain);
    words = content(desk, "words");
    assert_null(strstr(words, "SBATCH_ARRAY_INX"));
    assert_null(strstr(words, "SLURM_JOB_ID"));
    assert_null(strstr(words, "SLURM_TIME_FORMAT")); /* jobs would have it */
    assert_non_null(strstr(words, "SBATCH_ACCOUNT=ours\n"));
    assert_non_null(strstr(words, "SLURM_CONF=/there\n"));
    free(words);
    list(desk);
    words = content(desk, "words");
    assert_null(strstr(words, "SQUEUE_FORMAT"));
    assert_non_null(strstr(words, "SLURM_TIME_FORMAT=%s\n"));
    free(words);
}

static void test_slurm_commands__only_a_clear_word_is_believed(void **state)
{
    static const struct {
        const char *program;
        enum slurm_answer answer;
    } cases[] = {
        {"echo 7", SLURM_DONE},
        {"echo 'sbatch: a greeting' >&2; echo 7", SLURM_DONE},
        {"echo 'Welcome to the 9th!'; echo; echo 7", SLURM_DONE},
        {"exit 0", SLURM_SILENT},
        {"echo 7; echo", SLURM_SILENT},
        {"printf 7", SLURM_SILENT}, /* may have been 77 */
        {"echo 7x", SLURM_SILENT},
        {"echo 'Submitted batch job 7'", SLURM_SILENT},
        {"echo 7; kill -9 $$", SLURM_SILENT},
        {"echo 7; echo 'Batch job submission failed: x' >&2; exit 1",
         SLURM_SILENT},
        {"exit 1", SLURM_SILENT},
        {"echo nonsense >&2; exit 1", SLURM_SILENT},
        {"echo 'sbatch: error: Batch job submission failed: Socket timed out "
         "on send/recv operation' >&2; exit 1",
         SLURM_SILENT},
        {"echo 'sbatch: error: Batch job submission failed: Unable to contact "
         "slurm controller (connect failure)' >&2; exit 1",
         SLURM_SILENT},
        {"echo 'sbatch: error: Batch job submission failed: Unexpected missing "
         "socket error' >&2; exit 1",
         SLURM_SILENT},
        {"echo 'sbatch: error: Slurm temporarily unable to accept job, "
         "sleeping and retrying' >&2; sleep 100; echo 7",
         SLURM_LATER},
        {"echo 'sbatch: error: AssocMaxSubmitJobLimit' >&2\n"
         "echo 'sbatch: error: Batch job submission failed: Job violates "
         "accounting/QOS policy (job submit limit, user'\\''s size and/or time "
         "limits)' >&2; exit 1",
         SLURM_LATER},
        {"echo 'sbatch: error: QOSMaxWallDurationPerJobLimit' >&2\n"
         "echo 'sbatch: error: Batch job submission failed: Job violates "
         "accounting/QOS policy' >&2; exit 1",
         SLURM_REFUSED},
        {"echo 'sbatch: error: Batch job submission failed: Invalid partition "
         "name specified' >&2; exit 1",
         SLURM_REFUSED},
        {"echo 'sbatch: error: Invalid --time specification' >&2; exit 255",
         SLURM_REFUSED},
        {"echo \"sbatch: unrecognized option '--foo'\" >&2; exit 255",
         SLURM_REFUSED},
    };
    struct desk *desk = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        place_program(desk->root, "sbatch", cases[i].program);
        submit(desk, &plain);
        assert_int_equal(desk->reply.answer, cases[i].answer);
        assert_int_equal(desk->id, desk->reply.answer == SLURM_DONE ? 7 : 0);
        assert_int_equal(desk->reply.text[0] != '\0',
                         desk->reply.answer != SLURM_DONE);
        assert_null(strchr(desk->reply.text, '\n'));
        assert_null(strstr(desk->reply.text, "sbatch: error: "));
    }
    place_program(desk->root, "sbatch",
                  "echo 'sbatch: error: invalid partition specified: x' >&2\n"
                  "echo 'sbatch: error: Batch job submission failed: Invalid "
                  "partition name specified' >&2; exit 1");
    submit(desk, &plain);
    assert_string_equal(desk->reply.text,
                        "invalid partition specified: x; Batch job submission "
                        "failed: Invalid partition name specified");
}

static void test_slurm_commands__a_missing_program_answers_later(void **state)
{
    struct desk *desk = *state;
    char *path = mem_printf("%s/bin/sbatch", desk->root);

    assert_int_equal(unlink(path), 0);
    free(path);
    submit(desk, &plain);
    assert_int_equal(desk->reply.answer, SLURM_SILENT);
    assert_non_null(strstr(desk->reply.text, "cannot start"));
}

static void test_slurm_commands__needs_its_programs(void **state)
{
    const struct slurm_options options = {.transport = "comands"};
    const struct slurm_options none = {0};
    struct desk *desk = *state;
    struct err err;

    assert_null(slurm_transport_create(&desk->loop, &options, &err));
    assert_int_equal(err.kind, ERR_FILE);
    assert_non_null(strstr(err.text, "'commands'"));
    setenv("PATH", "/nowhere", 1);
    assert_null(slurm_transport_create(&desk->loop, &none, &err));
    assert_int_equal(err.kind, ERR_FILE);
    assert_non_null(strstr(err.text, "'sbatch'"));
}

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

/* -- Cancelling -----------------------------------------------------------*/

static void test_slurm_commands__cancels_in_batches(void **state)
{
    enum { COUNT = 1200 };
    struct slurm_target targets[COUNT];
    struct desk *desk = *state;
    char *words;

    for (int i = 0; i < COUNT; i++)
        targets[i] = (struct slurm_target){i + 1, i == 1 ? 3 : -1};
    place_program(desk->root, "scancel", "echo $# $1 $2 >>$ROOT/words; exit 0");
    desk->transport->type->cancel(desk->transport, targets, COUNT, 0, on_done,
                                  desk);
    answer(desk);
    assert_int_equal(desk->reply.answer, SLURM_DONE);
    words = content(desk, "words");
    assert_string_equal(words, "500 1 2_3\n500 501 502\n200 1001 1002\n");
    free(words);
}

static void test_slurm_commands__what_is_gone_is_cancelled(void **state)
{
    static const struct {
        const char *program;
        enum slurm_answer answer;
    } cases[] = {
        {"echo 'scancel: error: Kill job error on job id 9: Invalid job id "
         "specified' >&2; exit 1",
         SLURM_DONE},
        {"echo 'scancel: error: Kill job error on job id 9: Job/step already "
         "completing or completed' >&2; exit 1",
         SLURM_DONE},
        {"echo 'scancel: error: Kill job error on job id 9: Invalid job id "
         "specified' >&2\n"
         "echo 'scancel: error: Kill job error on job id 8: Access/permission "
         "denied' >&2; exit 1",
         SLURM_REFUSED},
        {"echo 'scancel: error: Kill job error on job id 9: Socket timed out "
         "on send/recv operation' >&2; exit 140",
         SLURM_SILENT},
        {"exit 1", SLURM_SILENT},
    };
    const struct slurm_target target = {9, -1};
    struct desk *desk = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        place_program(desk->root, "scancel", cases[i].program);
        desk->transport->type->cancel(desk->transport, &target, 1, 10, on_done,
                                      desk);
        answer(desk);
        assert_int_equal(desk->reply.answer, cases[i].answer);
    }
}

/* -- The rest -------------------------------------------------------------*/

#define CONFIG                                                                 \
    "AccountingStorageType   = accounting_storage/slurmdbd\n"                  \
    "ClusterName             = lab\nMaxArraySize            = 1001\n"          \
    "MaxJobCount             = 10000\nMinJobAge               = 300 sec\n"     \
    "SLURM_VERSION           = 22.05.8\n"
#define SITE_HEAD                                                              \
    "printf 'PARTITION" S "A" S "N" S "C" S "M" S "G" S "T" S "D" S "L" S      \
    "\\n'\n"

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

static void test_slurm_commands__gives_up_without_an_answer(void **state)
{
    struct desk *desk = *state;
    char *path = mem_printf("%s/bin/sbatch", desk->root);

    place_program(desk->root, "squeue", "exec sleep 1000");
    assert_int_equal(unlink(path), 0);
    free(path);
    desk->transport->type->list(desk->transport, "", on_listed, desk);
    desk->transport->type->submit(desk->transport, &plain, on_submitted, desk);
    desk->transport->type->destroy(desk->transport, on_destroyed, desk);
    assert_false(desk->is_destroyed);
    uv_run(&desk->loop, UV_RUN_DEFAULT);
    assert_true(desk->is_destroyed);
    assert_int_equal(desk->answers, 0);
}

static void destroy_it(void *user, const struct slurm_reply *reply, int64_t id)
{
    struct desk *desk = user;

    (void)id;
    take(desk, reply);
    desk->transport->type->destroy(desk->transport, on_destroyed, desk);
}

static void test_slurm_commands__may_be_destroyed_by_an_answer(void **state)
{
    struct desk *desk = *state;

    desk->transport->type->submit(desk->transport, &plain, destroy_it, desk);
    answer(desk);
    assert_true(desk->is_destroyed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_desk, close_desk)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_slurm_commands__submits_as_it_is_told),
        TEST(test_slurm_commands__says_nothing_that_was_not_asked),
        TEST(test_slurm_commands__no_variable_speaks_for_us),
        TEST(test_slurm_commands__only_a_clear_word_is_believed),
        TEST(test_slurm_commands__a_missing_program_answers_later),
        TEST(test_slurm_commands__needs_its_programs),
        TEST(test_slurm_commands__lists_what_is_whole),
        TEST(test_slurm_commands__accounts_since_a_time),
        TEST(test_slurm_commands__cancels_in_batches),
        TEST(test_slurm_commands__what_is_gone_is_cancelled),
        TEST(test_slurm_commands__describes_the_cluster),
        TEST(test_slurm_commands__asks_for_limits_that_count),
        TEST(test_slurm_commands__gives_up_without_an_answer),
        TEST(test_slurm_commands__may_be_destroyed_by_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
