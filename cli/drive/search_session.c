/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session begins with a file, or with a run of the record, or with both:
 * then the file has to be the run's. The run has no `trial`, since its clients
 * decide what a trial is; that of the file is left out, and the record has the
 * assignment `trial=null`.
 *
 * Signals that end a program end the session: open trials are given back, and
 * the run is stopped, and can continue. After a SIGKILL the next session does
 * that.
 */
#include "cli/drive/search_session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/conf/diag.h"
#include "base/fs.h"
#include "base/mem.h"
#include "cli/drive/foreground.h"
#include "cli/drive/hint.h"
#include "cli/drive/warm_start_view.h"
#include "orchestrator/ask_tell/ask_tell.h"
#include "orchestrator/ask_tell/listen.h"
#include "orchestrator/ask_tell/serve.h"
#include "orchestrator/run/budget_change.h"
#include "orchestrator/run/control_address.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"

struct search_session {
    const struct cli *cli;
    const struct search_order *order;
    struct experiment *experiment; /* of the file; NULL: of the run */
    struct store *store;
    struct run *run;
    const struct experiment *known; /* the one above, or the run's */
    struct ask_tell *ask_tell;
};

/* ---- the file ---- */

static struct experiment *load(const struct search_order *order,
                               const char *more, struct diags *diags,
                               struct err *err)
{
    size_t count = order->set->count;
    const char **words = mem_array(count + 2, sizeof(*words));
    struct experiment *experiment;

    for (size_t i = 0; i < count; i++)
        words[i] = order->set->items[i];
    if (order->has_no_budget)
        words[count++] = "budget={}";
    if (more != NULL)
        words[count++] = more;
    experiment =
        experiment_load_for_search(order->file, words, count, diags, err);
    free(words);
    return experiment;
}

/* 0, 3 with what is wrong printed, or -1. */
static int load_file(struct search_session *session, struct err *err)
{
    const struct search_order *order = session->order;
    struct diags *diags;
    int status = 0;

    if (order->file == NULL && order->set->count > 0)
        return err_set(err, ERR_USAGE,
                       "--set changes a file, and there is no FILE");
    if (order->file == NULL)
        return 0;
    diags = diags_create(order->file);
    session->experiment = load(order, NULL, diags, err);
    if (session->experiment != NULL && order->record != NULL &&
        !session->experiment->is_asked) {
        experiment_destroy(session->experiment);
        session->experiment = load(order, RUN_WITHOUT_TRIAL, diags, err);
    }
    if (session->experiment == NULL)
        status = foreground_print_diags(session->cli, diags);
    diags_destroy(diags);
    return status;
}

/* ---- the run ---- */

static bool is_same_file(const struct experiment *a, const struct experiment *b)
{
    if (strcmp(a->source, b->source) != 0 ||
        a->assignment_count != b->assignment_count)
        return false;
    for (size_t i = 0; i < a->assignment_count; i++) {
        if (strcmp(a->assignments[i], b->assignments[i]) != 0)
            return false;
    }
    return true;
}

static int check_run(const struct search_session *session, struct err *err)
{
    const struct run *run = session->run;

    if (run->workflow != NULL || !run->experiment->is_asked)
        return err_set(err, ERR_USAGE,
                       "run '%s' starts its trials itself (continue it: smtune "
                       "resume %s; or choose another name for --record)",
                       run->name, run->name);
    if (session->experiment != NULL &&
        !is_same_file(session->experiment, run->experiment))
        return err_set(err, ERR_USAGE,
                       "'%s' is not the file of run '%s' (leave out FILE, or "
                       "choose another name for --record)",
                       session->order->file, run->name);
    return 0;
}

static int create_run(struct search_session *session, struct err *err)
{
    const struct run_order order = {.name = session->order->record};
    struct spec spec = {.experiment = session->experiment};

    session->experiment = NULL;
    session->run = run_create(session->store, &spec, &order, err);
    spec_clear(&spec);
    return session->run != NULL ? 0 : -1;
}

static int change_budget(const struct search_session *session, struct err *err)
{
    const struct budget_change change = {.trials = session->order->trials};

    if (!budget_change_is_any(&change) ||
        change.trials == session->run->experiment->budget.trials)
        return 0;
    if (budget_change_make(session->run, &change, err) != 0)
        return err_prefix(err, "run '%s'", session->run->name);
    return 0;
}

