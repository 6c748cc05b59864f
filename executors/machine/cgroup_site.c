/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/cgroup_site.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "executors/machine/cgroup_file.h"
#include "executors/machine/process_table.h"

/*
 * What is used for what: the unified tree to end attempts where it can be
 * written, else the freezer; for each limit the unified tree if the controller
 * is there and may be handed down, else the controller's own tree.
 */

static const char name_start[] = "smtune-";
static const char leaf_end[] = "agent";

static bool may_make_groups(const char *directory)
{
    char *processes = fs_join(directory, "cgroup.procs");
    bool may =
        access(directory, W_OK | X_OK) == 0 && access(processes, W_OK) == 0;

    free(processes);
    return may;
}

/* An engine that lost its agent stands in a group that the agent had made for
 * both: the next one's place is the one above. */
static void leave_leaf(char *directory)
{
    char *name = strrchr(directory, '/');
    size_t length = strlen(directory), end = strlen(leaf_end);

    if (name != NULL && length > end + 1 &&
        strncmp(name + 1, name_start, strlen(name_start)) == 0 &&
        strcmp(directory + length - end, leaf_end) == 0 &&
        directory[length - end - 1] == '-')
        *name = '\0';
}

/* -- Handing controllers down ---------------------------------------------*/

struct company {
    pid_t self, partner;
};

static bool is_of_company(const void *user, pid_t pid)
{
    const struct company *company = user;

    return pid == company->self || pid == company->partner;
}

static bool is_handed_down(const char *base, const char *controller)
{
    return cgroup_has_word(base, "cgroup.subtree_control", controller);
}

static bool can_be_handed_down(const char *base, const char *controller,
                               pid_t partner)
{
    const struct company company = {getpid(), partner};

    if (is_handed_down(base, controller))
        return true;
    return cgroup_has_word(base, "cgroup.controllers", controller) &&
           cgroup_each_process(base, is_of_company, &company);
}

static bool hand_down(const char *base, const char *controller)
{
    char text[32];

    snprintf(text, sizeof(text), "+%s", controller);
    return is_handed_down(base, controller) ||
           cgroup_write(base, "cgroup.subtree_control", text) == 0;
}

static void move_company(const char *directory, pid_t partner)
{
    if (partner > 0)
        cgroup_write_number(directory, "cgroup.procs", partner);
    cgroup_write_number(directory, "cgroup.procs", getpid());
}

static void hand_down_all(const struct cgroup_site *site, pid_t partner)
{
    const char *base = site->bases[CGROUP_UNIFIED];
    bool wants_memory = site->memory == CGROUP_UNIFIED;
    bool wants_cpu = site->cpu == CGROUP_UNIFIED;
    char *leaf;

    if ((!wants_memory || hand_down(base, "memory")) &&
        (!wants_cpu || hand_down(base, "cpu")))
        return;
    leaf = mem_printf("%s/%s%s", base, site->prefix, leaf_end);
    if (mkdir(leaf, 0755) == 0) {
        move_company(leaf, partner);
        if (wants_memory)
            hand_down(base, "memory");
        if (wants_cpu)
            hand_down(base, "cpu");
        if (!is_handed_down(base, "memory") && !is_handed_down(base, "cpu")) {
            move_company(base, partner);
            rmdir(leaf);
        }
    }
    free(leaf);
}

/* -- What others left -----------------------------------------------------*/

static bool is_of_the_dead(const char *name)
{
    struct process maker;
    uint64_t start;
    int pid, length = 0;

    if (sscanf(name, "smtune-%d-%" SCNu64 "-%n", &pid, &start, &length) < 2 ||
        length == 0)
        return false;
    return !process_read(pid, &maker) || maker.start != start;
}

/* A group in which something lives stays. */
static void sweep(const struct cgroup_site *site)
{
    for (int tree = 0; tree < CGROUP_TREES; tree++) {
        const char *base = site->bases[tree];
        DIR *stream = base != NULL ? opendir(base) : NULL;
        struct dirent *entry;

        while (stream != NULL && (entry = readdir(stream)) != NULL) {
            if (is_of_the_dead(entry->d_name)) {
                char *path = fs_join(base, entry->d_name);

                cgroup_remove_tree(path);
                free(path);
            }
        }
        if (stream != NULL)
            closedir(stream);
    }
}

/* -- The interface --------------------------------------------------------*/

static enum cgroup_tree tree_that_limits(const struct cgroup_site *site,
                                         const char *controller,
                                         enum cgroup_tree own, pid_t partner)
{
    const char *base = site->bases[CGROUP_UNIFIED];

