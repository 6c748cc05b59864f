/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/talk/tasks.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>

int slurm_tasks_take(const char **text, struct slurm_tasks *tasks)
{
    char *end;

    if (!isdigit((unsigned char)**text))
        return 0;
    tasks->first = tasks->last = strtol(*text, &end, 10);
    tasks->step = 1;
    if (*end == '-')
        tasks->last = strtol(end + 1, &end, 10);
    if (*end == ':')
        tasks->step = strtol(end + 1, &end, 10);
    if (tasks->last < tasks->first || tasks->last > INT32_MAX ||
        tasks->step < 1 || tasks->step > INT32_MAX)
        return -1;
    *text = *end == ',' ? end + 1 : end;
    return 1;
}
