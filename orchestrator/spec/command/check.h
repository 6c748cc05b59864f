/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_COMMAND_CHECK_H
#define SMTUNE_ORCHESTRATOR_SPEC_COMMAND_CHECK_H

#include "base/conf/conf.h"

/*
 * Refuses a `command` that needs a shell: one with operators of a shell as
 * words of their own or at the edge of a word, outside of quotes, one with
 * several lines that each begin a command, and one whose program is NAME=VALUE
 * or begins with ~/. Of a list of words only the program is looked at, because
 * its words are final. 0, or -1 with messages in diags.
 */
int command_check(const struct conf_doc *doc, const struct conf_node *command,
                  struct diags *diags);

#endif