    if (base != NULL && can_be_handed_down(base, controller, partner))
        return CGROUP_UNIFIED;
    return site->bases[own] != NULL ? own : CGROUP_TREES;
}

static void probe(struct cgroup_site *site, const char *root, pid_t partner)
{
    struct cgroup_places places;
    struct process self = {.start = 0};

    memset(site, 0, sizeof(*site));
    cgroup_places_find(&places, root);
    if (places.directories[CGROUP_UNIFIED] != NULL)
        leave_leaf(places.directories[CGROUP_UNIFIED]);
    for (int tree = 0; tree < CGROUP_TREES; tree++) {
        const char *directory = places.directories[tree];

        if (directory != NULL && may_make_groups(directory))
            site->bases[tree] = mem_copy_string(directory);
    }
    cgroup_places_clear(&places);
    site->memory = tree_that_limits(site, "memory", CGROUP_MEMORY, partner);
    site->cpu = tree_that_limits(site, "cpu", CGROUP_CPU, partner);
    process_read(getpid(), &self);
    snprintf(site->prefix, sizeof(site->prefix), "%s%d-%" PRIu64 "-",
             name_start, (int)getpid(), self.start);
}

void cgroup_site_probe(struct cgroup_site *site, const char *root)
{
    probe(site, root, 0);
}

/* What could not be handed down after all is left to version 1, if it has it,
 * or to nobody. */
static void settle_for(enum cgroup_tree *tree, const struct cgroup_site *site,
                       const char *controller, enum cgroup_tree own)
{
    if (*tree == CGROUP_UNIFIED &&
        !is_handed_down(site->bases[CGROUP_UNIFIED], controller))
        *tree = site->bases[own] != NULL ? own : CGROUP_TREES;
}

bool cgroup_site_open(struct cgroup_site *site, const char *root, pid_t partner)
{
    bool any = false;

    probe(site, root, partner);
    sweep(site);
    if (site->bases[CGROUP_UNIFIED] != NULL) {
        hand_down_all(site, partner);
        settle_for(&site->memory, site, "memory", CGROUP_MEMORY);
        settle_for(&site->cpu, site, "cpu", CGROUP_CPU);
    }
    for (int tree = 0; tree < CGROUP_TREES; tree++)
        any |= site->bases[tree] != NULL;
    return any;
}

bool cgroup_is_named_for(const char *directory, int64_t pid, uint64_t start,
                         int64_t attempt)
{
    const char *name = strrchr(directory, '/');
    char expected[CGROUP_NAME_MAX];

    snprintf(expected, sizeof(expected), "%s%" PRId64 "-%" PRIu64 "-%" PRId64,
             name_start, pid, start, attempt);
    return name != NULL && strcmp(name + 1, expected) == 0;
}

void cgroup_site_close(struct cgroup_site *site)
{
    sweep(site);
    cgroup_site_clear(site);
}

void cgroup_site_clear(struct cgroup_site *site)
{
    for (int tree = 0; tree < CGROUP_TREES; tree++)
        free(site->bases[tree]);
    memset(site, 0, sizeof(*site));
}

static void describe_version(const char *version, const char *const uses[3],
                             struct buf *out)
{
    const char *separator = " (";

    if (uses[0] == NULL && uses[1] == NULL && uses[2] == NULL)
        return;
    if (out->length > 0)
        buf_add_string(out, ", ");
    buf_add_string(out, version);
    for (int i = 0; i < 3; i++) {
        if (uses[i] == NULL)
            continue;
        buf_add_string(out, separator);
        buf_add_string(out, uses[i]);
        separator = ", ";
    }
    buf_add_char(out, ')');
}

void cgroup_site_describe(const struct cgroup_site *site, struct buf *out)
{
    bool is_unified = site->bases[CGROUP_UNIFIED] != NULL;
    const char *const second[] = {is_unified ? "kill" : NULL,
                                  site->memory == CGROUP_UNIFIED ? "memory"
                                                                 : NULL,
                                  site->cpu == CGROUP_UNIFIED ? "CPU" : NULL};
    const char *const first[] = {
        !is_unified && site->bases[CGROUP_FREEZER] != NULL ? "kill" : NULL,
        site->memory == CGROUP_MEMORY ? "memory" : NULL,
        site->cpu == CGROUP_CPU ? "CPU" : NULL};
    size_t before = out->length;

    describe_version("version 2", second, out);
    describe_version("version 1", first, out);
    if (out->length == before)
        buf_add_string(out, "none");
}
