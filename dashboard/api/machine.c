/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"
#include "dashboard/api/api.h"
#include "store/store.h"

/* Where things run. */

static int answer_machine(const struct request *request, struct store *store,
                          struct answer *answer, struct err *err)
{
    const struct dashboard_source *source =
        dashboard_source(request_dashboard(request));

    return answer_json(answer, source->machine(source->user, store, err), err);
}

struct listing {
    json_t *nodes;
    int64_t now_ms;
};

static int add_node(void *user, const struct node_row *node)
{
    const struct listing *listing = user;
    bool is_avoided = node->is_avoided &&
                      (node->until_ms == 0 || node->until_ms > listing->now_ms);

    json_array_append_new(
        listing->nodes,
        json_pack(
            "{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o}", "name",
            json_from_text(node->name), "is_avoided", (int)is_avoided,
            "until_ms", json_int_unless(is_avoided ? node->until_ms : 0, 0),
            "by", json_from_text(node->by), "trouble",
            json_from_text(node->trouble), "text", json_from_text(node->text),
            "run", json_from_text(node->run), "job",
            json_int_unless(node->trial, 0), "count", (json_int_t)node->count,
            "first_ms", json_int_unless(node->first_ms, 0), "last_ms",
            json_int_unless(node->last_ms, 0)));
    return 0;
}

static int add_running(void *user, const struct running_row *row)
{
    json_array_append_new(user, json_pack("{s:I, s:o, s:o, s:I}", "run",
                                          (json_int_t)row->run, "name",
                                          json_from_text(row->run_name), "node",
                                          json_from_text(row->node), "attempts",
                                          (json_int_t)row->attempts));
    return 0;
}

static int answer_nodes(const struct request *request, struct store *store,
                        struct answer *answer, struct err *err)
{
    struct listing listing = {json_array(), clock_wall_ms()};
    json_t *running = json_array();

    (void)request;
    if (store_each_node(store, 0, add_node, &listing, err) != 0 ||
        store_each_running(store, add_running, running, err) != 0) {
        json_decref(listing.nodes);
        json_decref(running);
        return -1;
    }
    return answer_json(
        answer,
        json_pack("{s:o, s:o}", "nodes", listing.nodes, "running", running),
        err);
}

const struct route machine_routes[] = {
    {.method = "GET",
     .path = "/api/v1/machine",
     .role = ROLE_VIEWER,
     .summary = "The resources of this machine, their use, and the runs with "
                "attempts here.",
     .answers = "Machine",
     .answer = answer_machine},
    {.method = "GET",
     .path = "/api/v1/nodes",
     .role = ROLE_VIEWER,
     .summary = "Failed and excluded nodes of a cluster, and the number of "
                "attempts per node.",
     .answers = "Nodes",
     .answer = answer_nodes},
    {0}};
