/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/cpu_places.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"

enum { LIST_MAX_BYTES = 1 << 16 };

/* "0-3,8": the node of each CPU that is named. */
static void read_list(const char *list, int node, int nodes[CPU_SETSIZE])
{
    char *end;

    for (;; list = end + 1) {
        long first = strtol(list, &end, 10), last = first;

        if (end == list)
            return;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu >= 0 && cpu <= last && cpu < CPU_SETSIZE;
             cpu++)
            nodes[cpu] = node;
        if (*end != ',')
            return;
    }
}

static void read_nodes(const char *root, int nodes[CPU_SETSIZE])
{
    char pattern[PATH_MAX];
    glob_t found;

    snprintf(pattern, sizeof(pattern), "%s/sys/devices/system/node/node[0-9]*",
             root);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *number = strrchr(found.gl_pathv[i], '/') + strlen("/node");
        char *path = fs_join(found.gl_pathv[i], "cpulist");
        struct buf list = BUF_INIT;

        if (fs_read(path, LIST_MAX_BYTES, &list, NULL) == 0)
            read_list(buf_text(&list), (int)strtol(number, NULL, 10), nodes);
        buf_clear(&list);
        free(path);
    }
    globfree(&found);
}

static int compare_places(const void *a, const void *b)
{
    const struct cpu_place *left = a, *right = b;

    return left->node != right->node ? left->node - right->node
                                     : left->cpu - right->cpu;
}

size_t cpu_places_find(const char *root, struct cpu_place places[CPU_SETSIZE])
{
    int nodes[CPU_SETSIZE] = {0};
    cpu_set_t set;
    size_t count = 0;

    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 0;
    read_nodes(root, nodes);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &set))
            places[count++] = (struct cpu_place){cpu, nodes[cpu]};
    }
    qsort(places, count, sizeof(*places), compare_places);
    return count;
}
