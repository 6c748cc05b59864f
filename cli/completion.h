/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_COMPLETION_H
#define SMTUNE_CLI_COMPLETION_H

struct buf;

/*
 * Scripts for the shells, made from the commands' tables. Names of runs are
 * asked for when they are needed, with `smtune completion --runs`.
 */

void completion_bash(struct buf *out);
void completion_zsh(struct buf *out);
void completion_fish(struct buf *out);

#endif
