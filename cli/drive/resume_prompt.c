/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drive/resume_prompt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/drive/hint.h"
#include "cli/show/run/run_outcome.h"
#include "orchestrator/run/run_earlier.h"
#include "orchestrator/steps/child_run.h"
#include "store/store.h"

/* Yes is what an empty line says; no answer at all is no. */
static bool ask(const struct run_earlier *earlier)
{
    char line[64];

    fprintf(stderr,
            "smtune: run '%s' of this file has not ended (%" PRId64
            " trial%s so far)\n"
            "resume it? [Y/n] ",
            earlier->name, earlier->trials, units_plural(earlier->trials));
    fflush(stderr);
    if (fgets(line, sizeof(line), stdin) == NULL) {
        fputc('\n', stderr);
        return false;
    }
    return line[0] == '\n' || line[0] == 'y' || line[0] == 'Y';
}

static void mention(const struct cli *cli, const struct run_earlier *earlier)
{
    struct buf command = BUF_INIT;

    if (cli->quiet)
        return;
    hint_add_command(cli, "resume", &command);
    fprintf(stderr,
            "smtune: run '%s' of this file has not ended (resume it: "
            "%s %s); this is a new run\n",
            earlier->name, buf_text(&command), earlier->name);
    buf_clear(&command);
}

static enum resume_answer retry(const struct run_earlier *earlier,
                                struct err *err)
{
    if (earlier->id == 0)
        return (enum resume_answer)err_set(err, ERR_NOT_FOUND,
                                           "this file has no run to continue");
    if (!earlier->is_same)
        return (enum resume_answer)err_set(
            err, ERR_BUSY,
            "the file or the --set values have changed since run '%s' "
            "(apply the file: smtune edit %s; then, or to continue it "
            "unchanged: smtune retry %s --failed)",
            earlier->name, earlier->name, earlier->name);
    if (earlier->has_engine)
        return (enum resume_answer)err_set(
            err, ERR_BUSY,
            "run '%s' is still running (use smtune retry %s --failed)",
            earlier->name, earlier->name);
    return RESUME_RETRY;
}

static enum resume_answer resume(const struct run_earlier *earlier,
                                 struct err *err)
{
    if (!earlier->is_same)
        return (enum resume_answer)err_set(
            err, ERR_BUSY,
            "run '%s' is of another file or of other --set values, so "
            "it cannot be resumed here (apply the file: smtune edit %s; "
            "continue it unchanged: smtune resume %s; or use another --name)",
            earlier->name, earlier->name, earlier->name);
    if (!earlier->is_over || earlier->has_failed)
        return RESUME_GO_ON;
    fprintf(stderr, "smtune: run '%s' has ended; there is nothing to resume\n",
            earlier->name);
    return RESUME_NOTHING;
}

static enum resume_answer decide(const struct cli *cli,
                                 const struct resume_prompt *prompt,
                                 const struct run_earlier *earlier,
                                 struct err *err)
{
    bool is_open = !earlier->is_over && !earlier->has_engine;

    if (prompt->failed)
        return retry(earlier, err);
    if (earlier->id == 0)
        return RESUME_NEW;
    if (prompt->resume)
        return resume(earlier, err);
    if (is_open && !earlier->is_same && prompt->order->name != NULL)
        return (enum resume_answer)err_set(
            err, ERR_BUSY,
            "duplicate name '%s': a run of another file or of other "
            "--set values has it (continue that run unchanged: smtune "
            "resume %s; or use another --name)",
            earlier->name, earlier->name);
    if (!is_open || !earlier->is_same)
        return RESUME_NEW;
    if (isatty(STDIN_FILENO) && cli->err_is_terminal)
        return ask(earlier) ? RESUME_GO_ON : RESUME_NEW;
    if (prompt->order->name == NULL)
        mention(cli, earlier);
    return RESUME_NEW;
}

/* A job's next attempt: what ended well is done, and what has failed is tried
 * again. */
static enum resume_answer decide_child(struct store *store,
                                       const struct resume_prompt *prompt,
                                       const struct run_earlier *earlier,
                                       struct err *err)
{
    struct run_outcome outcome = {NULL};
    enum resume_answer answer = RESUME_GO_ON;

    if (earlier->id == 0)
        return RESUME_NEW;
    if (run_outcome_read(&outcome, store, earlier->id, err) != 0)
        return RESUME_ERROR;
    if (earlier->is_over)
        answer =
            run_outcome_status(&outcome) == 0 ? RESUME_NOTHING : RESUME_NEW;
    else if (earlier->has_failed && prompt->spec->workflow != NULL)
        answer = RESUME_RETRY;
    run_outcome_clear(&outcome);
    return answer;
}

/* A new run beside another one of the same file: both write the same files. */
static enum resume_answer warn_of_other(struct store *store,
                                        const struct resume_prompt *prompt,
                                        enum resume_answer answer,
                                        struct err *err)
{
    char *name;

    if (answer != RESUME_NEW)
        return answer;
    if (run_find_other(store, prompt->spec, &name, err) != 0)
        return RESUME_ERROR;
    if (name != NULL)
        fprintf(stderr,
                "smtune: warning: run '%s' of this file is running in this "
                "folder; both runs write to the same files\n",
                name);
    free(name);
    return answer;
}

static enum resume_answer ask_record(const struct cli *cli, struct store *store,
                                     const struct resume_prompt *prompt,
                                     struct run_earlier *earlier,
                                     struct err *err)
{
    if (prompt->order->parent == 0)
        return run_find_earlier(store, prompt->spec, prompt->order, earlier,
                                err) == 0
                   ? warn_of_other(store, prompt,
                                   decide(cli, prompt, earlier, err), err)
                   : RESUME_ERROR;
    if (child_run_check_depth(store, prompt->order->parent, err) != 0 ||
        run_find_child(store, prompt->spec, prompt->order, earlier, err) != 0)
        return RESUME_ERROR;
    return decide_child(store, prompt, earlier, err);
}

enum resume_answer resume_prompt_ask(const struct cli *cli,
                                     const struct resume_prompt *prompt,
                                     int64_t *run, struct err *err)
{
    struct err problem;
    struct store *store = store_open(cli->store, STORE_READ, &problem);
    struct run_earlier earlier = {0};
    enum resume_answer answer = RESUME_ERROR;

    *run = 0;
    if (store == NULL && problem.kind == ERR_NOT_FOUND && !prompt->failed &&
        prompt->order->parent == 0)
        return RESUME_NEW;
    if (store == NULL)
        *err = problem;
    else
        answer = ask_record(cli, store, prompt, &earlier, err);
    *run = answer == RESUME_NEW || answer == RESUME_ERROR ? 0 : earlier.id;
    free(earlier.name);
    store_close(store);
    return answer;
}
