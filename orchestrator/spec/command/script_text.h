/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_COMMAND_SCRIPT_TEXT_H
#define SMTUNE_ORCHESTRATOR_SPEC_COMMAND_SCRIPT_TEXT_H

#include <stdbool.h>

struct conf_node;

/*
 * Whether a file that the command (a text, or a list of words) names by its
 * path contains one of the texts, which NULL ends. A command that is NULL names
 * none. A file that is missing in the current folder, cannot be read or has
 * more than 1 MiB contains none.
 */
bool command_script_has(const struct conf_node *command,
                        const char *const *texts);

#endif
