/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executors/slurm/talk/rest_asked.h"

/*
 * A request is one or several to slurmrestd, each answer being read at once;
 * when the last has come, the whole is answered. slurmrestd has no filters for
 * jobs: all of everybody are fetched, and ours taken from them. (It can say
 * that nothing has changed since a time, but goes by whole seconds of its own
 * clock, so that a change may never be seen.)
 */

struct asked *rest_ask(struct slurm_transport *transport, void *user)
{
    struct rest *rest = (struct rest *)transport;
    struct asked *asked = mem_zero(sizeof(*asked));

    asked->rest = rest;
    asked->user = user;
    asked->next = rest->asked;
    asked->self = &rest->asked;
    if (asked->next != NULL)
        asked->next->self = &asked->next;
    rest->asked = asked;
    return asked;
}

void rest_unlink(struct asked *asked)
{
    *asked->self = asked->next;
    if (asked->next != NULL)
        asked->next->self = asked->self;
}

void rest_asked_destroy(struct asked *asked)
{
    slurm_rest_rows_clear(&asked->rows);
    slurm_site_clear(&asked->site);
    free(asked->prefix);
    free(asked->name);
    free(asked->targets);
    free(asked);
}

static void get(struct asked *asked, bool is_for_database, const char *path,
                rest_done_fn *done)
{
    rest_link_send(asked->rest->link,
                   &(struct rest_request){.method = FETCH_GET,
                                          .is_for_database = is_for_database,
                                          .path = path},
                   done, asked);
}

void rest_take_reply(struct asked *asked, const struct slurm_reply *reply)
{
    if (reply->answer >= asked->reply.answer)
        asked->reply = *reply;
}

/* -- Submitting -----------------------------------------------------------*/

static void answer_submit(struct asked *asked, int64_t id)
{
    rest_unlink(asked);
    asked->done.submit(asked->user, &asked->reply, id);
    rest_asked_destroy(asked);
}

/* A job that was taken with an error beside it (it is held, or never starts as
 * it is) is in the queue, and says so there. */
static void on_submitted(void *user, int version,
                         const struct fetch_answer *answer)
{
    struct asked *asked = user;
    int64_t number, id;
    json_t *body = slurm_rest_judge(answer, NULL, &number, &asked->reply);

    (void)version;
    id = slurm_rest_known(json_object_get(body, "job_id"));
    json_decref(body);
    if (id > 0)
        memset(&asked->reply, 0, sizeof(asked->reply));
    else if (asked->reply.answer == SLURM_DONE)
        slurm_rest_set_garbled(&asked->reply);
    answer_submit(asked, id);
}

/* Why slurmrestd cannot be told of it; 0: it can. */
static int check(const struct slurm_submission *submission, const json_t *body,
                 struct slurm_reply *reply)
{
    const struct slurm_ask wanted = slurm_asked(submission);
    const char *refused = slurm_rest_refused_extra(&wanted);

    reply->answer = SLURM_REFUSED;
    if (refused != NULL)
        snprintf(reply->text, sizeof(reply->text),
                 "extra: slurmrestd has no field for '%.200s': use transport: "
                 "commands",
                 refused);
    else if (body == NULL)
        snprintf(reply->text, sizeof(reply->text),
                 "the script or a path in '%.200s' is not UTF-8, and "
                 "slurmrestd accepts only UTF-8",
                 submission->directory);
    else
        reply->answer = SLURM_DONE;
    return reply->answer == SLURM_DONE ? 0 : -1;
}

static void on_refused(void *user, int version,
                       const struct fetch_answer *answer)
{
    (void)version, (void)answer;
    answer_submit(user, 0);
}

static void rest_submit(struct slurm_transport *transport,
                        const struct slurm_submission *submission,
                        slurm_submit_fn *done, void *user)
{
    struct asked *asked = rest_ask(transport, user);
    json_t *body = slurm_rest_job(submission);
    bool is_refused = check(submission, body, &asked->reply) != 0;

    asked->done.submit = done;
    rest_link_send(asked->rest->link,
                   &(struct rest_request){.method = FETCH_POST,
                                          .path = "job/submit",
                                          .body = body,
                                          .adapt = slurm_rest_job_adapt,
                                          .is_nothing = is_refused},
                   is_refused ? on_refused : on_submitted, asked);
}

/* -- The queue and the accounting -----------------------------------------*/

static void answer_list(struct asked *asked)
{
    bool is_done = asked->reply.answer == SLURM_DONE;

    rest_unlink(asked);
    asked->done.list(asked->user, &asked->reply,
                     is_done ? asked->rows.jobs : NULL,
                     is_done ? asked->rows.count : 0);
    rest_asked_destroy(asked);
}

static void on_jobs(void *user, int version, const struct fetch_answer *answer)
{
    struct asked *asked = user;

    (void)version;
    slurm_rest_read_jobs(answer, asked->prefix,
                         rest_link_uid(asked->rest->link), &asked->rows,
                         &asked->reply);
    answer_list(asked);
}

