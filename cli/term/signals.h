/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_SIGNALS_H
#define SMTUNE_CLI_TERM_SIGNALS_H

/* SIGINT and SIGTERM through a descriptor, so that they end no more than a
 * command's showing. */

/* From now on they come this way alone. The caller closes the descriptor, -1
 * where there is none to be had. */
int signals_open(void);
/* The number of one that has come; 0: none. */
int signals_read(int fd);

#endif
