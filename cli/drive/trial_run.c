/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store lies beside that of the user, so that it is on the same file
 * system, which nodes of a cluster share. Its engine is another process, and
 * this one copies the attempt's log while it grows. A second attempt, after a
 * retry, follows the first.
 *
 * Ctrl-C and SIGTERM stop the trial: the engine gets SIGTERM, because there is
 * no other trial that could be left to finish, and this process waits for it.
 */
#include "cli/drive/trial_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/word_list.h"

enum { LOOK_MS = 50, PIECE_BYTES = 65536, MESSAGES_MAX = 1 << 16 };

const char trial_run_name[] = "try";

/* The end of the engine's process is a signal, too. */
struct waiting {
    pid_t engine;
    int signals; /* a signalfd */
    int status;  /* of the engine, once has_ended */
    bool has_ended;
};

/* The log that is copied. */
struct following {
    const char *store;
    int attempt;
    off_t offset;
    trial_output_fn output;
    void *user;
};

/* ---- the output ---- */

static char *log_path(const struct following *f, int attempt)
{
    return mem_printf("%s/runs/%s/attempts/1-%d/log", f->store, trial_run_name,
                      attempt);
}

static void copy_news(struct following *f)
{
    char *path = log_path(f, f->attempt);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char piece[PIECE_BYTES];
    ssize_t length = 1;

    while (fd >= 0 && length > 0) {
        length = pread(fd, piece, sizeof(piece), f->offset);
        if (length > 0) {
            f->output(f->user, piece, (size_t)length);
            f->offset += length;
        }
    }
    if (fd >= 0)
        close(fd);
    free(path);
}

static void look(struct following *f)
{
    char *next;

    copy_news(f);
    next = log_path(f, f->attempt + 1);
    if (fs_exists(next)) {
        copy_news(f);
        f->attempt++;
        f->offset = 0;
        copy_news(f);
    }
    free(next);
}

/* ---- the engine ---- */

static void take_signals(struct waiting *w)
{
    struct signalfd_siginfo info;

    while (read(w->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        if (info.ssi_signo != SIGCHLD)
            kill(w->engine, SIGTERM);
    if (waitpid(w->engine, &w->status, WNOHANG) == w->engine)
        w->has_ended = true;
}

static void wait_for(struct waiting *w, struct following *f)
{
    struct pollfd ready = {.fd = w->signals, .events = POLLIN};

    while (!w->has_ended) {
        poll(&ready, 1, LOOK_MS);
        take_signals(w);
        look(f);
    }
}

/* Its standard error goes to the file. */
static int spawn_engine(char *const *argv, const char *messages,
                        const sigset_t *mask, pid_t *engine)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error;

    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, messages,
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    error = posix_spawn(engine, "/proc/self/exe", &actions, &attributes, argv,
                        environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* Runs the command to its end. 0, or -1 where it cannot be started. */
static int run_engine(char *const *argv, const char *messages,
                      struct following *f, struct err *err)
{
    struct waiting w = {.signals = -1};
    sigset_t watched, before;
    int error;

    sigemptyset(&watched);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, &before);
    w.signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    error = w.signals < 0 ? errno
                          : spawn_engine(argv, messages, &before, &w.engine);
    if (error == 0)
        wait_for(&w, f);
    if (w.signals >= 0)
        close(w.signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return err_set_errno(err, ERR_FAILED, error, "cannot start an engine");
    return 0;
}

/* ---- the command ---- */

static void add_set(struct word_list *words, const char *assignment)
{
    word_list_copy(words, "--set");
    word_list_copy(words, assignment);
}

static struct word_list make_command(const char *store, const char *path,
                                     const struct opt_texts *set)
{
    static const char *const own[] = {"budget={trials: 1, parallel: 1}",
                                      "notify=[]"};
    struct word_list words = {NULL, 0, 0};

    word_list_copy(&words, "smtune");
    word_list_copy(&words, "run");
    word_list_copy(&words, "-q");
    word_list_copy(&words, "--store");
    word_list_copy(&words, store);
    word_list_copy(&words, "--name");
    word_list_copy(&words, trial_run_name);
    for (size_t i = 0; i < set->count; i++)
        add_set(&words, set->items[i]);
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        add_set(&words, own[i]);
    word_list_copy(&words, "--");
    word_list_copy(&words, path);
    return words;
}

/* What the engine wrote, as the reason why there is no trial. */
static int fail(const char *messages, struct err *err)
{
    struct buf text = BUF_INIT;
    const char *line;

    fs_read(messages, MESSAGES_MAX, &text, NULL);
    while (text.length > 0 && text.data[text.length - 1] == '\n')
        buf_truncate(&text, text.length - 1);
    line = strrchr(buf_text(&text), '\n');
    line = line != NULL ? line + 1 : buf_text(&text);
    if (strncmp(line, "smtune: ", strlen("smtune: ")) == 0)
        line += strlen("smtune: ");
    err_set(err, ERR_FAILED, "there was no trial: %s",
            *line != '\0' ? line : "it was stopped");
    buf_clear(&text);
    return -1;
}

int trial_run_start(struct trial_run *run, const struct cli *cli,
                    const char *path, const struct opt_texts *set,
                    trial_output_fn output, void *user, struct err *err)
{
    struct following f = {.attempt = 1, .output = output, .user = user};
    struct word_list words;
    char *messages, *log;
    int result;

    run->store = mem_printf("%s-try-XXXXXX", cli->store);
    if (mkdtemp(run->store) == NULL) {
        err_set_errno(err, ERR_FAILED, errno, "cannot make folder '%s'",
                      run->store);
        free(run->store);
        run->store = NULL;
        return -1;
    }
    f.store = run->store;
    messages = fs_join(run->store, "messages");
    words = make_command(run->store, path, set);
    result = run_engine(words.items, messages, &f, err);
    log = log_path(&f, 1);
    if (result == 0 && !fs_exists(log))
        result = fail(messages, err);
    words_free(words.items);
    free(messages);
    free(log);
    return result;
}

void trial_run_clear(struct trial_run *run)
{
    if (run->store != NULL)
        fs_remove_tree(run->store, NULL);
    free(run->store);
    run->store = NULL;
}
