/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_GUARDED_FILE_H
#define SMTUNE_CLI_TERM_GUARDED_FILE_H

#include <stdio.h>

/*
 * A file over a descriptor. Where that is a terminal, no text can play with it:
 * what is written passes escape_show(), and at the end the terminal has its own
 * colours back. NULL: no memory.
 */
FILE *guarded_file_open(int fd);

/* What stdout and stderr were before they were guarded; NULL: they are not. */
struct guarded_output {
    FILE *out, *err;
};

/* Guards stdout and stderr where these are terminals, so that every command is
 * guarded, whatever it prints and from wherever that is. */
void guarded_output_begin(struct guarded_output *output);
void guarded_output_end(struct guarded_output *output);

/* The same descriptor without a guard, for what draws on the terminal or shows
 * bytes as they are; fclose it. NULL: no memory. */
FILE *guarded_file_bypass(int fd);

#endif
