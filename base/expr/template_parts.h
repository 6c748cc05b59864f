/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_TEMPLATE_PARTS_H
#define SMTUNE_BASE_EXPR_TEMPLATE_PARTS_H

#include <stddef.h>

#include "base/expr/template.h"
#include "base/word_list.h"

/*
 * What base/expr/template_parse.c makes and base/expr/template.c expands: a
 * list of parts, each of which is a literal, an expression or a list of
 * arguments. Words are runs of parts. All splitting and quoting is decided
 * before any value is known.
 */

enum template_list {
    LIST_NONE,
    LIST_ARGS,      /* --NAME VALUE */
    LIST_FLAGS,     /* the same, but --NAME alone for true and none for false */
    LIST_OVERRIDES, /* NAME=VALUE */
};

enum template_files {
    FILES_NONE,
    FILES_LINES, /* files(): a path a line */
    FILES_NULS   /* files0(): a NUL behind each */
};

/* One of the first three is set. */
struct part {
    char *literal;
    struct expr *expr;
    enum template_list list;
    enum template_files files; /* the expression is what the file lists */
};

/* What remains of a script's word whose value is null. */
enum word_rest {
    REST_NOTHING,
    REST_NAME, /* NAME of NAME=VALUE, behind export */
    REST_UNSET /* unset -v NAME, where NAME=VALUE is all of a command */
};

#define NO_OPTION SIZE_MAX

/* TEMPLATE_WORDS: all words. TEMPLATE_SHELL: those that can be left out. */
struct word {
    size_t first, count; /* parts */
    size_t option;       /* part with the option before it, or NO_OPTION;
                            TEMPLATE_SHELL alone */
    enum word_rest rest;
};

/* A column that lists of arguments have. */
struct template_argument {
    char *name;
    size_t column;
};

struct template
{
    enum template_mode mode;
    char *source;
    struct part *parts;
    size_t part_count, part_capacity, expr_count;
    struct word *words;
    size_t word_count, word_capacity;
    struct template_argument *arguments; /* NULL: no part is a list */
    size_t argument_count;
    size_t directory; /* column with the folder of lists, if a part has one */
};

/* Whether a word, which has no template in it, reads as an option that takes a
 * value in the next word: --name, -n; not --name=1, -1, - and --. */
bool template_is_option(const char *word);

/* Adds the path of the file for that value of a part with `files`. */
void template_print_files(const struct template *template,
                          const struct part *part, const struct value *value,
                          const struct value *values, struct buf *out);

/* Adds the words that a list of arguments comes to. */
void template_list_arguments(const struct template *template,
                             enum template_list list,
                             const struct value *values,
                             struct word_list *words);

#endif
