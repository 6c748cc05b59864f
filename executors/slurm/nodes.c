/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The nodes that the engine excludes: those it was given, and those that the
 * executor has found since. A new list from the engine replaces both, because
 * the engine was told of what was found. An attempt adds its own list.
 */
#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/text.h"
#include "executors/slurm/core.h"

static bool has(const struct slurm_node_set *set, const char *name)
{
    return text_list_has((const char *const *)set->names, name);
}

static void add(struct slurm_node_set *set, const char *name)
{
    set->names = mem_resize(set->names, set->count + 2, sizeof(*set->names));
    set->names[set->count++] = mem_copy_string(name);
    set->names[set->count] = NULL;
}

static void clear(struct slurm_node_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->names[i]);
    free(set->names);
    *set = (struct slurm_node_set){NULL, 0};
}

/* `all` anew. */
static void join(struct slurm_nodes *nodes)
{
    const struct slurm_node_set *given = &nodes->given, *found = &nodes->found;

    free(nodes->all);
    nodes->all =
        mem_array(given->count + found->count + 1, sizeof(*nodes->all));
    for (size_t i = 0; i < given->count; i++)
        nodes->all[i] = given->names[i];
    for (size_t i = 0; i < found->count; i++)
        nodes->all[given->count + i] = found->names[i];
}

void slurm_nodes_give(struct slurm_nodes *nodes, const char *const *names)
{
    clear(&nodes->given);
    clear(&nodes->found);
    for (; names != NULL && *names != NULL; names++)
        add(&nodes->given, *names);
    join(nodes);
}

bool slurm_nodes_find(struct slurm_nodes *nodes, const char *name)
{
    if (has(&nodes->given, name) || has(&nodes->found, name))
        return false;
    add(&nodes->found, name);
    join(nodes);
    return true;
}

void slurm_nodes_clear(struct slurm_nodes *nodes)
{
    clear(&nodes->given);
    clear(&nodes->found);
    free(nodes->all);
}

const char **slurm_avoided_by(const struct slurm *slurm,
                              const struct attempt_spec *spec)
{
    const char *const *lists[] = {slurm_avoided(slurm), spec->avoid};
    const char **all = NULL;
    size_t count = 0, capacity = 0;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        for (const char *const *at = lists[i]; at != NULL && *at != NULL;
             at++) {
            all = mem_grow(all, count, &capacity, sizeof(*all));
            all[count++] = *at;
        }
    }
    all = mem_grow(all, count, &capacity, sizeof(*all));
    all[count] = NULL;
    return all;
}
