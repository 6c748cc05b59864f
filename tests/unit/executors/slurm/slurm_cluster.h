/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_EXECUTORS_SLURM_SLURM_CLUSTER_H
#define SMTUNE_TESTS_UNIT_EXECUTORS_SLURM_SLURM_CLUSTER_H

#include "tests/unit/executors/executor_test.h"

#include "executors/attempt/attempt_file.h"
#include "executors/attempt/order_file.h"
#include "executors/attempt/pulse.h"
#include "executors/slurm/talk/transport.h"

/*
 * A cluster in memory behind the executor slurm: a transport whose answers the
 * test chooses, and jobs that are in the state that the test gives them. What
 * runs in them is told by files that the test writes. A test includes it once.
 */

enum { CLUSTER_JOBS_MAX = 12000, CLUSTER_ANSWERS_MAX = 64 };

struct cluster_job {
    int64_t id, array, after;
    int task, signal; /* the last that it was sent, -1: none */
    char name[SLURM_NAME_MAX];
    const char *word, *reason, *node;
    bool is_hidden; /* the queue has forgotten it */
    int cancels;
};

enum cluster_request { ASKED_SUBMIT, ASKED_LIST, ASKED_ACCOUNT, ASKED_CANCEL };

struct cluster_answer {
    enum cluster_request request;
    enum slurm_answer answer;
    int64_t id;
    union {
        slurm_submit_fn *submit;
        slurm_list_fn *list;
        slurm_done_fn *done;
    } to;
    void *user;
};

/* A transport to it; at the end of an executor there is a second one. */
struct cluster_link {
    struct slurm_transport transport; /* first */
    uv_timer_t timer;
    void (*closed)(void *user);
    void *closed_user;
};

struct cluster {
    int64_t requests;
    struct cluster_job jobs[CLUSTER_JOBS_MAX];
    size_t job_count;
    int64_t last_id;
    struct cluster_answer answers[CLUSTER_ANSWERS_MAX];
    size_t answer_count;
    /* What the next requests of a kind get. */
    enum slurm_answer submit_answer, list_answer, cancel_answer,
        describe_answer;
    bool loses_jobs; /* a submission without an answer was none */
    bool has_accounting, ignores_cancels;
    int array_max;
    int submits, lists, accounts, cancels;
    char script[4096]; /* of the last submission */
    char avoid[64];    /* the first node of it */
};

/* There is one at a time, which the test empties. */
static struct cluster cluster;

static void cluster_queue(const struct cluster_answer *answer)
{
    assert_true(cluster.answer_count < CLUSTER_ANSWERS_MAX);
    cluster.answers[cluster.answer_count++] = *answer;
    cluster.requests++;
}

static void cluster_fill(struct slurm_job *row, const struct cluster_job *job)
{
    *row = (struct slurm_job){.id = job->id,
                              .array = job->array,
                              .task = job->task,
                              .name = job->name,
                              .state = slurm_state_find(job->word),
                              .word = job->word,
                              .reason = job->reason,
                              .nodes = job->node,
                              .partition = ""};
}

/* The queue has what is not hidden, the accounting has all. */
static void cluster_tell(const struct cluster_answer *answer)
{
    const struct slurm_reply reply = {.answer = answer->answer,
                                      .text = "as the test says"};
    struct slurm_job *rows = mem_array(cluster.job_count + 1, sizeof(*rows));
    size_t count = 0;

    for (size_t i = 0; i < cluster.job_count; i++) {
        if (answer->request == ASKED_ACCOUNT || !cluster.jobs[i].is_hidden)
            cluster_fill(&rows[count++], &cluster.jobs[i]);
    }
    if (answer->request == ASKED_SUBMIT)
        answer->to.submit(answer->user, &reply, answer->id);
    else if (answer->request == ASKED_CANCEL)
        answer->to.done(answer->user, &reply);
    else
        answer->to.list(answer->user, &reply, rows,
                        reply.answer == SLURM_DONE ? count : 0);
    free(rows);
}

static void cluster_on_timer(uv_timer_t *timer)
{
    struct cluster_answer answers[CLUSTER_ANSWERS_MAX];
    size_t count = cluster.answer_count;

    (void)timer;
    memcpy(answers, cluster.answers, sizeof(answers));
    cluster.answer_count = 0;
    for (size_t i = 0; i < count; i++)
        cluster_tell(&answers[i]);
}

