/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests to the engines of child runs. It is best effort: an engine that does
 * not answer learns the same from its parent run when it starts again. */
#include "cli/drive/child_runs.h"

#include <stdlib.h>

#include "orchestrator/run/control_link.h"
#include "store/store.h"

struct telling {
    struct store *store;
    json_t *request;
};

static int tell(void *user, const struct run_row *row)
{
    const struct telling *telling = user;
    char *directory;

    if (row->ended_ms != 0)
        return 0;
    directory = store_run_directory(telling->store, row->name);
    control_call(directory, json_incref(telling->request), NULL, NULL, NULL);
    free(directory);
    return 0;
}

void child_runs_tell(struct store *store, int64_t run, json_t *request)
{
    struct telling telling = {store, request};

    store_each_child_run(store, run, tell, &telling, NULL);
    json_decref(request);
}
