/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_OPTS_H
#define SMTUNE_CLI_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Options as tables: parsing, --help, the manual page and the shells'
 * completions all come from them. GNU style: --name VALUE, --name=VALUE,
 * -n VALUE, -nVALUE, bundled flags, `--` ends options, options and operands
 * mix, a unique prefix of a long option is not accepted (a typo is told, with
 * the nearest name).
 */

enum opt_type {
    OPT_FLAG,     /* bool field */
    OPT_TEXT,     /* const char * field, borrowed from argv */
    OPT_INT,      /* int64_t field, `min` at least */
    OPT_DURATION, /* struct opt_duration field, `min` ms at least */
    OPT_TEXTS,    /* struct opt_texts field: may be given many times */
    OPT_CHOICE    /* const char * field, one of `choices` */
};

struct opt_duration {
    bool is_given;
    int64_t ms;
};

struct opt_texts {
    const char **items; /* opts_clear frees it; the items are argv's */
    size_t count;
};

struct opt {
    const char *name; /* without "--"; NULL ends the table */
    char letter;      /* 0: none */
    enum opt_type type;
    size_t offset;        /* of the field in the command's options struct */
    const char *argument; /* "N", "FILE": shown in help; NULL for flags */
    const char *doc;      /* one line, lower case, no full stop; NULL: the
                             option is for programs, and is not listed */
    int64_t min;
    const char *const *choices; /* NULL-ended */
};

/* Parses argv[0..argc) into *options (zeroed by the caller) by up to two
 * tables (`common` may be NULL, with its own struct); operands are moved to
 * the front of argv. The number of operands, or -1 with ERR_USAGE. */
int opts_parse(const struct opt *table, void *options, const struct opt *common,
               void *common_options, int argc, char **argv, struct err *err);
/* Parses the options before the first operand, of which it returns the index
 * (argc: there is none), or -1 with ERR_USAGE. */
int opts_parse_leading(const struct opt *table, void *options, int argc,
                       char **argv, struct err *err);
/* Frees what OPT_TEXTS fields hold. */
void opts_clear(const struct opt *table, void *options);

#endif
