/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_TEMPLATE_PARTS_H
#define SMTUNE_BASE_EXPR_TEMPLATE_PARTS_H

#include <stddef.h>

#include "base/expr/template.h"

/*
 * What base/expr/template_parse.c makes and base/expr/template.c expands: a
 * list of parts, literal or expression; in TEMPLATE_WORDS each word is a run of
 * them. All splitting and quoting is decided before any value is known.
 */

/* One of the two is set. */
struct part {
    char *literal;
    struct expr *expr;
};

struct word {
    size_t first, count; /* parts */
};

struct template
{
    enum template_mode mode;
    char *source;
    struct part *parts;
    size_t part_count, part_capacity, expr_count;
    struct word *words;
    size_t word_count, word_capacity;
};

#endif
