/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mistakes in the logic of an expression that SQLite would compute.
 *
 * The text is parted into clauses, which lie between the words AND, OR, NOT,
 * those of CASE, commas and parentheses. A clause has at most one comparison,
 * and one that is a text alone is no condition. Both are seen from the tokens:
 * operators that bind less than a comparison all part clauses.
 */
#include "base/expr/logic.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "base/expr/token.h"
#include "base/mem.h"

/* As many as base/expr/sql.c admits, and the outermost. */
enum { DEPTH_MAX = 41, WRITTEN_MAX = 160 };

static const char *const comparisons[] = {
    "<", ">", "<=", ">=", "=", "==", "!=", "<>"};
static const char *const logical_words[] = {"and", "or", "not"};
static const char *const case_words[] = {"case", "when", "then", "else", "end"};

static const struct {
    const char *word, *hint;
} word_hints[] = {
    {"none", "write NULL"},
    {"nil", "write NULL"},
    {"undefined", "write NULL"},
    {"if", "write iif(condition, a, b)"},
    {"elif", "write CASE WHEN ... THEN ... ELSE ... END"},
};

struct clause {
    const char *start;
    struct expr_token operators[3]; /* comparisons */
    int operator_count;
    struct expr_token join; /* || */
    struct expr_token text; /* the first token, where it is a text */
    int token_count;
    bool is_behind_logic; /* AND, OR or NOT is before it */
    bool has_between;     /* whose AND is still to come */
};

struct check {
    const char *text;
    struct clause clauses[DEPTH_MAX];
    int depth;
    struct err *err;
};

const char *expr_word_hint(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(word_hints); i++)
        if (strcasecmp(word_hints[i].word, word) == 0)
            return word_hints[i].hint;
    return NULL;
}

static bool is_operator(const struct expr_token *token, const char *operator)
{
    return token->type == EXPR_OPERATOR && expr_token_is(token, operator);
}

static bool is_comparison(const struct expr_token *token)
{
    return token->type == EXPR_OPERATOR &&
           expr_token_is_among(token, comparisons, ARRAY_LEN(comparisons));
}

/* The text between two places, without blanks around it. */
static char *copy(const char *start, const char *end)
{
    start += strspn(start, " \t\r\n");
    while (end > start && strchr(" \t\r\n", end[-1]) != NULL)
        end--;
    return mem_copy_bytes(start, (size_t)(end - start));
}

static int refuse_chain(const struct check *check, const struct clause *clause,
                        const char *end)
{
    const struct expr_token *first = &clause->operators[0],
                            *second = &clause->operators[1];
    const char *last =
        clause->operator_count > 2 ? clause->operators[2].start : end;
    char *left = copy(clause->start, second->start);
    char *right = copy(first->start + first->length, last);

    if (strlen(left) + strlen(right) > WRITTEN_MAX)
        expr_token_error(check->text, second->start, check->err,
                         "chained comparison (write AND between two "
                         "comparisons)");
    else
        expr_token_error(check->text, second->start, check->err,
                         "chained comparison (write %s AND %s)", left, right);
    free(left);
    free(right);
    return -1;
}

/* `next` is behind the clause: a NOT there is NOT LIKE or the like. */
static int end_clause(const struct check *check, const struct clause *clause,
                      const struct expr_token *next)
{
    bool is_before_logic =
        next->type == EXPR_WORD &&
        expr_token_is_among(next, logical_words, ARRAY_LEN(logical_words));
    bool is_operand = next->type == EXPR_WORD && expr_token_is(next, "not");

    if (clause->operator_count > 1 && clause->join.length > 0)
        return expr_token_error(check->text, clause->join.start, check->err,
                                "'||' joins two texts (write OR)");
    if (clause->operator_count > 1)
        return refuse_chain(check, clause, next->start);
    if (clause->token_count == 1 && clause->text.length > 0 && !is_operand &&
        (clause->is_behind_logic || is_before_logic))
        return expr_token_error(check->text, clause->text.start, check->err,
                                "%.*s is a text, not a condition (write x = "
                                "%.*s, or x IN ('a', 'b'))",
                                (int)clause->text.length, clause->text.start,
                                (int)clause->text.length, clause->text.start);
    return 0;
}

