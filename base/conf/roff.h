/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_CONF_ROFF_H
#define SMTUNE_BASE_CONF_ROFF_H

#include <stddef.h>

struct buf;

/* Appends text[0..length) so that a manual shows it as it is; no line of it
 * begins a request. */
void roff_add(const char *text, size_t length, struct buf *out);

#endif
