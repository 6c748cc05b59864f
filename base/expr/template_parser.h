/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_TEMPLATE_PARSER_H
#define SMTUNE_BASE_EXPR_TEMPLATE_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/expr/template_parts.h"

/* A parse under way. */
struct parser {
    struct template *template;
    struct expr_env *env;
    const struct expr_table *tables;
    size_t table_count;
    const char *text;
    const char *at;
    struct buf literal; /* not yet a part */
    bool in_word;
    bool is_split; /* `text` is one word of a list */
    struct err *err;
};

/* The error's place: line and column of `at`. Always -1. */
int template_place(const struct parser *p, const char *at);
/* What was read so far is a part. */
void template_end_literal(struct parser *p);
/* Takes the ${{ }} at p->at. In a script p->in_word tells whether a word has
 * begun. 0, or -1 with an error. */
int template_expression(struct parser *p);
/* A word of TEMPLATE_WORDS begins, unless one has; nothing in other modes. */
void template_begin_word(struct parser *p);
/* The word that has begun ends, if one has. */
void template_end_word(struct parser *p);
/* Registers a run of parts as a word. */
void template_add_word(struct template *template, const struct word *word);
/* The whole of p->text as TEMPLATE_SHELL. 0, or -1 with an error. In
 * base/expr/template_script.c. */
int template_parse_script(struct parser *p);

#endif
