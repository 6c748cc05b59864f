/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune dashboard`: options, addresses, and the first free port. A port that
 * the user names is the only one tried, because a bookmark or an ssh tunnel
 * depends on it. Without one the next PORTS_TRIED ports are tried, so that two
 * users of a machine do not collide.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/compiler.h"
#include "cli/cmd.h"
#include "cli/serve/dashboard_source.h"
#include "cli/term/browser.h"
#include "cli/term/output.h"
#include "dashboard/dashboard.h"

enum { DEFAULT_PORT = 8420, PORTS_TRIED = 20, PORT_MAX = 65535 };

struct options {
    const char *port; /* NULL: not given */
    const char *socket_path;
    bool open, read_only;
};

static const struct opt opts[] = {
    {"port", 'p', OPT_TEXT, offsetof(struct options, port), "N",
     "listen on this port, 0: any free port (default: 8420, or "
     "the next free one)",
     0, NULL},
    {"socket", 0, OPT_TEXT, offsetof(struct options, socket_path), "PATH",
     "listen on a unix socket at this path instead", 0, NULL},
    {"open", 0, OPT_FLAG, offsetof(struct options, open), NULL,
     "open it in the browser", 0, NULL},
    {"read-only", 0, OPT_FLAG, offsetof(struct options, read_only), NULL,
     "allow no actions, only viewing", 0, NULL},
    {0},
};

static const struct table_column columns[] = {
    {"store", NULL, COLUMN_TEXT, NULL},
    {"socket", NULL, COLUMN_TEXT, NULL},
    {"operator", NULL, COLUMN_TEXT, NULL},
    {"viewer", NULL, COLUMN_TEXT, NULL},
};

struct serving {
    const struct cli *cli;
    const struct options *options;
    char *page; /* that leads the browser here; NULL: none */
};

static int on_ready(void *user, const struct dashboard *dashboard,
                    struct err *err)
{
    struct serving *serving = user;
    const char *operator_url = dashboard_login_url(dashboard, true);
    const char *viewer_url = dashboard_login_url(dashboard, false);
    const struct value cells[ARRAY_LEN(columns)] = {
        value_text(dashboard_store(dashboard)),
        value_text_or_null(serving->options->socket_path),
        value_text_or_null(operator_url),
        value_text(viewer_url),
    };
    struct err trouble = {0};

    if (output_object(serving->cli, columns, cells, ARRAY_LEN(columns), err) !=
        0)
        return -1;
    fflush(stdout);
    if (serving->options->open) {
        serving->page = browser_open(
            operator_url != NULL ? operator_url : viewer_url, &trouble);
        if (serving->page == NULL)
            fprintf(stderr, "smtune: %s: open the address yourself\n",
                    trouble.text);
    }
    if (!serving->cli->quiet && serving->cli->err_is_terminal)
        fprintf(stderr,
                "smtune: open the first address in a browser; Ctrl-C stops "
                "the dashboard, not the runs\n");
    return 0;
}

static int read_port(const char *text, int *port, struct err *err)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (end == text || *end != '\0' || number < 0 || number > PORT_MAX)
        return err_set(err, ERR_USAGE,
                       "--port: expected a number up to %d, got '%s'", PORT_MAX,
                       text);
    *port = (int)number;
    return 0;
}

static int check_options(const struct options *options,
                         struct dashboard_options *wanted, struct err *err)
{
    if (options->port != NULL && options->socket_path != NULL)
        return err_set(err, ERR_USAGE,
                       "--port and --socket exclude each other");
    return options->port != NULL ? read_port(options->port, &wanted->port, err)
                                 : 0;
}

/* On the port that was asked for, or on the first that is free. */
static int serve(const struct cli *cli, const struct options *options,
                 const struct dashboard_source *source, struct err *err)
{
    struct serving serving = {.cli = cli, .options = options};
    struct dashboard_options wanted = {.store = cli->store,
                                       .address = "127.0.0.1",
                                       .port = DEFAULT_PORT,
                                       .socket_path = options->socket_path,
                                       .read_only = options->read_only,
                                       .source = source};
    int tries =
        options->port == NULL && options->socket_path == NULL ? PORTS_TRIED : 1;
    int status;

    if (check_options(options, &wanted, err) < 0)
        return -1;
    do {
        *err = (struct err){0};
        status = dashboard_run(&wanted, on_ready, &serving, err);
        wanted.port++;
    } while (status < 0 && err->kind == ERR_BUSY && --tries > 0);
    if (serving.page != NULL)
        unlink(serving.page);
    free(serving.page);
    return status;
}

static int exec(const struct cli *cli, const void *options, char **operands,
                int count, struct err *err)
{
    struct source_user *user = source_user_create(cli->store);
    struct dashboard_source source = {0};
    int status;

    (void)operands;
    (void)count;
    source_set_documents(&source, user);
    status = serve(cli, options, &source, err);
    source_user_destroy(user);
    return status;
}

const struct cmd cmd_dashboard = {
    .name = "dashboard",
    .operands = "",
    .summary = "show all runs live in a browser",
    .details = "Serves a page to browsers on this machine and prints two "
               "addresses. The address of the operator allows actions: "
               "stop, pause, resume, retry, enqueue, note and tag. The "
               "address of the viewer is read-only. Both are valid until "
               "the program ends. Keep them secret: anyone who has an "
               "address can use it. The page reads the record and does "
               "not slow down runs. Ctrl-C stops it.\n\n"
               "From another machine, forward the port through ssh under "
               "the same number: ssh -L 8420:127.0.0.1:8420 HOST. With "
               "--socket only the owner of the socket can connect: ssh -L "
               "8420:/path/to/socket HOST.\n\n"
               "Programs can use the API behind the page: "
               "docs/dashboard-api.md.",
    .examples = "smtune dashboard                # on port 8420\n"
                "smtune dashboard --open         # and in the browser\n"
                "smtune dashboard --read-only    # for a shared screen\n",
    .opts = opts,
    .options_size = sizeof(struct options),
    .has_loop = true,
    .exec = exec,
};
