/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_COMMAND_WARN_H
#define SMTUNE_ORCHESTRATOR_SPEC_COMMAND_WARN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/conf/conf.h"

/* What a trial or a step runs, and the names that its templates may use. */
struct command_text {
    const struct conf_doc *doc;
    const char *path;                    /* of the file, absolute; or "" */
    const struct conf_node *node;        /* a text or a list of words */
    const struct conf_node *environment; /* `env`, or NULL */
    const struct conf_node *workdir;     /* a text, or NULL */
    const struct conf_node *channels;    /* a map of paths, or NULL */
    const struct conf_node *files;       /* a list of maps, or NULL */
    bool is_shell;
    const char *const *names;
    size_t name_count;
};

/*
 * Warns of text that the program receives literally and that was hardly meant
 * to: a name in the templates of other tools ({{ lr }}, ${lr}, {lr}); in a
 * `command`, which no shell runs, in `env` and in the paths of `workdir`,
 * `channels` and `files`: variables, $( ), backquotes and ~/. A script in a
 * list of words (sh -c SCRIPT) has a shell. Warns also of a line #! behind
 * empty ones, and of a relative path that is missing in the current folder,
 * where commands start, but exists beside the file.
 */
void command_warn(const struct command_text *command, struct diags *warnings);

#endif
