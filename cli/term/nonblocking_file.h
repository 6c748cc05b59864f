/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_NONBLOCKING_FILE_H
#define SMTUNE_CLI_TERM_NONBLOCKING_FILE_H

#include <stdio.h>

/*
 * A file over the terminal or pipe behind a descriptor, of which no write ever
 * waits or fails: what is not taken at once follows later, and is forgotten
 * where that goes on for long, or nobody is there any more. Whoever shares the
 * terminal notices nothing. NULL where there is no such file; fclose it.
 */
FILE *nonblocking_file_open(int fd);

#endif