static void cluster_add(const struct slurm_submission *submission, int task)
{
    struct cluster_job *job = &cluster.jobs[cluster.job_count++];

    assert_true(cluster.job_count <= CLUSTER_JOBS_MAX);
    *job = (struct cluster_job){.id = cluster.last_id,
                                .array = task >= 0 ? cluster.last_id : 0,
                                .task = task,
                                .after = submission->after,
                                .signal = -1,
                                .word = "PENDING",
                                .reason = "",
                                .node = ""};
    snprintf(job->name, sizeof(job->name), "%s", submission->name);
}

static void cluster_submit(struct slurm_transport *transport,
                           const struct slurm_submission *submission,
                           slurm_submit_fn *done, void *user)
{
    struct cluster_answer answer = {
        .request = ASKED_SUBMIT, .answer = cluster.submit_answer, .user = user};

    (void)transport;
    cluster.submits++;
    snprintf(cluster.script, sizeof(cluster.script), "%s", submission->script);
    snprintf(cluster.avoid, sizeof(cluster.avoid), "%s",
             submission->avoid != NULL && submission->avoid[0] != NULL
                 ? submission->avoid[0]
                 : "");
    answer.to.submit = done;
    if (answer.answer == SLURM_DONE ||
        (answer.answer == SLURM_SILENT && !cluster.loses_jobs)) {
        answer.id = ++cluster.last_id;
        for (int i = 0; i < submission->array; i++)
            cluster_add(submission, i);
        if (submission->array == 0)
            cluster_add(submission, -1);
    }
    cluster_queue(&answer);
}

static void cluster_list(struct slurm_transport *transport, const char *prefix,
                         slurm_list_fn *done, void *user)
{
    struct cluster_answer answer = {
        .request = ASKED_LIST, .answer = cluster.list_answer, .user = user};

    (void)transport;
    assert_memory_equal(prefix, "smt-", 4);
    cluster.lists++;
    answer.to.list = done;
    cluster_queue(&answer);
}

static void cluster_account(struct slurm_transport *transport,
                            const int64_t *ids, size_t count, int64_t since_ms,
                            slurm_list_fn *done, void *user)
{
    struct cluster_answer answer = {
        .request = ASKED_ACCOUNT,
        .answer = cluster.has_accounting ? SLURM_DONE : SLURM_REFUSED,
        .user = user};

    (void)transport;
    assert_true(count > 0 && ids[0] > 0 && since_ms > 0);
    cluster.accounts++;
    answer.to.list = done;
    cluster_queue(&answer);
}

static void cluster_cancel(struct slurm_transport *transport,
                           const struct slurm_target *targets, size_t count,
                           int signal, slurm_done_fn *done, void *user)
{
    struct cluster_answer answer = {
        .request = ASKED_CANCEL, .answer = cluster.cancel_answer, .user = user};

    (void)transport;
    cluster.cancels++;
    for (size_t i = 0; i < cluster.job_count; i++) {
        struct cluster_job *job = &cluster.jobs[i];

        for (size_t t = 0; t < count; t++) {
            if (targets[t].id != (job->array != 0 ? job->array : job->id) ||
                (targets[t].task >= 0 && targets[t].task != job->task))
                continue;
            job->cancels++;
            job->signal = signal;
            if (signal == 0 && !cluster.ignores_cancels)
                job->word = "CANCELLED";
        }
    }
    answer.to.done = done;
    cluster_queue(&answer);
}

static void cluster_describe(struct slurm_transport *transport,
                             slurm_site_fn *done, void *user)
{
    struct slurm_site site = {.version = mem_copy_string("1"),
                              .cluster = mem_copy_string("test"),
                              .array_max = cluster.array_max,
                              .has_accounting = cluster.has_accounting};
    const struct slurm_reply reply = {.answer = cluster.describe_answer};

    (void)transport;
    done(user, &reply, reply.answer == SLURM_DONE ? &site : NULL);
    slurm_site_clear(&site);
}

static void cluster_on_closed(uv_handle_t *handle)
{
    struct cluster_link *link = handle->data;

    link->closed(link->closed_user);
    free(link);
}

static void cluster_close(struct slurm_transport *transport,
                          void (*done)(void *user), void *user)
{
    struct cluster_link *link = (struct cluster_link *)transport;

    cluster.answer_count = 0;
    link->closed = done;
    link->closed_user = user;
    uv_close((uv_handle_t *)&link->timer, cluster_on_closed);
}

static const struct slurm_transport_type cluster_transport = {
    .name = "cluster",
    .destroy = cluster_close,
    .submit = cluster_submit,
    .list = cluster_list,
    .account = cluster_account,
    .cancel = cluster_cancel,
    .describe = cluster_describe,
};

