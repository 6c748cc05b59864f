/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/revision.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "orchestrator/run/git.h"
#include "orchestrator/run/run.h"

/* The commit of the code that a run uses, by git. There is no error: without an
 * answer the commit is unknown. */

char *revision_of(const char *directory)
{
    static const char *const words[] = {"describe",    "--always",    "--dirty",
                                        "--abbrev=40", "--exclude=*", NULL};
    static const struct git_limits limits = {128, 1000};
    char *line = git_output(directory, words, &limits, NULL);
    size_t length = line != NULL ? strlen(line) : 0;

    if (length > 1 && line[length - 1] == '\n') {
        line[length - 1] = '\0';
        return line;
    }
    free(line);
    return NULL;
}

/* The session of an engine that died ends before: when it was last heard of. */
int revision_record(struct run *run, const char *revision, struct err *err)
{
    struct store *store = run->store;

    if (store_begin(store, err) == 0 &&
        store_end_dead_engine(store, run->id, err) == 0 &&
        store_set_run_revision(store, run->id, revision, clock_wall_ms(),
                               err) == 0 &&
        store_commit(store, err) == 0)
        return 0;
    store_rollback(store);
    return -1;
}
