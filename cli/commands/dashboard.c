/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune dashboard`: options, addresses, and the first free port. A port that
 * the user names is the only one tried, because a bookmark or an ssh tunnel
 * depends on it. Without one the next PORTS_TRIED ports are tried, so that two
 * users of a machine do not collide. A proxy asks one port, so that behind one
 * no other is tried.
 *
 * --login and --withdraw ask nothing of the dashboard that runs: they read and
 * write what it leaves in a folder of the user's (access/presence.h).
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "cli/cmd.h"
#include "cli/serve/dashboard_source.h"
#include "cli/serve/tunnel.h"
#include "cli/term/browser.h"
#include "cli/term/output.h"
#include "dashboard/access/presence_address.h"
#include "dashboard/access/viewer_link.h"
#include "dashboard/dashboard.h"
#include "store/store.h"

enum { DEFAULT_PORT = 8420, PORTS_TRIED = 20, PORT_MAX = 65535 };

struct options {
    const char *port; /* NULL: not given */
    const char *socket_path, *base_url, *listen;
    bool open, read_only, login, withdraw;
};

static const struct opt opts[] = {
    {"port", 'p', OPT_TEXT, offsetof(struct options, port), "N",
     "listen on this port, 0: any free port (default: 8420, or "
     "the next free one)",
     0, NULL},
    {"socket", 0, OPT_TEXT, offsetof(struct options, socket_path), "PATH",
     "listen on a Unix socket at this path instead", 0, NULL},
    {"base-url", 0, OPT_TEXT, offsetof(struct options, base_url), "URL",
     "where a reverse proxy shows it to browsers", 0, NULL},
    {"listen", 0, OPT_TEXT, offsetof(struct options, listen), "ADDRESS",
     "listen on this IP address, for a proxy on another machine (default: "
     "127.0.0.1)",
     0, NULL},
    {"open", 0, OPT_FLAG, offsetof(struct options, open), NULL,
     "open it in the browser", 0, NULL},
    {"read-only", 0, OPT_FLAG, offsetof(struct options, read_only), NULL,
     "allow no actions, only viewing", 0, NULL},
    {"login", 0, OPT_FLAG, offsetof(struct options, login), NULL,
     "print new addresses of the running dashboard", 0, NULL},
    {"withdraw", 0, OPT_FLAG, offsetof(struct options, withdraw), NULL,
     "make the address for viewers invalid, and print a new one", 0, NULL},
    {0},
};

static const struct table_column columns[] = {
    {"store", NULL, COLUMN_TEXT, NULL},  {"socket", NULL, COLUMN_TEXT, NULL},
    {"tunnel", NULL, COLUMN_TEXT, NULL}, {"operator", NULL, COLUMN_TEXT, NULL},
    {"viewer", NULL, COLUMN_TEXT, NULL}, {"tokens", NULL, COLUMN_TEXT, NULL},
};

/* Whether the user names the port or the socket. */
static bool is_named(const struct options *options)
{
    return options->port != NULL || options->socket_path != NULL;
}

struct serving {
    const struct cli *cli;
    const struct options *options;
    char *page; /* that leads the browser here; NULL: none */
};

/* ---- addresses ---- */

/* The command by which another machine reaches it; NULL: none is needed. */
static char *tunnel_to(const struct presence_about *about)
{
    return about->socket != NULL && about->base_url == NULL
               ? tunnel_command(PRESENCE_TUNNEL_PORT, about->socket)
               : NULL;
}

static int print_addresses(const struct cli *cli,
                           const struct presence *presence, struct err *err)
{
    const struct presence_about *about = presence_about(presence);
    char *viewer = presence_viewer_address(presence, err);
    char *operator_address = NULL;
    int status = viewer != NULL ? 0 : -1;

    if (status == 0 && !about->is_read_only) {
        operator_address =
            presence_operator_address(presence, clock_monotonic_ms(), err);
        status = operator_address != NULL ? 0 : -1;
    }
    if (status == 0) {
        char *tunnel = tunnel_to(about);
        const struct value cells[ARRAY_LEN(columns)] = {
            value_text(about->store),   value_text_or_null(about->socket),
            value_text_or_null(tunnel), value_text_or_null(operator_address),
            value_text(viewer),         value_text(presence_folder(presence)),
        };

        status = output_object(cli, columns, cells, ARRAY_LEN(columns), err);
        fflush(stdout);
        free(tunnel);
    }
    free(operator_address);
    free(viewer);
    return status;
}

static bool may_hint(const struct cli *cli)
{
    return !cli->quiet && cli->err_is_terminal;
}

static void hint_at_login(const struct cli *cli,
                          const struct presence *presence)
{
    if (may_hint(cli) && !presence_about(presence)->is_read_only)
        fprintf(stderr,
                "smtune: the operator's address can be used once, within a "
                "minute; 'smtune dashboard --login' prints a new one\n");
}

/* ---- serving ---- */

static char *first_address(const struct presence *presence, struct err *err)
{
    return presence_about(presence)->is_read_only
               ? presence_viewer_address(presence, err)
               : presence_operator_address(presence, clock_monotonic_ms(), err);
}

/* The browser gets an address of its own: the printed one stays good. */
static void open_browser(struct serving *serving,
                         const struct presence *presence)
{
    struct err err = {0};
    char *address = first_address(presence, &err);

    if (address != NULL)
        serving->page = browser_open(address, &err);
    if (serving->page == NULL)
        fprintf(stderr, "smtune: %s: open the address yourself\n", err.text);
    free(address);
}

static int on_ready(void *user, const struct dashboard *dashboard,
                    struct err *err)
{
    struct serving *serving = user;
    const struct presence *presence = dashboard_presence(dashboard);

    if (print_addresses(serving->cli, presence, err) != 0)
        return -1;
    if (serving->options->open)
        open_browser(serving, presence);
    hint_at_login(serving->cli, presence);
    if (may_hint(serving->cli) && serving->options->listen != NULL)
        fprintf(stderr,
                "smtune: other machines can connect to this port, and the "
                "connection from the proxy is not encrypted\n");
    if (may_hint(serving->cli))
        fprintf(stderr, "smtune: Ctrl-C stops the dashboard, not the runs\n");
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
    if (options->socket_path != NULL &&
        (options->port != NULL || options->listen != NULL))
        return err_set(err, ERR_USAGE, "--%s and --socket exclude each other",
                       options->port != NULL ? "port" : "listen");
    if ((options->login || options->withdraw) &&
        (options->open || options->read_only || options->base_url != NULL ||
         options->listen != NULL))
        return err_set(err, ERR_USAGE,
                       "--login and --withdraw start no dashboard: leave out "
                       "--open, --read-only, --base-url and --listen");
    if (options->listen != NULL && options->base_url == NULL)
        return err_set(err, ERR_USAGE,
                       "--listen is for a reverse proxy and needs --base-url: "
                       "without a proxy, forward the port with 'ssh -L'");
    if (options->open && options->socket_path != NULL &&
        options->base_url == NULL)
        return err_set(err, ERR_USAGE,
                       "--open and --socket exclude each other: a browser "
                       "cannot connect to a Unix socket");
    return options->port != NULL ? read_port(options->port, &wanted->port, err)
                                 : 0;
}

/* On the port that was asked for, or on the first that is free. */
static int serve(const struct cli *cli, const struct options *options,
                 struct dashboard_options *wanted, struct err *err)
{
    struct serving serving = {.cli = cli, .options = options};
    int tries =
        is_named(options) || options->base_url != NULL ? 1 : PORTS_TRIED;
    int status;

    do {
        *err = (struct err){0};
        status = dashboard_run(wanted, on_ready, &serving, err);
        wanted->port++;
    } while (status < 0 && err->kind == ERR_BUSY && --tries > 0);
    if (serving.page != NULL)
        unlink(serving.page);
    free(serving.page);
    return status;
}

/* ---- a dashboard that runs ---- */

/* NULL with ERR_NOT_FOUND: none does. */
static struct presence *find_running(const struct options *options,
                                     const struct dashboard_options *wanted,
                                     struct err *err)
{
    char *name = is_named(options)
                     ? presence_name(wanted->port, wanted->socket_path)
                     : NULL;
    struct presence *presence = presence_find(NULL, name, wanted->store, err);

    free(name);
    return presence;
}

static int log_in(const struct cli *cli, const struct options *options,
                  const struct dashboard_options *wanted, struct err *err)
{
    struct presence *presence = find_running(options, wanted, err);
    int status = -1;

    if (presence != NULL)
        status = print_addresses(cli, presence, err);
    if (status == 0)
        hint_at_login(cli, presence);
    presence_destroy(presence);
    return status;
}

/* That of a store of which no dashboard runs here. */
static int withdraw_of_store(const struct cli *cli, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_READ, err);
    struct viewer_link *link =
        store != NULL ? viewer_link_open(cli->store, NULL, err) : NULL;
    int status = link != NULL ? viewer_link_replace(link, err) : -1;

    viewer_link_close(link);
    store_close(store);
    if (status == 0 && !cli->quiet)
        fprintf(stderr,
                "smtune: the address for viewers of '%s' is no longer "
                "valid\n",
                cli->store);
    return status;
}

static int withdraw(const struct cli *cli, const struct options *options,
                    const struct dashboard_options *wanted, struct err *err)
{
    struct presence *presence = find_running(options, wanted, err);
    int status;

    if (presence == NULL)
        return err->kind == ERR_NOT_FOUND && !is_named(options)
                   ? withdraw_of_store(cli, err)
                   : -1;
    status = presence_withdraw(presence, err);
    if (status == 0)
        status = print_addresses(cli, presence, err);
    presence_destroy(presence);
    return status;
}

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    const struct options *options = given;
    struct dashboard_source source = {0};
    struct dashboard_options wanted = {
        .store = cli->store,
        .address = options->listen != NULL ? options->listen : "127.0.0.1",
        .port = DEFAULT_PORT,
        .socket_path = options->socket_path,
        .base_url = options->base_url,
        .read_only = options->read_only,
        .source = &source};
    struct source_user *user;
    int status;

    (void)operands;
    (void)count;
    if (check_options(options, &wanted, err) < 0)
        return -1;
    if (options->withdraw)
        return withdraw(cli, options, &wanted, err);
    if (options->login)
        return log_in(cli, options, &wanted, err);
    user = source_user_create(cli->store);
    source_set_documents(&source, user);
    status = serve(cli, options, &wanted, err);
    source_user_destroy(user);
    return status;
}

const struct cmd cmd_dashboard = {
    .name = "dashboard",
    .operands = "",
    .summary = "show all runs live in a browser",
    .details = "Serves a page to browsers on this machine and prints two "
               "addresses. The address of the operator allows actions: "
               "stop, pause, resume, retry, enqueue, note and tag. It can "
               "be used once, within a minute; --login prints a new one, "
               "for example for a second browser. The address of the "
               "viewer is read-only. It is valid for everyone who has it, "
               "also after a restart, until --withdraw. The page reads "
               "the record and does not slow down runs. Ctrl-C stops "
               "it.\n\n"
               "From another machine, forward the port through ssh under "
               "the same number: ssh -L 8420:127.0.0.1:8420 HOST. With "
               "--socket, other users of the machine cannot connect, and "
               "the command prints the line with 'ssh -L' that forwards "
               "port 8420 of your own machine to the socket.\n\n"
               "Behind a reverse proxy, for example Open OnDemand or "
               "JupyterHub, give the URL of the dashboard there: --base-url. "
               "The proxy may keep or remove the path of that URL "
               "(docs/dashboard.md).\n\n"
               "Programs can use the API behind the page "
               "(docs/dashboard-api.md). They read a token from the files "
               "'operator' and 'viewer' in the folder that the command "
               "prints as 'tokens'. Only you can read these files.",
    .examples = "smtune dashboard                # on port 8420\n"
                "smtune dashboard --open         # and in the browser\n"
                "smtune dashboard --read-only    # for a shared screen\n"
                "smtune dashboard --login        # for another browser\n"
                "smtune dashboard --withdraw     # end viewers' access\n"
                "smtune dashboard --socket ~/.dashboard/socket\n"
                "smtune dashboard --base-url https://host/path\n",
    .opts = opts,
    .options_size = sizeof(struct options),
    .has_loop = true,
    .exec = exec,
};
