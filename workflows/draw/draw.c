/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formats of drawings. A new one is one line of DRAW_FORMATS and a file
 * with its function. */
#include "workflows/draw/draw.h"

#include <string.h>

#include "workflows/draw/draw_impl.h"

const char *const draw_format_names[] = {
#define X(name) #name,
    DRAW_FORMATS(X)
#undef X
        NULL};

draw_function *draw_find(const char *name)
{
    static draw_function *const functions[] = {
#define X(name) draw_##name,
        DRAW_FORMATS(X)
#undef X
    };

    for (size_t i = 0; draw_format_names[i] != NULL; i++)
        if (strcmp(draw_format_names[i], name) == 0)
            return functions[i];
    return NULL;
}
