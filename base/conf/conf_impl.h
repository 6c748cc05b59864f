/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_CONF_CONF_IMPL_H
#define SMTUNE_BASE_CONF_CONF_IMPL_H

#include "base/conf/conf.h"

struct buf;

/* What the files of base/conf/ share; nobody else includes it. */

/* A node and what bounds the aliases that lead to it. */
struct conf_cell {
    struct conf_node node;
    char *text;      /* node.text, owned */
    size_t expanded; /* nodes below and itself, aliases followed */
    int height;      /* levels below */
    bool complete;   /* all its items are read */
};

struct conf_doc {
    char *source;
    size_t length;
    struct conf_node *root;
    struct conf_cell **cells; /* every node, [count] */
    size_t count, capacity;
};

/* A new node that belongs to doc. */
struct conf_cell *conf_add_cell(struct conf_doc *doc, enum conf_type type,
                                struct diag_place place);

/* Gives a cell the type and value of a scalar by the core schema, or that of
 * text where is_text. Keeps a copy of text. */
void conf_resolve_scalar(struct conf_cell *cell, const char *text,
                         size_t length, bool is_text);

/* Whether libyaml may see these bytes: not too many, UTF-8, no control
 * characters, no line ends but LF and CR LF. 0, or -1 with a message. */
int conf_check_text(const char *text, size_t length, struct diags *diags);

/* Moves to a text, put into `hidden`, in which the surrogate pairs of JSON's
 * escapes are hidden from libyaml; false, and the same text: it has none. */
bool conf_hide_pairs(const char **text, size_t *length, struct buf *hidden);

/* Appends a scalar of such a text: the characters in place of the pairs, or
 * (not is_escaped: it is not in double quotes) the pairs as they were. */
void conf_show_pairs(const char *text, size_t length, bool is_escaped,
                     struct buf *out);

/* Where in a text the character `column` of line `line` (both 1-based) stands,
 * or the text's end. */
const char *conf_find_place(const char *text, int line, int column);

/* Adds libyaml's complaint in words that help; `begun` is the line where what
 * it was reading starts, or 0. Always -1. */
int conf_add_problem(const struct conf_doc *doc, const char *problem, int begun,
                     struct diag_place place, struct diags *diags);

#endif
