/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/local/adopted_impl.h"

#include <limits.h>
#include <signal.h>

#include "executors/attempt/claim_trace.h"
#include "executors/machine/cgroup_file.h"
#include "executors/machine/cgroup_site.h"

/*
 * With its shim dead, an attempt's orphans are anybody's children. They are
 * known by their session while its leader, the command, is there; by the claim
 * in their environment; by a parent that is known; and by the control group,
 * if there is one: what has dropped all the others has not left that. One that
 * holds the claim's lock, and is not found by these, is looked for among those
 * who have the file open. The number of a session whose leader is gone proves
 * nothing: it may be another's by now.
 */

void adopted_terminate(const struct adopted *adopted)
{
    const struct claim *claim = &adopted->claim;

    process_signal_session((pid_t)claim->pid, claim->pid_start, SIGTERM);
    process_signal_session((pid_t)claim->pid, claim->pid_start, SIGCONT);
}

/* -- The control group ----------------------------------------------------*/

static bool has_group(const struct adopted *adopted)
{
    const struct claim *claim = &adopted->claim;

    return cgroup_is_named_for(claim->cgroup, claim->shim_pid,
                               claim->shim_start, adopted->attempt);
}

bool adopted_remove_group(const struct adopted *adopted)
{
    return !has_group(adopted) || cgroup_remove_tree(adopted->claim.cgroup);
}

/* -- The census -----------------------------------------------------------*/

static struct adopted *owner_of(const struct process_table *table,
                                const struct process *process,
                                struct adopted *first)
{
    char path[PATH_MAX];

    for (struct adopted *a = first; a != NULL; a = a->next) {
        if (process->session == a->claim.pid &&
            process_table_has(table, process->session, a->claim.pid_start))
            return a;
    }
    if (!process_variable(process->pid, "SMTUNE_CLAIM", path, sizeof(path)))
        return NULL;
    for (struct adopted *a = first; a != NULL; a = a->next) {
        if (a->directory != NULL && claim_path_is_in(path, a->directory))
            return a;
    }
    return NULL;
}

static void take_census(struct adopted_census *census, struct adopted *first)
{
    if (census->is_fresh)
        return;
    process_table_read(&census->table);
    for (size_t i = 0; i < census->table.count; i++) {
        struct process *process = &census->table.rows[i];

        process->owner = owner_of(&census->table, process, first);
    }
    process_table_hand_down(&census->table);
    census->is_fresh = true;
}

void adopted_warn(struct adopted_census *census, struct adopted *first,
                  const struct adopted *adopted)
{
    take_census(census, first);
    process_table_warn(&census->table, adopted, adopted->warn_signal);
}

static size_t kill_owned(const struct process_table *table,
                         const struct adopted *owner)
{
    size_t killed = 0;

    for (size_t i = 0; i < table->count; i++) {
        const struct process *process = &table->rows[i];

        if (process->owner == owner && !process->is_zombie)
            killed += process_signal(process->pid, process->start, SIGKILL);
    }
    return killed;
}

static size_t kill_holders(const struct process_table *table,
                           const struct adopted *adopted)
{
    size_t killed = 0;

    for (size_t i = 0; i < table->count; i++) {
        const struct process *process = &table->rows[i];

        if (process->owner == NULL && !process->is_zombie &&
            process->start >= adopted->claim.pid_start &&
            claim_is_open_in(adopted->directory, process->pid))
            killed += process_signal(process->pid, process->start, SIGKILL);
    }
    return killed;
}

bool adopted_kill(struct adopted_census *census, struct adopted *first,
                  struct adopted *adopted)
{
    size_t killed;

    if (has_group(adopted))
        cgroup_kill_tree(adopted->claim.cgroup);
    take_census(census, first);
    killed = kill_owned(&census->table, adopted);
    if (killed == 0 && adopted->claim.pid > 0 &&
        !claim_is_free(adopted->directory))
        killed = kill_holders(&census->table, adopted);
    return killed > 0 || census->table.count == 0;
}

void adopted_census_clear(struct adopted_census *census)
{
    process_table_clear(&census->table);
}
