/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executors/machine/cgroup_file.h"

enum { CPU_PERIOD_US = 100000, STAT_MAX = 8192 };

static bool path_in(const struct cgroup *group, int tree, char *path,
                    size_t size)
{
    return snprintf(path, size, "%s/%s%" PRId64, group->site->bases[tree],
                    group->site->prefix, group->attempt) < (int)size;
}

static bool make_in(struct cgroup *group, int tree)
{
    char path[PATH_MAX];

    if (!group->is_in[tree])
        group->is_in[tree] = group->site->bases[tree] != NULL &&
                             path_in(group, tree, path, sizeof(path)) &&
                             mkdir(path, 0755) == 0;
    return group->is_in[tree];
}

static bool limit_memory(struct cgroup *group, int64_t bytes)
{
    enum cgroup_tree tree = group->site->memory;
    char path[PATH_MAX];

    if (tree == CGROUP_TREES || !make_in(group, tree) ||
        !path_in(group, tree, path, sizeof(path)))
        return false;
    if (tree == CGROUP_UNIFIED) {
        cgroup_write(path, "memory.swap.max", "0");
        cgroup_write(path, "memory.oom.group", "1");
        return cgroup_write_number(path, "memory.max", bytes) == 0;
    }
    if (cgroup_write_number(path, "memory.limit_in_bytes", bytes) != 0)
        return false;
    cgroup_write_number(path, "memory.memsw.limit_in_bytes", bytes);
    return true;
}

static void limit_cpus(struct cgroup *group, int cpus)
{
    enum cgroup_tree tree = group->site->cpu;
    char path[PATH_MAX], text[48];

    if (tree == CGROUP_TREES || !make_in(group, tree) ||
        !path_in(group, tree, path, sizeof(path)))
        return;
    snprintf(text, sizeof(text), "%" PRId64 " %d",
             (int64_t)cpus * CPU_PERIOD_US, CPU_PERIOD_US);
    if (tree == CGROUP_UNIFIED)
        cgroup_write(path, "cpu.max", text);
    else
        cgroup_write_number(path, "cpu.cfs_quota_us",
                            (int64_t)cpus * CPU_PERIOD_US);
}

bool cgroup_create(struct cgroup *group, const struct cgroup_site *site,
                   int64_t attempt, const struct cgroup_limits *limits)
{
    *group = (struct cgroup){.site = site, .attempt = attempt};
    if (!make_in(group, CGROUP_UNIFIED))
        make_in(group, CGROUP_FREEZER);
    if (limits->memory_bytes > 0)
        group->limits_memory = limit_memory(group, limits->memory_bytes);
    if (limits->cpus > 0)
        limit_cpus(group, limits->cpus);
    return cgroup_is_there(group);
}

int cgroup_open(const struct cgroup *group)
{
    char path[PATH_MAX];

    if (!group->is_in[CGROUP_UNIFIED] ||
        !path_in(group, CGROUP_UNIFIED, path, sizeof(path)))
        return -1;
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

bool cgroup_is_unified(const struct cgroup *group)
{
    for (int tree = 0; tree < CGROUP_TREES; tree++) {
        if (group->is_in[tree] != (tree == CGROUP_UNIFIED))
            return false;
    }
    return true;
}

/* Version 1 moves a thread by itself without having all others wait. */
static const char *members_file(int tree)
{
    return tree == CGROUP_UNIFIED ? "cgroup.procs" : "tasks";
}

void cgroup_enter(struct cgroup *group, bool is_in_unified)
{
    char path[PATH_MAX];

    for (int tree = 0; tree < CGROUP_TREES; tree++) {
        if (!group->is_in[tree] || (tree == CGROUP_UNIFIED && is_in_unified))
            continue;
        path_in(group, tree, path, sizeof(path));
        if (cgroup_write(path, members_file(tree), "0") == 0)
            continue;
        rmdir(path);
        group->is_in[tree] = false;
        if (tree == (int)group->site->memory)
            group->limits_memory = false;
    }
}

bool cgroup_is_there(const struct cgroup *group)
{
    for (int tree = 0; tree < CGROUP_TREES; tree++) {
        if (group->is_in[tree])
            return true;
    }
    return false;
}

bool cgroup_directory(const struct cgroup *group, char *directory, size_t size)
{
    for (int tree = 0; tree < CGROUP_TREES; tree++) {
        if (group->is_in[tree])
            return path_in(group, tree, directory, size);
    }
    return false;
}

static int64_t read_number(const char *directory, const char *name)
{
    char text[32];

    cgroup_read(directory, name, text, sizeof(text));
    return strtoll(text, NULL, 10);
}

/* Version 1 counts how often the limit was met, but not in every kernel where
 * swap is limited too. */
static bool has_been_near(const char *directory)
{
    int64_t limit = read_number(directory, "memory.limit_in_bytes");
    int64_t most = read_number(directory, "memory.max_usage_in_bytes");

    return read_number(directory, "memory.failcnt") > 0 ||
           most >= limit - limit / 16;
}

void cgroup_look(const struct cgroup *group, struct cgroup_facts *facts)
{
    enum cgroup_tree tree = group->site->memory;
    char path[PATH_MAX], text[STAT_MAX];

    memset(facts, 0, sizeof(*facts));
    if (!group->limits_memory || !path_in(group, tree, path, sizeof(path)))
        return;
    if (tree == CGROUP_UNIFIED) {
        cgroup_read(path, "memory.events", text, sizeof(text));
        facts->oom_kills = cgroup_line_number(text, "oom_kill");
        facts->was_at_limit = cgroup_line_number(text, "oom") > 0;
        cgroup_read(path, "memory.stat", text, sizeof(text));
        facts->anon_bytes = cgroup_line_number(text, "anon");
        return;
    }
    cgroup_read(path, "memory.oom_control", text, sizeof(text));
    facts->oom_kills = cgroup_line_number(text, "oom_kill");
    facts->was_at_limit = has_been_near(path);
    cgroup_read(path, "memory.stat", text, sizeof(text));
    facts->anon_bytes = cgroup_line_number(text, "total_rss");
}

void cgroup_kill(const struct cgroup *group)
{
    char path[PATH_MAX];

    if (cgroup_directory(group, path, sizeof(path)))
        cgroup_kill_tree(path);
}

bool cgroup_remove(struct cgroup *group)
{
    bool all = true;
    char path[PATH_MAX];

    for (int tree = 0; tree < CGROUP_TREES; tree++) {
        if (!group->is_in[tree])
            continue;
        path_in(group, tree, path, sizeof(path));
        group->is_in[tree] = !cgroup_remove_tree(path);
        all &= !group->is_in[tree];
    }
    return all;
}
