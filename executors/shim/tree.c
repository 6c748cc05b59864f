/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/tree.h"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "base/count.h"
#include "executors/attempt/claim_trace.h"

/* The only attempt that is old enough to have started the process. */
static struct attempt *only_candidate(const struct process *process,
                                      struct attempt *attempts)
{
    struct attempt *candidate = NULL;

    for (struct attempt *a = attempts; a != NULL; a = a->next) {
        if (a->pid_start > process->start)
            continue;
        if (candidate != NULL)
            return NULL;
        candidate = a;
    }
    return candidate;
}

static struct attempt *owner_of_child(struct tree *tree,
                                      const struct process *process,
                                      struct attempt *attempts)
{
    char claim[PATH_MAX];
    struct attempt *owner;

    for (struct attempt *a = attempts; a != NULL; a = a->next) {
        if (process->session == a->pid && a->reaped_ms == 0)
            return a;
    }
    if (process_variable(process->pid, "SMTUNE_CLAIM", claim, sizeof(claim))) {
        for (struct attempt *a = attempts; a != NULL; a = a->next) {
            if (claim_path_is_in(claim, a->directory))
                return a;
        }
    }
    for (struct attempt *a = attempts; a != NULL; a = a->next) {
        if (process->session == a->pid)
            return a;
    }
    for (struct attempt *a = process->is_zombie ? NULL : attempts; a != NULL;
         a = a->next) {
        if (claim_is_open_in(a->directory, process->pid))
            return a;
    }
    owner = only_candidate(process, attempts);
    return owner != NULL ? owner : &tree->strays;
}

void tree_census(struct tree *tree, struct attempt *attempts, pid_t spared)
{
    struct process_table *table = &tree->table;
    pid_t self = getpid();

    process_table_read(table);
    for (struct attempt *a = attempts; a != NULL; a = a->next) {
        a->living = 0;
        a->rss_bytes = 0;
    }
    for (size_t i = 0; i < table->count; i++) {
        struct process *process = &table->rows[i];

        if (process->parent == self && process->pid != spared)
            process->owner = owner_of_child(tree, process, attempts);
    }
    process_table_hand_down(table);
    for (size_t i = 0; i < table->count; i++) {
        struct attempt *owner = table->rows[i].owner;

        if (owner == NULL || table->rows[i].is_zombie)
            continue;
        owner->living++;
        owner->rss_bytes =
            count_add(owner->rss_bytes, table->rows[i].rss_bytes);
    }
}

/* Returns how many there were, dead ones included: one that has just ended may
 * have a successor that the census did not see. */
static size_t kill_owned(const struct tree *tree, const struct attempt *owner,
                         uint64_t before)
{
    size_t count = 0;

    for (size_t i = 0; i < tree->table.count; i++) {
        const struct process *process = &tree->table.rows[i];

        if (process->owner != owner || process->start >= before)
            continue;
        count++;
        if (!process->is_zombie)
            process_signal(process->pid, process->start, SIGKILL);
    }
    return count;
}

void tree_kill(const struct tree *tree, const struct attempt *attempt)
{
    kill_owned(tree, attempt, UINT64_MAX);
}

size_t tree_kill_strays(const struct tree *tree, const struct attempt *attempts)
{
    uint64_t oldest = UINT64_MAX;

    for (const struct attempt *a = attempts; a != NULL; a = a->next) {
        if (a->pid_start < oldest)
            oldest = a->pid_start;
    }
    return kill_owned(tree, &tree->strays, oldest);
}

int64_t tree_pss_bytes(const struct tree *tree, const struct attempt *attempt)
{
    int64_t sum = 0;

    for (size_t i = 0; i < tree->table.count; i++) {
        const struct process *process = &tree->table.rows[i];
        int64_t bytes;

        if (process->owner != attempt || process->is_zombie)
            continue;
        bytes = process_pss_bytes(process->pid);
        sum = count_add(sum, bytes >= 0 ? bytes : process->rss_bytes);
    }
    return sum;
}

void tree_clear(struct tree *tree)
{
    process_table_clear(&tree->table);
}
