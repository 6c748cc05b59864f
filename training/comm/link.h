/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_COMM_LINK_H
#define SMTUNE_TRAINING_COMM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * TCP connections between ranks. All sockets are nonblocking, closed on exec,
 * and send at once (TCP_NODELAY). A deadline is a time of clock_monotonic_ms.
 */

enum { LINK_ADDRESS_MAX = 64 }; /* in numbers: "10.0.0.7", "fe80::1%eth0" */

/* Listens on a port (0: any) of all of this host's addresses, or of the
 * loopback's alone where `address` is there. The socket; -1 with an error. */
int link_listen(const char *address, int port, struct err *err);

/* The port of a socket of ours. */
int link_port(int fd);
/* This end's address. */
void link_own_address(int fd, char address[LINK_ADDRESS_MAX]);
/* Whether nobody but this very host can mean it. */
bool link_is_loopback(const char *address);

/* Connects once, to a name or an address. The socket; -1 with an error:
 * ERR_BUSY where nobody listens there yet, or the name is not known yet. */
int link_connect(const char *address, int port, int64_t deadline_ms,
                 struct err *err);
/* Begins to connect, to an address in numbers: writable once it is done. The
 * socket, or -1. */
int link_begin(const char *address, int port);
/* The next who connected, or -1: nobody now. */
int link_accept(int listener);

/* All of it by the deadline. -1 with an error; ERR_BUSY: the deadline. */
int link_send(int fd, const void *bytes, size_t length, int64_t deadline_ms,
              struct err *err);
int link_receive(int fd, void *bytes, size_t length, int64_t deadline_ms,
                 struct err *err);

/* What there is now, up to length: the number of bytes, 0: none yet; -1: the
 * other end is closed. */
ptrdiff_t link_read_some(int fd, void *bytes, size_t length);
/* As much as goes now; -1: the other end is closed. */
ptrdiff_t link_write_some(int fd, const void *bytes, size_t length);

#endif
