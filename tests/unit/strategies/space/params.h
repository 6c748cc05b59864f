/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_STRATEGIES_SPACE_PARAMS_H
#define SMTUNE_TESTS_UNIT_STRATEGIES_SPACE_PARAMS_H

#include "strategies/space/space.h"

/* Parameters for tables: minimum, maximum, step, scale. */

static const struct value words[] = {{.type = VALUE_TEXT, .text = "sgd"},
                                     {.type = VALUE_TEXT, .text = "adam"},
                                     {.type = VALUE_INT, .integer = 3},
                                     {.type = VALUE_REAL, .real = 0.5},
                                     {.type = VALUE_BOOL, .boolean = true}};

#define FLOAT(lo, hi, sc)                                                      \
    {                                                                          \
        .name = "x", .kind = PARAM_FLOAT, .scale = SCALE_##sc, .min = (lo),    \
        .max = (hi)                                                            \
    }
#define STEPPED(lo, hi, st, sc)                                                \
    {                                                                          \
        .name = "x", .kind = PARAM_FLOAT, .scale = SCALE_##sc, .min = (lo),    \
        .max = (hi), .step = (st)                                              \
    }
#define INT(lo, hi, st, sc)                                                    \
    {                                                                          \
        .name = "x", .kind = PARAM_INT, .scale = SCALE_##sc, .min = (lo),      \
        .max = (hi), .step = (st)                                              \
    }

#endif
