/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/cmd.h"
#include "cli/show/top_page.h"
#include "cli/term/guarded_file.h"
#include "cli/term/panel.h"
#include "cli/term/signals.h"
#include "cli/term/term.h"

/*
 * Looks at the record now and then, which holds nobody up: the more there is to
 * read, the longer it rests in between. Signals come through a descriptor, so
 * that Ctrl-C ends no more than the showing.
 */

enum {
    PAUSE_MS = 500,
    REST_FACTOR = 10, /* of the processor time that a look took */
    LINES_MAX = 200,
    LINES_OF_FILE = 40
};

struct watching {
    const struct cli *cli;
    struct store *store;
    int64_t only; /* a run; 0: all */
    struct top top;
    struct panel *panel; /* NULL: lines, not a page */
    int signals;
};

static int64_t cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whether there is nothing more to come. */
static bool is_over(const struct watching *watching)
{
    for (size_t i = 0; i < watching->top.count; i++) {
        if (watching->top.runs[i].is_live)
            return false;
    }
    return true;
}

static int write_out(const struct buf *text, struct err *err)
{
    if (fwrite(buf_text(text), 1, text->length, stdout) == text->length &&
        fflush(stdout) == 0)
        return 0;
    return errno == EPIPE ? err_set(err, ERR_FAILED, "%s", "")
                          : err_set_errno(err, ERR_FAILED, errno,
                                          "cannot write to standard output");
}

static int show(struct watching *watching, struct err *err)
{
    struct buf text = BUF_INIT;
    int status = 0;

    if (watching->panel != NULL) {
        status = top_print_page(&watching->top, watching->store, watching->cli,
                                panel_lines(watching->panel), &text, err);
        if (status == 0)
            panel_show(watching->panel, buf_text(&text));
    } else {
        top_print_changes(&watching->top, &text);
        status = write_out(&text, err);
    }
    buf_clear(&text);
    return status;
}

/* The signal that came meanwhile, or 0. */
static int rest(const struct watching *watching, int64_t pause_ms)
{
    struct pollfd file = {.fd = watching->signals, .events = POLLIN};

    return poll(&file, 1, (int)pause_ms) > 0 ? signals_read(watching->signals)
                                             : 0;
}

static int watch(struct watching *watching, struct err *err)
{
    for (;;) {
        int64_t start_ms = cpu_ms(), pause_ms;
        int signal_number;

        if (top_read(&watching->top, watching->store, watching->only, err) !=
                0 ||
            show(watching, err) != 0)
            return -1;
        if (is_over(watching))
            return 0;
        pause_ms = (cpu_ms() - start_ms) * REST_FACTOR;
        signal_number =
            rest(watching, pause_ms > PAUSE_MS ? pause_ms : PAUSE_MS);
        if (signal_number != 0)
            return 128 + signal_number;
    }
}

/* On a terminal the last page stays where the panel was. */
static int leave_page(struct watching *watching, struct err *err)
{
    struct buf text = BUF_INIT;
    int status;

    panel_destroy(watching->panel);
    watching->panel = NULL;
    status = top_print_page(&watching->top, watching->store, watching->cli,
                            LINES_OF_FILE, &text, err);
    if (status == 0)
        status = write_out(&text, err);
    buf_clear(&text);
    return status;
}

static int run_top(struct watching *watching, struct err *err)
{
    const struct cli *cli = watching->cli;
    FILE *screen = NULL;
    int status;

    if (cli->out_is_terminal && !term_is_dumb())
        screen = guarded_file_bypass(STDOUT_FILENO);
    if (screen != NULL)
        watching->panel = panel_create(screen, STDOUT_FILENO, 0, LINES_MAX);
    watching->signals = signals_open();
    status = watch(watching, err);
    close(watching->signals);
    if (watching->panel != NULL && leave_page(watching, err) != 0)
        status = -1;
    if (screen != NULL)
        fclose(screen);
    if (status == 0 && watching->only == 0 && watching->top.count == 0 &&
        !cli->quiet)
        fprintf(stderr, "smtune: no run is active (smtune ls lists all)\n");
    return status;
}

static int exec(const struct cli *cli, const void *options, char **operands,
                int count, struct err *err)
{
    struct watching watching = {.cli = cli};
    int status = -1;

    (void)options;
    if (cli->output != OUTPUT_TABLE)
        return err_set(
            err, ERR_USAGE,
            "top has no JSON output; programs use 'smtune status RUN "
            "-o json'");
    watching.store = store_open(cli->store, STORE_READ, err);
    if (watching.store == NULL)
        return -1;
    if (count == 0 ||
        store_find_run(watching.store, operands[0], &watching.only, err) == 0)
        status = run_top(&watching, err);
    top_clear(&watching.top);
    store_close(watching.store);
    return status;
}

const struct cmd cmd_top = {
    .name = "top",
    .operands = "[RUN]",
    .summary = "show the progress of active runs live",
    .details = "Shows all active runs, or one run. For a workflow it "
               "shows the steps, with copies as counts, and active steps "
               "first if the terminal is small. For an experiment it "
               "shows the states of the trials, the running ones with "
               "their last value, and the best one. It reads the record "
               "and does not slow down runs. It ends when no run is "
               "active; Ctrl-C ends only the display (130).\n\n"
               "If standard output is not a terminal, it prints a line "
               "whenever the state of a run or a step changes.",
    .examples = "smtune top              # all active runs\n"
                "smtune top nightly      # one run\n"
                "smtune top last | cat   # as lines\n",
    .completes = "run",
    .max_operands = 1,
    .exec = exec,
};