static void rest_list(struct slurm_transport *transport, const char *prefix,
                      slurm_list_fn *done, void *user)
{
    struct asked *asked = rest_ask(transport, user);

    asked->done.list = done;
    asked->prefix = mem_copy_string(prefix);
    get(asked, false, "jobs", on_jobs);
}

static void on_account(void *user, int version,
                       const struct fetch_answer *answer)
{
    struct asked *asked = user;
    struct slurm_reply reply;

    (void)version;
    slurm_rest_read_account(answer, asked->since_ms, &asked->rows, &reply);
    rest_take_reply(asked, &reply);
    if (--asked->left == 0)
        answer_list(asked);
}

/* Several ids in one request are not taken: the last one alone would count. */
static void rest_account(struct slurm_transport *transport, const int64_t *ids,
                         size_t count, int64_t since_ms, slurm_list_fn *done,
                         void *user)
{
    struct asked *asked = rest_ask(transport, user);

    assert(count > 0);
    asked->done.list = done;
    asked->since_ms = since_ms;
    asked->left = count;
    for (size_t i = 0; i < count; i++) {
        char *path = mem_printf("job/%" PRId64, ids[i]);

        get(asked, true, path, on_account);
        free(path);
    }
}

/* -- The cluster ----------------------------------------------------------*/

static void answer_site(struct asked *asked)
{
    rest_unlink(asked);
    asked->done.site(asked->user, &asked->reply, &asked->site);
    rest_asked_destroy(asked);
}

/* As a value in a URL. */
static void add_escaped(const char *text, struct buf *out)
{
    for (; *text != '\0'; text++) {
        if (isalnum((unsigned char)*text) || strchr("-._", *text) != NULL)
            buf_add_char(out, *text);
        else
            buf_printf(out, "%%%02X", (unsigned char)*text);
    }
}

static void on_associations(void *user, int version,
                            const struct fetch_answer *answer)
{
    struct asked *asked = user;

    (void)version;
    slurm_rest_read_associations(answer, asked->name, &asked->site);
    answer_site(asked);
}

static void on_qos(void *user, int version, const struct fetch_answer *answer)
{
    struct asked *asked = user;
    struct buf path = BUF_INIT;

    (void)version;
    slurm_rest_read_qos(answer, &asked->site);
    asked->name = rest_link_user(asked->rest->link);
    buf_add_string(&path, "associations?user=");
    add_escaped(asked->name, &path);
    if (asked->name[0] != '\0')
        get(asked, true, buf_text(&path), on_associations);
    else
        answer_site(asked);
    buf_clear(&path);
}

static void on_clusters(void *user, int version,
                        const struct fetch_answer *answer)
{
    struct asked *asked = user;

    (void)version;
    slurm_rest_read_clusters(answer, &asked->site);
    if (asked->site.has_accounting)
        get(asked, true, "qos", on_qos);
    else
        answer_site(asked);
}

static void on_nodes(void *user, int version, const struct fetch_answer *answer)
{
    struct asked *asked = user;

    (void)version;
    slurm_rest_read_nodes(answer, &asked->site, &asked->reply);
    if (asked->reply.answer == SLURM_DONE)
        get(asked, true, "clusters", on_clusters);
    else
        answer_site(asked);
}

static void on_partitions(void *user, int version,
                          const struct fetch_answer *answer)
{
    struct asked *asked = user;

    (void)version;
    slurm_rest_read_partitions(answer, &asked->site, &asked->reply);
    if (asked->reply.answer == SLURM_DONE)
        get(asked, false, "nodes", on_nodes);
    else
        answer_site(asked);
}

static void rest_describe(struct slurm_transport *transport,
                          slurm_site_fn *done, void *user)
{
    struct asked *asked = rest_ask(transport, user);

    asked->done.site = done;
    get(asked, false, "partitions", on_partitions);
}

/* -- Life -----------------------------------------------------------------*/

static struct slurm_transport *rest_create(uv_loop_t *loop,
                                           const struct slurm_options *options,
                                           struct err *err)
{
    struct rest *rest = mem_zero(sizeof(*rest));

    rest->base.type = &slurm_rest;
    rest->link = rest_link_create(loop, options, &rest->base.requests, err);
    if (rest->link != NULL)
        return &rest->base;
    free(rest);
    return NULL;
}

static void on_link_destroyed(void *user)
{
    struct rest *rest = user;
    struct asked *asked = rest->asked, *next;

    for (; asked != NULL; asked = next) {
        next = asked->next;
        rest_asked_destroy(asked);
    }
    rest->destroyed(rest->destroyed_user);
    free(rest);
}

static void rest_destroy(struct slurm_transport *transport,
                         void (*done)(void *user), void *user)
{
    struct rest *rest = (struct rest *)transport;

    rest->destroyed = done;
    rest->destroyed_user = user;
    rest_link_destroy(rest->link, on_link_destroyed, rest);
}

const struct slurm_transport_type slurm_rest = {
    .name = "rest",
    .create = rest_create,
    .destroy = rest_destroy,
    .submit = rest_submit,
    .list = rest_list,
    .account = rest_account,
    .cancel = rest_cancel,
    .describe = rest_describe,
};