/* In the place of the library's. */
struct slurm_transport *slurm_transport_create(
    uv_loop_t *loop, const struct slurm_options *options, struct err *err)
{
    struct cluster_link *link = mem_zero(sizeof(*link));

    (void)options;
    (void)err;
    link->transport.type = &cluster_transport;
    uv_timer_init(loop, &link->timer);
    link->timer.data = link;
    uv_timer_start(&link->timer, cluster_on_timer, 1, 1);
    return &link->transport;
}

/* -- The executor ---------------------------------------------------------*/

enum { POLL_MS = 50, SILENCE_MS = 1500 };

static char state_directory[] = "/tmp/smtune-test-XXXXXX";

static const struct slurm_options slurm_test_options = {
    .ask = {.mode = "job"},
    .heartbeat_ms = 100,
    .silence_ms = SILENCE_MS,
    .poll_ms = POLL_MS,
    .transport = "commands"};

static const struct slurm_options slurm_array_options = {
    .ask = {.mode = "array"},
    .heartbeat_ms = 100,
    .silence_ms = SILENCE_MS,
    .poll_ms = POLL_MS,
    .transport = "commands"};

static const struct executor_options slurm_executor_options = {
    .name = "slurm",
    .state_directory = state_directory,
    .parallel = 100,
    .slurm = &slurm_test_options};

UNUSED static void open_cluster_of(struct bench *bench,
                                   const struct executor_options *options)
{
    memset(&cluster, 0, sizeof(cluster));
    cluster.last_id = 100;
    cluster.array_max = 1001;
    snprintf(state_directory, sizeof(state_directory),
             "/tmp/smtune-test-XXXXXX");
    assert_non_null(mkdtemp(state_directory));
    bench_open(bench, options);
}

UNUSED static void open_cluster(struct bench *bench)
{
    open_cluster_of(bench, &slurm_executor_options);
}

UNUSED static void close_cluster(struct bench *bench)
{
    bench_close(bench);
    fs_remove_tree(state_directory, NULL);
}

UNUSED static enum start_result start_job(struct bench *bench, int64_t attempt)
{
    struct attempt_spec spec = bench_spec(bench, attempt);
    static char program[] = "/bin/true";
    static char *const argv[] = {program, NULL};

    spec.argv = argv;
    spec.cpus = 1;
    return bench_start(bench, &spec, NULL);
}

/* -- What runs in a job ---------------------------------------------------*/

/* As smtune-shim does when it begins in the job. */
UNUSED static void claim_in(struct bench *bench, int64_t attempt, int64_t job,
                            const char *node)
{
    char *directory = bench_path(bench, attempt, NULL);
    struct claim claim = {.attempt = attempt,
                          .pid = 4000 + attempt,
                          .time_ms = clock_wall_ms(),
                          .job = job};
    char line[CLAIM_LINE_MAX];
    int fd = claim_create(directory, NULL);

    assert_true(fd >= 0);
    claim_identify(&claim);
    snprintf(claim.node, sizeof(claim.node), "%s", node);
    snprintf(claim.host, sizeof(claim.host), "elsewhere");
    fs_write_all(fd, line, claim_format(&claim, line));
    close(fd);
    free(directory);
    for (size_t i = 0; i < cluster.job_count; i++) {
        if (cluster.jobs[i].id == job)
            cluster.jobs[i].word = "RUNNING";
    }
}

UNUSED static void exit_in(struct bench *bench, int64_t attempt,
                           enum attempt_cause cause)
{
    char *directory = bench_path(bench, attempt, NULL);
    const struct attempt_exit end = {.attempt = attempt,
                                     .cause = cause,
                                     .exit_code = cause == CAUSE_OK ? 0 : -1,
                                     .started_ms = 1,
                                     .ended_ms = 2};

    assert_int_equal(exit_write(directory, &end, NULL), 0);
    free(directory);
}

UNUSED static void beat_in(struct bench *bench, int64_t attempt)
{
    char *directory = bench_path(bench, attempt, NULL);

    pulse_beat(directory, NULL);
    free(directory);
}

/* Turns of the loop for so long, beating for the attempt (0: for none). */
UNUSED static void pass(struct bench *bench, int64_t ms, int64_t attempt)
{
    int64_t end_ms = clock_monotonic_ms() + ms;

    while (clock_monotonic_ms() < end_ms) {
        if (attempt != 0)
            beat_in(bench, attempt);
        uv_run(&bench->loop, UV_RUN_ONCE);
    }
}

#endif
