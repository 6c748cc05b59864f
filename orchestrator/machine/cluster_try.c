/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/attempt_file.h"
#include "executors/attempt/order_file.h"
#include "executors/slurm/script.h"
#include "orchestrator/machine/cluster.h"
#include "orchestrator/machine/cluster_link.h"

/*
 * The job is started as an attempt is: by an order that smtune-shim reads. Its
 * command waits for the file `ping` from here and writes `pong`, with its clock
 * and what it may not have: a file that is there already, and a lock that we
 * hold. While it waits for `bye` its own lock is looked at from here.
 */

enum {
    ATTEMPT = 1,
    ANSWER_LIMIT_MS = 60000, /* of the controller */
    LOOK_MS = 2000,
    UNSEEN_MS = 15000, /* from the job's start until its claim should be seen */
    PONG_LIMIT_MS = 20000,
    EXIT_LIMIT_MS = 30000,
    JOB_TIME_MS = 180000,
    LINE_MAX_BYTES = 4096
};

static const char script_of_job[] =
    "pause() { sleep 0.02 2>/dev/null || sleep 1; }\n"
    "n=0; while ! [ -s ping ] && [ $n -lt 2000 ]; do pause; n=$((n+1)); done\n"
    "now=$(date +%s%3N)\n"
    "exclusive=holds; (set -C; : >taken) 2>/dev/null && exclusive=fails\n"
    "lock=unknown\n"
    "if command -v flock >/dev/null; then\n"
    "lock=holds; flock -n held true && lock=fails; fi\n"
    "echo \"$now $exclusive $lock .\" >pong.new; mv pong.new pong\n"
    "n=0; while ! [ -e bye ] && [ $n -lt 2000 ]; do pause; n=$((n+1)); done\n";

struct attempt_try {
    struct cluster_link link;
    const struct cluster_trial_ask *ask;
    struct cluster_trial *trial;
    char *directory;
    char name[SLURM_NAME_MAX];
    int held; /* descriptor of the file that we have locked */
    int64_t submitted_ms;
    struct slurm_reply reply;
    int64_t job;
    bool is_looking;
    int64_t looked_ms;
    int64_t started_ms; /* as the queue has it; 0: it waits */
    char word[64];      /* the job's state and reason */
    struct claim claim;
    struct buf pong;
    struct attempt_exit end;
};

/* -- Files ----------------------------------------------------------------*/

static int put(const struct attempt_try *it, const char *name, const char *text,
               struct err *err)
{
    char *path = fs_join(it->directory, name);
    int result = fs_write_atomic(path, text, strlen(text), 0600, err);

    free(path);
    return result;
}

