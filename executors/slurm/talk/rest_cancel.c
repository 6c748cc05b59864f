/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cancellation and signals over slurmrestd. Newer versions cancel many jobs
 * with one request; older ones need a request for each. So the version is asked
 * for first, and `left` counts the answers that are missing.
 *
 * A job that has ended or does not exist counts as cancelled. Its end may have
 * come between the decision and the request, and the caller only needs to know
 * that it does not run.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executors/slurm/talk/rest_asked.h"

enum {
    NUMBER_NO_JOB = 2017,  /* a job that is not there */
    NUMBER_NOT_NOW = 2020, /* a signal to one that has not started */
    NUMBER_ENDED = 2021,   /* one that has ended */
    FIRST_WITH_MANY = 41   /* that takes several jobs at once to cancel */
};

static void answer_cancel(struct asked *asked)
{
    rest_unlink(asked);
    asked->done.done(asked->user, &asked->reply);
    rest_asked_destroy(asked);
}

static bool is_gone(int64_t number, const char *text, int signal)
{
    return number == NUMBER_NO_JOB || number == NUMBER_ENDED ||
           (signal != 0 && number == NUMBER_NOT_NOW) ||
           strstr(text, "Invalid job id specified") != NULL;
}

static void take_cancelled(struct asked *asked, int64_t number,
                           struct slurm_reply *reply)
{
    if (number != 0 && is_gone(number, reply->text, asked->signal))
        memset(reply, 0, sizeof(*reply));
    rest_take_reply(asked, reply);
    if (--asked->left == 0)
        answer_cancel(asked);
}

static void on_cancelled(void *user, int version,
                         const struct fetch_answer *answer)
{
    struct slurm_reply reply;
    int64_t number;

    (void)version;
    json_decref(slurm_rest_judge(answer, NULL, &number, &reply));
    take_cancelled(user, number, &reply);
}

/* Each job has a line in "status". */
static void on_all_cancelled(void *user, int version,
                             const struct fetch_answer *answer)
{
    struct asked *asked = user;
    struct slurm_reply reply;
    int64_t number;
    json_t *body = slurm_rest_judge(answer, NULL, &number, &reply);
    const json_t *line;
    size_t i;

    (void)version;
    json_array_foreach(json_object_get(body, "status"), i, line)
    {
        int64_t code =
            slurm_rest_known(slurm_rest_inner(line, "error", "code"));
        const char *text =
            slurm_rest_text(slurm_rest_inner(line, "error", "string"));

        if (code != 0 && !is_gone(code, text, asked->signal)) {
            reply.answer = SLURM_REFUSED;
            snprintf(reply.text, sizeof(reply.text), "%.400s", text);
        }
    }
    json_decref(body);
    asked->left = 1;
    take_cancelled(asked, number, &reply);
}

static void add_target(struct buf *out, const struct slurm_target *target)
{
    buf_printf(out, "%" PRId64, target->id);
    if (target->task >= 0)
        buf_printf(out, "_%d", target->task);
}

static void cancel_all(struct asked *asked)
{
    json_t *body = json_object(), *jobs = json_array();

    for (size_t i = 0; i < asked->left; i++) {
        struct buf name = BUF_INIT;

        add_target(&name, &asked->targets[i]);
        json_array_append_new(jobs, json_from_text(buf_text(&name)));
        buf_clear(&name);
    }
    json_object_set_new(body, "jobs", jobs);
    if (asked->signal != 0) {
        json_object_set_new(body, "signal", json_sprintf("%d", asked->signal));
        json_object_set_new(body, "flags", json_pack("[s]", "BATCH_JOB"));
    }
    rest_link_send(asked->rest->link,
                   &(struct rest_request){
                       .method = FETCH_DELETE, .path = "jobs/", .body = body},
                   on_all_cancelled, asked);
}

static void cancel_each(struct asked *asked)
{
    for (size_t i = 0; i < asked->left; i++) {
        struct buf path = BUF_INIT;

        buf_add_string(&path, "job/");
        add_target(&path, &asked->targets[i]);
        if (asked->signal != 0)
            buf_printf(&path, "?signal=%d", asked->signal);
        rest_link_send(asked->rest->link,
                       &(struct rest_request){.method = FETCH_DELETE,
                                              .path = buf_text(&path)},
                       on_cancelled, asked);
        buf_clear(&path);
    }
}

/* A task of an array has no name of its own any more where all at once can be
 * cancelled. */
static void on_known(void *user, int version, const struct fetch_answer *answer)
{
    struct asked *asked = user;
    int64_t none = 0;

    if (version == 0) {
        json_decref(slurm_rest_judge(answer, NULL, &none, &asked->reply));
        answer_cancel(asked);
    } else if (version >= FIRST_WITH_MANY) {
        cancel_all(asked);
    } else {
        cancel_each(asked);
    }
}

void rest_cancel(struct slurm_transport *transport,
                 const struct slurm_target *targets, size_t count, int signal,
                 slurm_done_fn *done, void *user)
{
    struct asked *asked = rest_ask(transport, user);

    assert(count > 0);
    asked->done.done = done;
    asked->left = count;
    asked->signal = signal;
    asked->targets = mem_copy_array(targets, count, sizeof(*targets));
    rest_link_send(asked->rest->link,
                   &(struct rest_request){.path = "", .is_nothing = true},
                   on_known, asked);
}
