/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SERVE_TUNNEL_H
#define SMTUNE_CLI_SERVE_TUNNEL_H

/* The command for another machine that forwards its port to a Unix socket of
 * this one, "ssh -L 8420:/home/you/s you@login1", to be pasted into a shell;
 * the caller's to free. */
char *tunnel_command(int port, const char *socket);

#endif
