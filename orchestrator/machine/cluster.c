/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/machine/cluster.h"

#include <string.h>

#include "base/clock.h"
#include "orchestrator/machine/cluster_link.h"

enum {
    TICK_MS = 20,
    PATIENCE_MS = 10000,
    HEARTBEAT_MS = 2000,
    SILENCE_MS = 60000
};

/* -- The link -------------------------------------------------------------*/

static void on_tick(uv_timer_t *tick)
{
    (void)tick;
}

static void on_destroyed(void *user)
{
    struct cluster_link *link = user;

    link->transport = NULL;
}

int cluster_link_open(struct cluster_link *link, const char *url,
                      struct err *err)
{
    memset(link, 0, sizeof(*link));
    link->options.transport = url != NULL ? "rest" : "commands";
    link->options.url = url;
    link->options.heartbeat_ms = HEARTBEAT_MS;
    link->options.silence_ms = SILENCE_MS;
    uv_loop_init(&link->loop);
    link->transport = slurm_transport_create(&link->loop, &link->options, err);
    if (link->transport == NULL) {
        uv_run(&link->loop, UV_RUN_DEFAULT);
        uv_loop_close(&link->loop);
        return -1;
    }
    uv_timer_init(&link->loop, &link->tick);
    uv_timer_start(&link->tick, on_tick, TICK_MS, TICK_MS);
    return 0;
}

void cluster_link_close(struct cluster_link *link)
{
    link->transport->type->destroy(link->transport, on_destroyed, link);
    while (link->transport != NULL)
        uv_run(&link->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&link->tick, NULL);
    uv_run(&link->loop, UV_RUN_DEFAULT);
    uv_loop_close(&link->loop);
}

bool cluster_link_wait(struct cluster_link *link, int64_t limit_ms,
                       bool (*is_there)(void *user), void *user)
{
    int64_t end_ms = clock_monotonic_ms() + limit_ms;

    while (!is_there(user)) {
        if (clock_monotonic_ms() > end_ms)
            return false;
        uv_run(&link->loop, UV_RUN_ONCE);
    }
    return true;
}

static bool has_answer(void *user)
{
    return ((struct cluster_link *)user)->has_answer;
}

bool cluster_link_answer(struct cluster_link *link, int64_t limit_ms)
{
    bool result = cluster_link_wait(link, limit_ms, has_answer, link);

    link->has_answer = false;
    return result;
}

/* -- What it is -----------------------------------------------------------*/

struct description {
    struct cluster_link link;
    struct slurm_reply reply;
    struct slurm_site *site;
};

bool cluster_is_near(const char *url)
{
    struct cluster_link link;

    if (url != NULL)
        return true;
    if (cluster_link_open(&link, NULL, NULL) != 0)
        return false;
    cluster_link_close(&link);
    return true;
}

static void on_site(void *user, const struct slurm_reply *reply,
                    struct slurm_site *site)
{
    struct description *it = user;

    it->reply = *reply;
    if (reply->answer == SLURM_DONE)
        slurm_site_move(it->site, site);
    it->link.has_answer = true;
}

static void on_list(void *user, const struct slurm_reply *reply,
                    const struct slurm_job *jobs, size_t count)
{
    struct description *it = user;

    (void)jobs, (void)count;
    it->reply = *reply;
    it->link.has_answer = true;
}

static int judge(const struct description *it, bool is_there, struct err *err)
{
    if (!is_there)
        return err_set(err, ERR_FAILED, "no answer within %d s",
                       PATIENCE_MS / 1000);
    if (it->reply.answer != SLURM_DONE)
        return err_set(err, ERR_FAILED, "no answer: %s", it->reply.text);
    return 0;
}

int cluster_describe(const char *url, struct slurm_site *site,
                     int64_t *answer_ms, struct err *err)
{
    struct description it = {.site = site};
    const struct slurm_transport_type *type;
    int64_t asked_ms;
    int result;

    memset(site, 0, sizeof(*site));
    if (cluster_link_open(&it.link, url, err) != 0)
        return -1;
    type = it.link.transport->type;
    type->describe(it.link.transport, on_site, &it);
    result = judge(&it, cluster_link_answer(&it.link, PATIENCE_MS), err);
    asked_ms = clock_monotonic_ms();
    if (result == 0) {
        type->list(it.link.transport, "smt-", on_list, &it);
        result = judge(&it, cluster_link_answer(&it.link, PATIENCE_MS), err);
    }
    *answer_ms = clock_monotonic_ms() - asked_ms;
    cluster_link_close(&it.link);
    if (result != 0)
        cluster_clear(site);
    return result;
}

void cluster_clear(struct slurm_site *site)
{
    slurm_site_clear(site);
}

int cluster_nodes(const char *url, struct host_list *nodes, struct err *err)
{
    struct slurm_site site;
    int64_t answer_ms;
    int result = cluster_describe(url, &site, &answer_ms, err);

    if (result == 0)
        result = host_list_add(nodes, buf_text(&site.nodes), err);
    if (result == 0)
        host_list_sort(nodes);
    cluster_clear(&site);
    return result;
}
