/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/warn.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"

void engine_warn_once(struct engine *engine, bool *was_told, const char *format,
                      ...)
{
    va_list list;
    char *text;

    if (*was_told)
        return;
    *was_told = true;
    va_start(list, format);
    text = mem_vprintf(format, list);
    va_end(list);
    engine->events->warn(engine->events->user, text);
    free(text);
}
