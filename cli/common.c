/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/common.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/store_place.h"
#include "cli/term/term.h"
#include "orchestrator/spec/experiment/config_files.h"

enum { FORMATS = 4 };

static const char *const formats[] = {
    [OUTPUT_TABLE] = "table", [OUTPUT_JSON] = "json", [OUTPUT_JSONL] = "jsonl",
    [OUTPUT_CSV] = "csv",     [FORMATS] = NULL,
};
static const char *const colours[] = {"auto", "always", "never", NULL};

#define FIELD(name) offsetof(struct common_options, name)

const struct opt common_opts[] = {
    {.name = "output",
     .letter = 'o',
     .type = OPT_CHOICE,
     .offset = FIELD(output),
     .argument = "FORMAT",
     .doc = "table, json, jsonl or csv (SMTUNE_OUTPUT)",
     .choices = formats},
    {.name = "store",
     .type = OPT_TEXT,
     .offset = FIELD(store),
     .argument = "DIR",
     .doc = "folder of the store (SMTUNE_STORE; nearest .smtune)"},
    {.name = "color",
     .type = OPT_CHOICE,
     .offset = FIELD(colour),
     .argument = "WHEN",
     .doc = "auto, always or never",
     .choices = colours},
    {.name = "quiet",
     .letter = 'q',
     .type = OPT_FLAG,
     .offset = FIELD(quiet),
     .doc = "no progress and no hints, only results and errors"},
    {.name = "help",
     .letter = 'h',
     .type = OPT_FLAG,
     .offset = FIELD(help),
     .doc = "show this help"},
    {.name = "version",
     .type = OPT_FLAG,
     .offset = FIELD(version),
     .doc = "print the version"},
    {.name = NULL},
};

static const char *environment(const char *name, const char *fallback)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : fallback;
}

static int resolve_log(struct cli *cli, struct err *err)
{
    const char *words = environment("SMTUNE_LOG", "off");

    return log_setup_parse(words, &cli->log, err);
}

static char *find_store(const struct config_files *config)
{
    char *configured = config != NULL ? config_store(config) : NULL;
    char *found = store_place_find(configured);

    free(configured);
    return found;
}

int common_resolve(const struct common_options *options, struct cli *cli,
                   struct err *err)
{
    const char *format = options->output;
    const char *nearest;

    memset(cli, 0, sizeof(*cli));
    cli->config = config_load(&cli->config_error);
    cli->default_store = find_store(cli->config);
    cli->store = options->store != NULL ? options->store : cli->default_store;
    cli->out_is_terminal = isatty(STDOUT_FILENO) != 0;
    cli->err_is_terminal = isatty(STDERR_FILENO) != 0;
    cli->colour_out = term_has_colour(options->colour, cli->out_is_terminal);
    cli->colour_err = term_has_colour(options->colour, cli->err_is_terminal);
    cli->quiet = options->quiet;
    cli->output = OUTPUT_TABLE;
    if (format == NULL)
        format = environment("SMTUNE_OUTPUT", "table");
    for (int i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i], format) == 0) {
            cli->output = (enum output_format)i;
            return resolve_log(cli, err);
        }
    }
    nearest = text_nearest(format, formats, FORMATS);
    return err_set(err, ERR_USAGE,
                   "SMTUNE_OUTPUT: unknown value '%s': expected table, json, "
                   "jsonl or csv%s%s%s",
                   format, nearest != NULL ? " (did you mean '" : "",
                   nearest != NULL ? nearest : "",
                   nearest != NULL ? "'?)" : "");
}

void common_clear(struct cli *cli)
{
    free(cli->default_store);
    config_destroy(cli->config);
    *cli = (struct cli){0};
}
