/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/run/best_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "orchestrator/job/workspace.h"
#include "orchestrator/run/run.h"
#include "orchestrator/search/search.h"
#include "orchestrator/search/search_space.h"
#include "orchestrator/spec/experiment/command_line.h"
#include "store/store.h"

struct printing {
    const struct run_view *view;
    const struct experiment *experiment;
    struct err *err;
};

/* The point as the search had it; the caller's to free. NULL with an error. */
static struct value *read_point(const struct printing *printing,
                                const struct trial_row *trial)
{
    const struct experiment *experiment = printing->experiment;
    struct value *point =
        mem_array(search_space_count(experiment), sizeof(*point));

    if (search_point(experiment->space, trial, point, printing->err) == 0)
        return point;
    free(point);
    return NULL;
}

static int print_trial(void *user, const struct trial_row *trial)
{
    const struct printing *printing = user;
    const struct run_view *view = printing->view;
    char *run = store_run_directory(view->store, view->row.name);
    char *directory = mem_printf("%s/trials/%" PRId64, run, trial->number);
    char *checkpoints = workspace_checkpoint_directory(run, trial->number);
    struct value *point = read_point(printing, trial);
    struct buf text = BUF_INIT;
    int status = -1;

    if (point != NULL)
        status = command_line_print(
            &(struct command_line){
                .experiment = printing->experiment,
                .run = view->row.name,
                .trial = trial->number,
                .point = point,
                .directory = directory,
                .checkpoint_directory = checkpoints,
                .resource = printing->experiment->schedule.options.max},
            &text, printing->err);
    if (status == 0)
        printf("%s\n", buf_text(&text));
    buf_clear(&text);
    free(point);
    free(checkpoints);
    free(directory);
    free(run);
    return status;
}

int best_command_print(const struct run_view *view, struct err *err)
{
    const struct trial_query query = {.run = view->row.id,
                                      .order = ORDER_BEST,
                                      .state = "succeeded",
                                      .limit = 1};
    struct experiment *experiment =
        run_read_experiment(view->store, view->row.id, err);
    struct printing printing = {view, experiment, err};
    int status = -1;

    if (experiment != NULL)
        status =
            store_each_trial(view->store, &query, print_trial, &printing, err);
    experiment_destroy(experiment);
    return status < 0 ? -1 : 0;
}
