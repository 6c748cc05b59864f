/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/hosts.h"

#include <inttypes.h>

static json_t *host_name(int64_t index)
{
    return json_sprintf("algo-%" PRId64, index + 1);
}

json_t *hosts_config(const struct job_copy *copy)
{
    int64_t count = copy->are_hosts ? copy->count : 1;
    json_t *hosts = json_array();

    for (int64_t i = 0; i < count; i++)
        json_array_append_new(hosts, host_name(i));
    return json_pack("{s:o, s:o, s:s}", "current_host",
                     host_name(copy->are_hosts ? copy->index : 0), "hosts",
                     hosts, "network_interface_name", "lo");
}

bool hosts_equal(const struct job_copy *a, const struct job_copy *b)
{
    if (!a->are_hosts && !b->are_hosts)
        return true;
    return a->are_hosts == b->are_hosts && a->index == b->index &&
           a->count == b->count;
}
