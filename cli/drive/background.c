/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run that continues in this process or in the background.
 *
 * The order matters for --detach. The process forks first, and the child opens
 * the store, because a database must not be open across a fork. The child takes
 * the run's lock, makes the change that was asked for, and only then reports to
 * the parent. So the parent's exit status says whether the run really
 * continues.
 */
#include "cli/drive/background.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/drive/detach.h"
#include "cli/drive/foreground.h"
#include "cli/drive/hint.h"
#include "orchestrator/run/run.h"
#include "store/store.h"

static void add_hint(const struct cli *cli, const char *verb, const char *run,
                     const char *what, struct buf *out)
{
    buf_add_string(out, "  ");
    hint_add_command(cli, verb, out);
    buf_printf(out, " %s  %s\n", run, what);
}

static void add_hints(const struct cli *cli, const char *run, struct buf *out)
{
    add_hint(cli, "attach", run, "  watch it", out);
    add_hint(cli, "status", run, "  show its state", out);
    add_hint(cli, "wait", run, "    wait until it ends", out);
    add_hint(cli, "stop", run, "    stop it", out);
}

/* What the parent of a detached run prints. */
static char *describe_detached(const struct cli *cli, const struct run *run)
{
    struct buf text = BUF_INIT;

    if (cli->output == OUTPUT_TABLE) {
        buf_printf(&text, "run '%s' continues in the background (pid %d)\n",
                   run->name, (int)getpid());
        if (!cli->quiet)
            add_hints(cli, run->name, &text);
    } else {
        json_t *json =
            json_pack("{s:s, s:i}", "run", run->name, "pid", (int)getpid());

        json_print(json, &text);
        buf_add_char(&text, '\n');
        json_decref(json);
    }
    return buf_take(&text);
}

int background_tell(const struct cli *cli, const struct run *run,
                    struct detach *detach, struct err *err)
{
    char *line = describe_detached(cli, run);
    char *log_path = mem_printf("%s/engine.log", run->directory);
    int result = detach_tell(detach, line, log_path, err);

    free(line);
    free(log_path);
    return result;
}

static int go_on(const struct cli *cli, int64_t id, struct detach *detach,
                 const struct background_task *task, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_WRITE, err);
    struct run *run = NULL;
    int result = -1;

    if (store != NULL)
        run = foreground_open(cli, store, id, err);
    if (run != NULL && foreground_check_starts(run, err) == 0 &&
        (task == NULL || task->begin(run, task->user, err) == 0) &&
        (detach == NULL || background_tell(cli, run, detach, err) == 0))
        result = foreground_run(cli, run, err);
    run_close(run);
    store_close(store);
    return result;
}

int background_go_on(const struct cli *cli, int64_t run, bool detached,
                     const struct background_task *task, struct err *err)
{
    struct detach detach = {0};

    if (!detached)
        return go_on(cli, run, NULL, task, err);
    if (detach_fork(&detach, err) != 0)
        return -1;
    return detach.child > 0 ? detach_wait(&detach)
                            : go_on(cli, run, &detach, task, err);
}
