/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_UTIL_FLAGS_H
#define SMTUNE_TRAINING_UTIL_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct buf;

/*
 * The flags of a training run as tables: reading, --help, and what a
 * checkpoint remembers of them come from there. `--name VALUE` and
 * `--name=VALUE` are read; the last of several counts.
 */

enum flag_type {
    FLAG_SWITCH, /* bool field */
    FLAG_INT,    /* int64_t field, min .. max */
    FLAG_REAL,   /* double field, min .. max, finite */
    FLAG_TEXT,   /* const char * field, borrowed from argv */
    FLAG_CHOICE  /* int field: an index into `choices` */
};

struct flag {
    const char *name; /* without "--"; NULL ends the table */
    enum flag_type type;
    size_t offset;        /* of the field in the options */
    const char *argument; /* for --help; NULL for a switch */
    const char *initial;  /* the default, as one would type it, or NULL */
    const char *doc;      /* one line, lower case, no full stop */
    double min, max;
    const char *const *choices; /* NULL-ended */
    const char *environment;    /* the variable that has a value where no word
                                   does, or NULL */
    bool kept;      /* part of what is computed: a checkpoint made with another
                       value does not fit */
    bool adaptable; /* of those kept: may change in the course of a run */
};

/* Another default of a flag. */
struct flag_default {
    const char *name; /* NULL ends the table */
    const char *initial;
};

/* A table, the options that it fills, and what their defaults are in place of
 * those of the table, or NULL. */
struct flag_set {
    const struct flag *flags;
    void *options;
    const struct flag_default *defaults;
};

/* Gives every option its default. */
void flags_reset(const struct flag_set *sets, size_t count);
/* Reads argv[0..argc), and the environment for what is not there. ERR_USAGE
 * names what is wrong, and the nearest flag. */
int flags_parse(const struct flag_set *sets, size_t count, int argc,
                char **argv, struct err *err);
/* Another default for a flag of the set, after flags_parse: its value where
 * argv has none. */
int flags_default(const struct flag_set *set, const char *name,
                  const char *value, int argc, char **argv, struct err *err);
/* Appends "name=value\n" for each kept flag. */
void flags_print_kept(const struct flag_set *sets, size_t count,
                      struct buf *out);
/* Likewise, without those that are adaptable. */
void flags_print_fixed(const struct flag_set *sets, size_t count,
                       struct buf *out);
/* Sets the kept flags to what flags_print_kept wrote; lines of other names
 * among them are left out. */
int flags_restore_kept(const struct flag_set *sets, size_t count,
                       const char *lines, struct err *err);
/* Appends two columns: the flags, and what they mean with their default. */
void flags_print_help(const struct flag_set *sets, size_t count,
                      struct buf *out);

#endif