/* The run of that name, or a new one. */
static int open_run(struct search_session *session, struct err *err)
{
    const char *name = session->order->record;
    struct err missing;
    int64_t id;

    if (run_check_name(name, err) != 0)
        return -1;
    session->store = store_open(
        session->cli->store,
        session->experiment != NULL ? STORE_CREATE : STORE_WRITE, err);
    if (session->store == NULL)
        return -1;
    if (store_find_run(session->store, name, &id, &missing) == 0) {
        session->run = foreground_open(session->cli, session->store, id, err);
        return session->run == NULL || check_run(session, err) != 0 ? -1 : 0;
    }
    if (missing.kind == ERR_NOT_FOUND && session->experiment != NULL)
        return create_run(session, err);
    *err = missing;
    return -1;
}

static int open_search(struct search_session *session, struct err *err)
{
    struct warm_start *warm = NULL;

    if (session->order->record != NULL) {
        if (open_run(session, err) == 0 && change_budget(session, err) == 0)
            session->ask_tell = ask_tell_open(session->run, err);
        return session->ask_tell != NULL ? 0 : -1;
    }
    if (warm_start_view_read(session->cli, session->experiment, &warm, err) ==
        0)
        session->ask_tell = ask_tell_create(session->experiment, warm, err);
    warm_start_destroy(warm);
    return session->ask_tell != NULL ? 0 : -1;
}

/* ---- clients ---- */

/* Readable when a signal has come that ends a program. */
static int open_signals(struct err *err)
{
    sigset_t signals;
    int fd;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    fd = signalfd(-1, &signals, SFD_CLOEXEC);
    if (fd < 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot wait for signals");
    return fd;
}

static void say_open(const struct search_session *session)
{
    if (session->cli->quiet)
        return;
    fprintf(stderr, "smtune: run '%s': clients can connect to '%s'\n",
            session->run->name, session->order->socket);
    hint_print(session->cli, "show", session->run->name, "", "its trials");
}

static void remove_commands(const struct run *run)
{
    char *path = fs_join(run->directory, CONTROL_SOCKET_NAME);

    unlink(path);
    free(path);
}

/* On the socket that clients connect to, or by standard input and output. */
static int serve_at(struct search_session *session, struct serve_door *door,
                    struct err *err)
{
    const char *path = session->order->socket;
    int status;

    if (path == NULL)
        return serve_clients(session->ask_tell, door, err);
    door->in = door->out = -1;
    door->listener = listen_at(path, err);
    if (door->listener < 0)
        return -1;
    say_open(session);
    status = serve_clients(session->ask_tell, door, err);
    unlink(path);
    close(door->listener);
    return status;
}

static int serve(struct search_session *session, int stop, struct err *err)
{
    struct serve_door door = {.in = STDIN_FILENO,
                              .out = STDOUT_FILENO,
                              .listener = -1,
                              .commands = -1,
                              .stop = stop};
    int status;

    if (session->run == NULL)
        return serve_at(session, &door, err);
    door.commands = listen_for_commands(session->run->directory, err);
    if (door.commands < 0)
        return -1;
    status = serve_at(session, &door, err);
    remove_commands(session->run);
    close(door.commands);
    return status;
}

int search_session_load(const struct cli *cli, const struct search_order *order,
                        struct search_session **session, struct err *err)
{
    int status;

    *session = mem_zero(sizeof(**session));
    (*session)->cli = cli;
    (*session)->order = order;
    status = load_file(*session, err);
    (*session)->known = (*session)->experiment;
    return status;
}

int search_session_open(struct search_session *session, struct err *err)
{
    if (open_search(session, err) != 0)
        return -1;
    if (session->run != NULL)
        session->known = session->run->experiment;
    return 0;
}

const struct experiment *search_session_experiment(
    const struct search_session *session)
{
    return session->known;
}

struct ask_tell *search_session_ask_tell(const struct search_session *session)
{
    return session->ask_tell;
}

int search_session_end(struct search_session *session, struct err *err)
{
    int status = 0;

    if (session == NULL)
        return 0;
    if (session->ask_tell != NULL)
        status = ask_tell_close(session->ask_tell, err);
    ask_tell_destroy(session->ask_tell);
    run_close(session->run);
    store_close(session->store);
    experiment_destroy(session->experiment);
    free(session);
    return status;
}

int search_session_run(const struct cli *cli, const struct search_order *order,
                       struct err *err)
{
    struct search_session *session;
    struct err closing;
    int stop = -1;
    int status = search_session_load(cli, order, &session, err);

    if (status == 0) {
        stop = open_signals(err);
        status = stop >= 0 ? search_session_open(session, err) : -1;
    }
    if (status == 0)
        status = serve(session, stop, err);
    if (search_session_end(session, &closing) != 0 && status == 0) {
        *err = closing;
        status = -1;
    }
    if (stop >= 0)
        close(stop);
    return status;
}
