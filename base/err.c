/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(struct err *err, enum err_kind kind, const char *format,
                 va_list args)
{
    char text[ERR_TEXT_MAX]; /* the arguments may point into *err */

    vsnprintf(text, sizeof(text), format, args);
    memset(err, 0, sizeof(*err));
    err->kind = kind;
    memcpy(err->text, text, sizeof(text));
}

int err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
    va_list args;

    if (err == NULL)
        return -1;
    va_start(args, format);
    fill(err, kind, format, args);
    va_end(args);
    return -1;
}

static bool is_shortage(int errno_value)
{
    static const int shortages[] = {ENOSPC, EDQUOT, EMFILE,
                                    ENFILE, EAGAIN, ENOMEM};

    for (size_t i = 0; i < ARRAY_LEN(shortages); i++) {
        if (shortages[i] == errno_value)
            return true;
    }
    return false;
}

int err_set_errno(struct err *err, enum err_kind kind, int errno_value,
                  const char *format, ...)
{
    va_list args;
    size_t length;

    if (err == NULL)
        return -1;
    va_start(args, format);
    if (kind == ERR_FAILED && is_shortage(errno_value))
        kind = ERR_SHORTAGE;
    fill(err, kind, format, args);
    va_end(args);
    length = strlen(err->text);
    snprintf(err->text + length, sizeof(err->text) - length, ": %s",
             strerror(errno_value));
    return -1;
}

int err_prefix(struct err *err, const char *format, ...)
{
    char context[ERR_TEXT_MAX];
    char text[2 * ERR_TEXT_MAX + 2];
    va_list args;

    if (err == NULL)
        return -1;
    va_start(args, format);
    vsnprintf(context, sizeof(context), format, args);
    va_end(args);
    snprintf(text, sizeof(text), "%s: %s", context, err->text);
    text[sizeof(err->text) - 1] = '\0';
    memcpy(err->text, text, sizeof(err->text));
    return -1;
}

bool err_may_pass(const struct err *err)
{
    return err->kind == ERR_SHORTAGE || err->kind == ERR_BUSY;
}

int err_exit_status(enum err_kind kind)
{
    static const int status[] = {[ERR_NONE] = 0,
#define X(symbol, exit_status) [symbol] = exit_status,
                                 ERR_KINDS(X)
#undef X
    };

    return status[kind];
}
