/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_COMMAND_WARN_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_COMMAND_WARN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/conf/conf.h"

/* The text of a `command` or `shell`, and the names that its templates may
 * use. */
struct command_text {
    const struct conf_doc *doc;
    const char *path;             /* of the file, absolute; or "" */
    const struct conf_node *node; /* a text or a list of words */
    bool is_shell;
    const char *const *names;
    size_t name_count;
};

/*
 * Warns of what the program gets letter by letter and its writer can hardly
 * have meant so: a name in the templates of others ({{ lr }}, ${lr}, {lr}), and
 * in a `command`, which no shell sees, variables, pipes and redirections. And
 * of a relative path that is not there in the current folder, where commands
 * start, but beside the file.
 */
void command_warn(const struct command_text *command, struct diags *warnings);

#endif
