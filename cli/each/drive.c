/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engine of a run of lines, and the output of its commands beside it. An
 * output that cannot be written never stops the run: it is in the record, and
 * is an error at the end. */
#include "cli/each/drive.h"

#include "cli/drive/foreground.h"
#include "cli/drive/run_end.h"
#include "cli/each/end.h"
#include "cli/each/output.h"
#include "cli/term/output.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/run/run.h"
#include "store/store.h"

static void on_ended(void *user, const struct engine_trial *job)
{
    each_output_ended(user, job);
}

/* Lines of progress among the output of commands would be in its way. */
static struct cli shown_cli(const struct each_driving *driving)
{
    struct cli shown = *driving->cli;

    if (!driving->is_detached && shown.output == OUTPUT_TABLE &&
        (shown.out_is_terminal || !shown.err_is_terminal))
        shown.quiet = true;
    return shown;
}

int each_drive(const struct each_driving *driving, struct run *run,
               struct err *err)
{
    const struct cli *cli = driving->cli;
    const struct cli shown = shown_cli(driving);
    const struct spec spec = {run->experiment, run->workflow};
    struct each_output *output = each_output_create(
        &(struct each_output_order){
            .store = run->store,
            .run = run->id,
            .results = driving->results,
            .prints = !driving->is_detached && cli->output == OUTPUT_TABLE,
            .keeps_order = driving->keeps_order,
        },
        err);
    const struct foreground_listener listener = {on_ended, output};
    struct engine_result result;
    struct err unwritten;
    int status, written;

    if (output == NULL)
        return -1;
    status = foreground_drive(&shown, run, &listener, &result, err);
    written = each_output_finish(output, &unwritten);
    if (status == 0)
        status = each_end_print(cli,
                                &(struct run_end){.store = run->store,
                                                  .run = run->id,
                                                  .name = run->name,
                                                  .spec = &spec,
                                                  .result = &result},
                                driving->lines, err);
    if (status < 0 || written == 0)
        return status;
    *err = unwritten;
    return -1;
}

/* Its results are in the record: they may still be asked for. */
int each_write_results(const char *path, int64_t run, const char *results,
                       struct err *err)
{
    struct store *store = store_open(path, STORE_READ, err);
    struct each_output *output = NULL;
    int result = -1;

    if (store != NULL)
        output = each_output_create(
            &(struct each_output_order){
                .store = store, .run = run, .results = results},
            err);
    if (output != NULL)
        result = each_output_finish(output, err);
    store_close(store);
    return result;
}
