/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/err.h"

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

int err_set_errno(struct err *err, enum err_kind kind, int errno_value,
                  const char *format, ...)
{
    va_list args;
    size_t length;

    if (err == NULL)
        return -1;
    va_start(args, format);
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

int err_exit_status(enum err_kind kind)
{
    static const int status[] = {[ERR_NONE] = 0,
#define X(symbol, exit_status) [symbol] = exit_status,
                                 ERR_KINDS(X)
#undef X
    };

    return status[kind];
}