static void begin_clause(struct clause *clause, const struct expr_token *before)
{
    *clause = (struct clause){
        .start = before->start + before->length,
        .is_behind_logic = before->type == EXPR_WORD &&
                           expr_token_is_among(before, logical_words,
                                               ARRAY_LEN(logical_words)),
    };
}

static void take(struct clause *clause, const struct expr_token *token)
{
    if (clause->token_count++ == 0 && token->type == EXPR_TEXT)
        clause->text = *token;
    if (is_operator(token, "||"))
        clause->join = *token;
    if (is_comparison(token) &&
        clause->operator_count < (int)ARRAY_LEN(clause->operators))
        clause->operators[clause->operator_count++] = *token;
    if (token->type == EXPR_WORD && expr_token_is(token, "between"))
        clause->has_between = true;
}

/* Whether the token parts two clauses of the same parentheses. */
static bool parts(const struct expr_token *token)
{
    if (token->type == EXPR_COMMA || token->type == EXPR_END)
        return true;
    return token->type == EXPR_WORD &&
           (expr_token_is_among(token, logical_words,
                                ARRAY_LEN(logical_words)) ||
            expr_token_is_among(token, case_words, ARRAY_LEN(case_words)));
}

static int check_token(struct check *check, const struct expr_token *token)
{
    struct clause *clause = &check->clauses[check->depth];

    if (token->type == EXPR_OPEN) {
        take(clause, token);
        begin_clause(&check->clauses[++check->depth], token);
    } else if (token->type == EXPR_CLOSE) {
        check->depth--;
        return end_clause(check, clause, token);
    } else if (clause->has_between && token->type == EXPR_WORD &&
               expr_token_is(token, "and")) {
        clause->has_between = false;
    } else if (parts(token)) {
        if (end_clause(check, clause, token) < 0)
            return -1;
        begin_clause(clause, token);
    } else {
        take(clause, token);
    }
    return 0;
}

int expr_check_logic(const char *text, struct err *err)
{
    struct check check = {.text = text, .err = err};
    struct expr_token token = {EXPR_END, text, 0};

    begin_clause(&check.clauses[0], &token);
    do {
        if (expr_token_next(text, token.start + token.length, &token, err) <
                0 ||
            check_token(&check, &token) < 0)
            return -1;
    } while (token.type != EXPR_END);
    return 0;
}

/* ---- numbers beside names ---- */

static bool is_name(const struct expr_token *token, const char *name)
{
    size_t quotes = token->type == EXPR_NAME;

    return (token->type == EXPR_WORD || token->type == EXPR_NAME) &&
           token->length == strlen(name) + 2 * quotes &&
           strncmp(token->start + quotes, name, strlen(name)) == 0;
}

bool expr_compares_with_number(const char *text, const char *name,
                               struct expr_span *found)
{
    struct expr_token last[3] = {
        {EXPR_END, text, 0}, {EXPR_END, text, 0}, {EXPR_END, text, 0}};

    while (expr_token_next(text, last[2].start + last[2].length, &last[2],
                           NULL) == 0 &&
           last[2].type != EXPR_END) {
        bool is_before = is_name(&last[0], name) && last[2].type == EXPR_NUMBER;
        bool is_behind = last[0].type == EXPR_NUMBER && is_name(&last[2], name);

        if ((is_before || is_behind) && is_comparison(&last[1])) {
            found->offset = (size_t)(last[0].start - text);
            found->length =
                (size_t)(last[2].start + last[2].length - last[0].start);
            return true;
        }
        last[0] = last[1];
        last[1] = last[2];
    }
    return false;
}
