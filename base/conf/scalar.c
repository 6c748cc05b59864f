/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/conf/conf_impl.h"
#include "base/mem.h"

/* Plain scalars by YAML 1.2.2, section 10.3.2: the core schema. */

struct word {
    const char *text;
    enum conf_type type;
    bool boolean;
    double real;
};

static const struct word words[] = {
    {"", CONF_NULL, false, 0},
    {"~", CONF_NULL, false, 0},
    {"null", CONF_NULL, false, 0},
    {"Null", CONF_NULL, false, 0},
    {"NULL", CONF_NULL, false, 0},
    {"true", CONF_BOOL, true, 0},
    {"True", CONF_BOOL, true, 0},
    {"TRUE", CONF_BOOL, true, 0},
    {"false", CONF_BOOL, false, 0},
    {"False", CONF_BOOL, false, 0},
    {"FALSE", CONF_BOOL, false, 0},
    {".inf", CONF_REAL, false, INFINITY},
    {".Inf", CONF_REAL, false, INFINITY},
    {".INF", CONF_REAL, false, INFINITY},
    {"+.inf", CONF_REAL, false, INFINITY},
    {"+.Inf", CONF_REAL, false, INFINITY},
    {"+.INF", CONF_REAL, false, INFINITY},
    {"-.inf", CONF_REAL, false, -INFINITY},
    {"-.Inf", CONF_REAL, false, -INFINITY},
    {"-.INF", CONF_REAL, false, -INFINITY},
    {".nan", CONF_REAL, false, NAN},
    {".NaN", CONF_REAL, false, NAN},
    {".NAN", CONF_REAL, false, NAN},
};

static const char digits[] = "0123456789";

static bool resolve_word(struct conf_node *node)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(words[i].text, node->text) != 0)
            continue;
        node->type = words[i].type;
        if (node->type == CONF_BOOL)
            node->boolean = words[i].boolean;
        else if (node->type == CONF_REAL)
            node->real = words[i].real;
        return true;
    }
    return false;
}

/* A whole number too large for 64 bits is a real one. */
static void set_int(struct conf_node *node, const char *text, int base)
{
    errno = 0;
    node->integer = strtoll(text, NULL, base);
    node->type = CONF_INT;
    if (errno == ERANGE) {
        node->real = base == 10 ? strtod(text, NULL)
                                : (double)strtoull(text, NULL, base);
        node->type = CONF_REAL;
    }
}

static bool all_of(const char *text, const char *set)
{
    return *text != '\0' && text[strspn(text, set)] == '\0';
}

static bool resolve_int(struct conf_node *node)
{
    const char *text = node->text;
    const char *unsigned_text = text + (*text == '-' || *text == '+');

    if (all_of(unsigned_text, digits))
        set_int(node, text, 10);
    else if (strncmp(text, "0o", 2) == 0 && all_of(text + 2, "01234567"))
        set_int(node, text + 2, 8);
    else if (strncmp(text, "0x", 2) == 0 &&
             all_of(text + 2, "0123456789abcdefABCDEF"))
        set_int(node, text + 2, 16);
    else
        return false;
    return true;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool resolve_real(struct conf_node *node)
{
    const char *p = node->text;
    size_t whole, fraction = 0;

    p += *p == '-' || *p == '+';
    whole = strspn(p, digits);
    p += whole;
    if (*p == '.') {
        fraction = strspn(p + 1, digits);
        p += 1 + fraction;
    }
    if (whole + fraction == 0)
        return false;
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '-' || *p == '+';
        if (!all_of(p, digits))
            return false;
    } else if (*p != '\0') {
        return false;
    }
    node->real = strtod(node->text, NULL);
    node->type = CONF_REAL;
    return true;
}

void conf_resolve_scalar(struct conf_cell *cell, const char *text,
                         size_t length, bool is_text)
{
    struct conf_node *node = &cell->node;

    cell->text = mem_copy_bytes(text, length);
    node->text = cell->text;
    node->type = CONF_TEXT;
    if (!is_text && !resolve_word(node) && !resolve_int(node))
        resolve_real(node);
}
