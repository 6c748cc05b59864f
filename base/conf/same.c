/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes by what they hold. Quotes, and the way a number is written, are the
 * file's; 1 and 1.0 stay apart, because a command gets them as they are. */
#include <math.h>
#include <string.h>

#include "base/conf/conf.h"

static bool is_same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a >= b && a <= b);
}

static bool is_same_text(const struct conf_node *a, const struct conf_node *b)
{
    return a->text != NULL && b->text != NULL && strcmp(a->text, b->text) == 0;
}

static bool are_same_items(const struct conf_node *a, const struct conf_node *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (a->type == CONF_MAP && !is_same_text(a->keys[i], b->keys[i]))
            return false;
        if (!conf_is_same(a->items[i], b->items[i]))
            return false;
    }
    return true;
}

bool conf_is_same(const struct conf_node *a, const struct conf_node *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case CONF_BOOL:
        return a->boolean == b->boolean;
    case CONF_INT:
        return a->integer == b->integer;
    case CONF_REAL:
        return is_same_number(a->real, b->real);
    case CONF_TEXT:
        return is_same_text(a, b);
    case CONF_LIST:
    case CONF_MAP:
        return are_same_items(a, b);
    case CONF_NULL:
        break;
    }
    return true;
}