static int hold(struct attempt_try *it, struct err *err)
{
    char *path = fs_join(it->directory, "held");

    it->held = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (it->held < 0 || flock(it->held, LOCK_EX | LOCK_NB) != 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot lock '%s'", path);
    free(path);
    return it->held;
}

static int prepare(struct attempt_try *it, struct err *err)
{
    char shell[] = "/bin/sh", option[] = "-c";
    char *code = mem_copy_string(script_of_job);
    char *const argv[] = {shell, option, code, NULL}, *const envp[] = {NULL};
    const struct attempt_spec spec = {.attempt = ATTEMPT,
                                      .directory = it->directory,
                                      .work_directory = it->directory,
                                      .argv = argv,
                                      .envp = envp,
                                      .grace_ms = 1000};
    int result = -1;

    if (put(it, "taken", "taken\n", err) == 0 && hold(it, err) >= 0)
        result = order_write(&spec, err);
    free(code);
    return result;
}

/* What the job said where nobody was to say more, on one line. */
static void add_log(const struct attempt_try *it, const char *name)
{
    char *path = fs_join(it->directory, name);
    struct buf text = BUF_INIT;
    size_t used = strlen(it->trial->text);

    if (fs_read_regular(path, LINE_MAX_BYTES, &text, NULL) == 0 &&
        text.length > 0)
        snprintf(it->trial->text + used, sizeof(it->trial->text) - used,
                 "; its output: '%.*s'", (int)strcspn(text.data, "\n"),
                 text.data);
    buf_clear(&text);
    free(path);
}

/* -- The job --------------------------------------------------------------*/

static void on_submitted(void *user, const struct slurm_reply *reply,
                         int64_t id)
{
    struct attempt_try *it = user;

    it->reply = *reply;
    it->job = id;
    it->link.has_answer = true;
}

static void on_looked(void *user, const struct slurm_reply *reply,
                      const struct slurm_job *jobs, size_t count)
{
    struct attempt_try *it = user;

    (void)reply;
    it->is_looking = false;
    for (size_t i = 0; i < count; i++) {
        snprintf(it->word, sizeof(it->word), "%s%s%s", jobs[i].word,
                 jobs[i].reason[0] != '\0' ? ", " : "", jobs[i].reason);
        if (it->started_ms == 0 && (jobs[i].state->phase == SLURM_RUNNING ||
                                    jobs[i].state->phase == SLURM_ENDED))
            it->started_ms = clock_monotonic_ms();
    }
}

static void look(struct attempt_try *it)
{
    int64_t now_ms = clock_monotonic_ms();

    if (it->is_looking || now_ms < it->looked_ms + LOOK_MS)
        return;
    it->is_looking = true;
    it->looked_ms = now_ms;
    it->link.transport->type->list(it->link.transport, it->name, on_looked, it);
}

/* Its claim is there, or there is no more hope for it. */
static bool has_begun(void *user)
{
    struct attempt_try *it = user;

    if (claim_read(it->directory, &it->claim) == 1)
        return true;
    look(it);
    return it->started_ms > 0 &&
           clock_monotonic_ms() > it->started_ms + UNSEEN_MS;
}

static bool has_pong(void *user)
{
    struct attempt_try *it = user;
    char *path = fs_join(it->directory, "pong");

    buf_truncate(&it->pong, 0);
    if (fs_read_regular(path, LINE_MAX_BYTES, &it->pong, NULL) != 0)
        buf_truncate(&it->pong, 0);
    free(path);
    return it->pong.length > 0 ||
           exit_read(it->directory, ATTEMPT, &it->end) == 1;
}

static bool has_ended(void *user)
{
    struct attempt_try *it = user;

    return exit_read(it->directory, ATTEMPT, &it->end) == 1;
}

static int submit(struct attempt_try *it, struct err *err)
{
    const char *const arguments[] = {"--order", it->directory, NULL};
    const struct slurm_ask ask = {.partition = it->ask->partition};
    char *log = fs_join(it->directory, "job");
    char *script =
        slurm_script(&it->link.options, it->directory, arguments, err);
    const struct slurm_submission submission = {.name = it->name,
                                                .directory = it->directory,
                                                .log = log,
                                                .script = script,
                                                .ask = &ask,
                                                .cpus = 1,
                                                .time_ms = JOB_TIME_MS};

    if (script != NULL) {
        it->submitted_ms = clock_monotonic_ms();
        it->link.transport->type->submit(it->link.transport, &submission,
                                         on_submitted, it);
        if (!cluster_link_answer(&it->link, ANSWER_LIMIT_MS)) {
            it->reply.answer = SLURM_SILENT;
            snprintf(it->reply.text, sizeof(it->reply.text), "no answer");
        }
    }
    free(log);
    free(script);
    return script != NULL ? 0 : -1;
}

static void on_cancelled(void *user, const struct slurm_reply *reply)
{
    (void)reply;
    ((struct attempt_try *)user)->link.has_answer = true;
}

static void cancel(struct attempt_try *it)
{
    const struct slurm_target target = {it->job, -1};

    it->link.transport->type->cancel(it->link.transport, &target, 1, 0,
                                     on_cancelled, it);
    cluster_link_answer(&it->link, ANSWER_LIMIT_MS);
}

/* -- What it tells --------------------------------------------------------*/

static enum cluster_guard guard(const char *word)
{
    if (strcmp(word, "holds") == 0)
        return CLUSTER_HOLDS;
    return strcmp(word, "fails") == 0 ? CLUSTER_FAILS : CLUSTER_GUARD_UNKNOWN;
}

/* The node looked at its clock between the two. */
static int take_pong(struct attempt_try *it, int64_t sent_ms, int64_t seen_ms)
{
    struct cluster_trial *trial = it->trial;
    char exclusive[16], lock[16];
    int64_t node_ms;

    if (it->pong.length == 0 ||
        sscanf(it->pong.data, "%" SCNd64 " %15s %15s .", &node_ms, exclusive,
               lock) != 3 ||
        !count_is_sound(node_ms))
        return -1;
    trial->round_ms = seen_ms - sent_ms;
    trial->clock_ahead_ms = node_ms - (sent_ms + seen_ms) / 2;
    trial->clock_error_ms = (trial->round_ms + 1) / 2;
    trial->exclusive = guard(exclusive);
    trial->lock_there = guard(lock);
    trial->lock_here =
        claim_is_free(it->directory) ? CLUSTER_FAILS : CLUSTER_HOLDS;
    return 0;
}

static void talk(struct attempt_try *it)
{
    struct cluster_trial *trial = it->trial;
    int64_t sent_ms = clock_wall_ms(), bye_ms;

    trial->stage = CLUSTER_MUTE;
    snprintf(trial->text, sizeof(trial->text),
             "it did not answer through the shared folder within %d s",
             PONG_LIMIT_MS / 1000);
    if (put(it, "ping", "ping\n", NULL) != 0 ||
        !cluster_link_wait(&it->link, PONG_LIMIT_MS, has_pong, it) ||
        take_pong(it, sent_ms, clock_wall_ms()) != 0) {
        if (has_ended(it) && it->end.text[0] != '\0')
            snprintf(trial->text, sizeof(trial->text), "it ended: %s",
                     it->end.text);
        add_log(it, "log");
        return;
    }
    bye_ms = clock_monotonic_ms();
    put(it, "bye", "bye\n", NULL);
    snprintf(trial->text, sizeof(trial->text),
             "its end was not seen within %d s", EXIT_LIMIT_MS / 1000);
    if (!cluster_link_wait(&it->link, EXIT_LIMIT_MS, has_ended, it))
        return;
    trial->exit_ms = clock_monotonic_ms() - bye_ms;
    trial->stage = CLUSTER_ENDED;
    trial->text[0] = '\0';
}

static void follow(struct attempt_try *it)
{
    struct cluster_trial *trial = it->trial;

    if (it->reply.answer != SLURM_DONE) {
        trial->stage = CLUSTER_REFUSED;
        snprintf(trial->text, sizeof(trial->text), "%.500s", it->reply.text);
        return;
    }
    trial->stage = CLUSTER_WAITING;
    if (!cluster_link_wait(&it->link, it->ask->patience_ms, has_begun, it)) {
        snprintf(trial->text, sizeof(trial->text), "job %" PRId64 ": %s",
                 it->job, it->word);
        return;
    }
    if (claim_read(it->directory, &it->claim) != 1) {
        trial->stage = CLUSTER_UNSEEN;
        snprintf(trial->text, sizeof(trial->text), "job %" PRId64 ": %s",
                 it->job, it->word);
        add_log(it, "job");
        return;
    }
    trial->wait_ms = clock_monotonic_ms() - it->submitted_ms;
    snprintf(trial->node, sizeof(trial->node), "%s", it->claim.node);
    talk(it);
}

int cluster_try(const struct cluster_trial_ask *ask,
                struct cluster_trial *trial, struct err *err)
{
    struct attempt_try it = {.ask = ask, .trial = trial, .held = -1};
    int result = -1;

    memset(trial, 0, sizeof(*trial));
    it.directory = fs_join(ask->directory, ".smtune-probe-XXXXXX");
    if (mkdtemp(it.directory) == NULL) {
        err_set_errno(err, ERR_FAILED, errno, "cannot make a folder in '%s'",
                      ask->directory);
        free(it.directory);
        return -1;
    }
    snprintf(it.name, sizeof(it.name), "smt-probe-%d-%" PRId64, getpid(),
             clock_wall_ms());
    if (prepare(&it, err) == 0 &&
        cluster_link_open(&it.link, ask->url, err) == 0) {
        result = submit(&it, err);
        if (result == 0)
            follow(&it);
        if (it.job > 0 && trial->stage != CLUSTER_ENDED)
            cancel(&it);
        cluster_link_close(&it.link);
    }
    if (it.held >= 0)
        close(it.held);
    buf_clear(&it.pong);
    fs_remove_tree(it.directory, NULL);
    free(it.directory);
    return result;
}
