/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expr/function.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "base/text.h"

enum { ANY = INT_MAX };

/* No aggregates: max(x) of one argument is one. flag() is of expr.c,
 * basename(), dirname(), field() and strip_extension() of text_functions.c. */
static const struct expr_function functions[] = {
    {"abs", 1, 1},     {"acos", 1, 1},      {"acosh", 1, 1},
    {"asin", 1, 1},    {"asinh", 1, 1},     {"atan", 1, 1},
    {"atan2", 2, 2},   {"atanh", 1, 1},     {"basename", 1, 1},
    {"ceil", 1, 1},    {"ceiling", 1, 1},   {"coalesce", 2, ANY},
    {"cos", 1, 1},     {"cosh", 1, 1},      {"degrees", 1, 1},
    {"dirname", 1, 1}, {"exp", 1, 1},       {"field", 2, 2},
    {"flag", 2, 2},    {"floor", 1, 1},     {"format", 1, ANY},
    {"glob", 2, 2},    {"hex", 1, 1},       {"ifnull", 2, 2},
    {"iif", 3, 3},     {"instr", 2, 2},     {"length", 1, 1},
    {"like", 2, 3},    {"ln", 1, 1},        {"log", 1, 2},
    {"log10", 1, 1},   {"log2", 1, 1},      {"lower", 1, 1},
    {"ltrim", 1, 2},   {"max", 2, ANY},     {"min", 2, ANY},
    {"mod", 2, 2},     {"nullif", 2, 2},    {"pi", 0, 0},
    {"pow", 2, 2},     {"power", 2, 2},     {"printf", 1, ANY},
    {"radians", 1, 1}, {"replace", 3, 3},   {"round", 1, 2},
    {"rtrim", 1, 2},   {"sign", 1, 1},      {"sin", 1, 1},
    {"sinh", 1, 1},    {"sqrt", 1, 1},      {"strip_extension", 1, 1},
    {"substr", 2, 3},  {"substring", 2, 3}, {"tan", 1, 1},
    {"tanh", 1, 1},    {"trim", 1, 2},      {"trunc", 1, 1},
    {"typeof", 1, 1},  {"upper", 1, 1},
};

const struct expr_function *expr_function_find(const char *name, size_t length)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (strlen(functions[i].name) == length &&
            strncasecmp(name, functions[i].name, length) == 0)
            return &functions[i];
    return NULL;
}

const char *expr_function_nearest(const char *name)
{
    const char *names[ARRAY_LEN(functions)];

    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        names[i] = functions[i].name;
    return text_nearest(name, names, ARRAY_LEN(names));
}

int expr_function_check(const struct expr_function *function, int count,
                        char *message, size_t size)
{
    int min = function->min_args, max = function->max_args;
    const char *bound = min == max    ? ""
                        : count < min ? "at least "
                                      : "at most ";
    int wanted = count < min ? min : max;

    if (count >= min && count <= max)
        return 0;
    snprintf(message, size, "%s() takes %s%d argument%s, not %d",
             function->name, bound, wanted, wanted == 1 ? "" : "s", count);
    return -1;
}
