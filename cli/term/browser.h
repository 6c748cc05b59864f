/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_BROWSER_H
#define SMTUNE_CLI_TERM_BROWSER_H

#include "base/err.h"

/*
 * Shows the user's browser an address that others must not see. What a program
 * is started with is there for all to read, so the address goes into a file of
 * the user's own that leads to it: its path, for the caller to remove once the
 * browser has had its time, and to free. NULL with err when there is none to be
 * opened.
 */
char *browser_open(const char *url, struct err *err);

#endif
