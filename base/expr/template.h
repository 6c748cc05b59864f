/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_TEMPLATE_H
#define SMTUNE_BASE_EXPR_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/expr/expr.h"
#include "base/value.h"
#include "base/word_list.h"

struct buf;

/*
 * Text with ${{ expression }} in it.
 *
 * TEMPLATE_WORDS  a command: split into words first (blanks, 'single' and
 *                 "double" quotes, backslash, as a shell would, with no other
 *                 meaning of any character), expanded after: a value can
 *                 never add a word.
 * TEMPLATE_SHELL  a shell script: each value becomes one single-quoted word. A
 *                 ${{ }} inside quotes, comments, arithmetic or where shells
 *                 read what came before differently is refused.
 * TEMPLATE_TEXT   anything else: the value as it prints.
 *
 * Null is the value of an inactive parameter. A word whose templates are all
 * null is left out where nothing but punctuation would remain of it, or of its
 * VALUE where it is NAME=VALUE. Where the templates are nothing but names, the
 * option before it (template_is_option) is left out with it. Other words print
 * nothing for a null. In a script this holds for arguments and variables of a
 * command; '' is printed where a shell needs a word: for a program, behind a
 * redirection, in [ ], test and case, in a word with quotes.
 *
 * ${{ args }} as a word of its own stands for the words --NAME VALUE of all
 * arguments of the tables that are not null, ${{ args(flags) }} for the same
 * with --NAME alone where the value is true and nothing where it is false, and
 * ${{ overrides }} for NAME=VALUE, quoted for Hydra.
 *
 * ${{ files(EXPRESSION) }} is the path of a file that lists the values of a
 * JSON list, or what else the expression gives, a line each, and
 * ${{ files0(EXPRESSION) }} of one with a NUL behind each. The name of the file
 * depends on the value alone; template_each_files() has what is in it.
 *
 * `$${{` stands for a literal `${{`.
 */
enum template_mode { TEMPLATE_WORDS, TEMPLATE_SHELL, TEMPLATE_TEXT };

struct template;

/*
 * Parses and compiles. On error err->line and err->column are 1-based places
 * in `text` (line 1 is its first). The result is the caller's to destroy.
 */
struct template *template_create(struct expr_env *env, const char *text,
                                 enum template_mode mode,
                                 const struct expr_table *tables,
                                 size_t table_count, struct err *err);
/* As template_create with TEMPLATE_WORDS for words already split (a YAML
 * list): each is one word. err->line is 1, err->column counts words. */
struct template *template_create_words(struct expr_env *env,
                                       const char *const *words, size_t count,
                                       const struct expr_table *tables,
                                       size_t table_count, struct err *err);
void template_destroy(struct template *template);

/* Where the first ${{ }} in a template's text has its expression, *length bytes
 * of it; NULL: there is none (any more). */
const char *template_find_expression(const char *text, size_t *length);

/* As it was written; a list of words with blanks between them. */
const char *template_source(const struct template *template);

/* Whether any of its expressions reads column `index` (of all tables'). */
bool template_uses(const struct template *template, size_t index);

/* Whether ${{ files() }} or ${{ files0() }} is in it. */
bool template_has_files(const struct template *template);

/* A file for ${{ files() }}, or files0() where it has NULs; `text` is the value
 * in full. -1 with an error stops. */
typedef int template_files_fn(void *user, const char *path, const char *text,
                              bool has_nuls, struct err *err);

/* Those of all parts whose value is not null. -1 where one says so, or an
 * expression fails. */
int template_each_files(struct template *template, const struct value *values,
                        template_files_fn *each, void *user, struct err *err);

/* WORDS: a NULL-ended vector, freed with words_free. */
char **template_expand_words(struct template *template,
                             const struct value *values, struct err *err);

/* Whether TEMPLATE_TEXT is null as a whole, as a word is that is left out: 1,
 * 0, or -1 with an error. */
int template_is_null(struct template *template, const struct value *values,
                     struct err *err);

/* SHELL and TEXT: appends the expansion. */
int template_expand(struct template *template, const struct value *values,
                    struct buf *out, struct err *err);

#endif
