/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_TOOLS_H
#define SMTUNE_TRAINING_TOOLS_H

#include <stddef.h>

#include "base/err.h"
#include "training/util/flags.h"

struct buf;

/* What smtrain does besides training models. A new one is one file with one
 * const struct tool, and one line in the table of tools.c. */
struct tool {
    const char *name;
    const char *summary; /* one line, lower case, no full stop */
    const char *about;   /* a paragraph for --help */
    const char *examples;
    const struct flag *flags;
    size_t options_size; /* of the struct that they fill */
    /* Appends what is to be printed. */
    int (*run)(const void *options, struct buf *out, struct err *err);
};

extern const struct tool *const tools[]; /* NULL-ended */

extern const struct tool tool_vocabulary, tool_sample, tool_export;

#endif
