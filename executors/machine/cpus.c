/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/cpus.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

enum { CPUS_MAX = 1 << 16, FILE_MAX_BYTES = 1 << 16 };

static int affine_cpus(void)
{
    int count = 0;

    for (size_t limit = 1024; limit <= CPUS_MAX && count == 0; limit *= 4) {
        cpu_set_t *set = CPU_ALLOC(limit);
        size_t size = CPU_ALLOC_SIZE(limit);

        if (set != NULL && sched_getaffinity(0, size, set) == 0)
            count = CPU_COUNT_S(size, set);
        CPU_FREE(set);
    }
    return count > 0 ? count : 1;
}

/* The two numbers of a quota and its period, both in microseconds; a quota of
 * "max" or -1 is none. */
static int quota_cpus(const char *text)
{
    char *end;
    long long quota = strtoll(text, &end, 10);
    long long period = strtoll(end, NULL, 10);

    if (end == text || quota <= 0 || period <= 0 || quota / period >= CPUS_MAX)
        return INT_MAX;
    return (int)(quota / period + (quota % period != 0));
}

static int file_cpus(const char *root, const char *group, const char *name)
{
    char path[PATH_MAX];
    struct buf text = BUF_INIT;
    int cpus = INT_MAX;

    if (snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s/%s", root, group,
                 name) < (int)sizeof(path) &&
        fs_read(path, FILE_MAX_BYTES, &text, NULL) == 0)
        cpus = quota_cpus(buf_text(&text));
    buf_clear(&text);
    return cpus;
}

/* The group's own quota, and those of all above it. */
static int group_cpus(const char *root, char *group)
{
    int least = INT_MAX;
    char *slash;

    while ((slash = strrchr(group, '/')) != NULL) {
        int cpus = file_cpus(root, group, "cpu.max");

        least = cpus < least ? cpus : least;
        *slash = '\0';
    }
    return least;
}

static int unified_cpus(const char *root)
{
    char path[PATH_MAX];
    struct buf text = BUF_INIT;
    int cpus = INT_MAX;

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    if (fs_read(path, FILE_MAX_BYTES, &text, NULL) == 0) {
        const char *line = strstr(buf_text(&text), "0::/");

        if (line != NULL) {
            const char *group = line + strlen("0::");
            char *copy = mem_printf("%.*s", (int)strcspn(group, "\n"), group);

            cpus = group_cpus(root, copy);
            free(copy);
        }
    }
    buf_clear(&text);
    return cpus;
}

int cpus_find(const char *root)
{
    int least = affine_cpus();
    int unified = unified_cpus(root), here = file_cpus(root, "", "cpu.max");

    least = unified < least ? unified : least;
    return here < least ? here : least;
}
