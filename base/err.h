/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_ERR_H
#define SMTUNE_BASE_ERR_H

#include <stdbool.h>

#include "base/compiler.h"

/*
 * The one way in which a function says what went wrong.
 *
 * A function that can fail takes a `struct err *` as its last parameter and
 * returns -1 or NULL. The caller owns the struct, usually on its stack; NULL
 * is allowed and means "I do not care why". A caller may put its own context
 * in front with err_prefix(); nobody but cli/ prints an error or exits.
 */

/* X(symbol, exit status of the program) */
#define ERR_KINDS(X)                                                           \
    X(ERR_FAILED, 1)    /* the system refused, or the work itself failed */    \
    X(ERR_USAGE, 2)     /* the command line is wrong */                        \
    X(ERR_FILE, 3)      /* a file the user wrote is wrong */                   \
    X(ERR_NOT_FOUND, 4) /* no such run, trial, file */                         \
    X(ERR_BUSY, 5)      /* somebody else holds it */                           \
    X(ERR_SHORTAGE, 1)  /* no disk, memory, process, descriptor left now */    \
    X(ERR_UNMET, 6)     /* ended without reaching what was asked */

enum err_kind {
    ERR_NONE,
#define X(symbol, status) symbol,
    ERR_KINDS(X)
#undef X
};

enum { ERR_TEXT_MAX = 1024, ERR_PATH_MAX = 512 };

struct err {
    enum err_kind kind;
    char path[ERR_PATH_MAX]; /* the file at fault, or "" */
    int line;                /* 1-based, 0 when no line is known */
    int column;              /* 1-based, 0 when no column is known */
    char text[ERR_TEXT_MAX]; /* one line, lower case, no final newline */
};

/* Fills *err (which may be NULL) and forgets what it held. Always -1. */
int err_set(struct err *err, enum err_kind kind, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* As err_set, with ": " and strerror(errno_value) behind the text. What says
 * that the system has none left (ENOSPC, EMFILE, ENOMEM ...) makes an
 * ERR_FAILED an ERR_SHORTAGE. */
int err_set_errno(struct err *err, enum err_kind kind, int errno_value,
                  const char *format, ...) PRINTF_LIKE(4, 5);

/* Puts "context: " in front of the text. Always -1. */
int err_prefix(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Whether the same may succeed later with nothing done about it. */
bool err_may_pass(const struct err *err);

/* The program's exit status for a kind; 0 for ERR_NONE. */
int err_exit_status(enum err_kind kind);

#endif
