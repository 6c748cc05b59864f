/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The name of a job in Slurm: a label for people, and the name that it is found
 * by, which has no '.' in it. */
#include <string.h>

#include "base/mem.h"
#include "executors/slurm/talk/transport.h"

char *slurm_full_name(const struct slurm_submission *submission)
{
    if (submission->label == NULL || submission->label[0] == '\0')
        return mem_copy_string(submission->name);
    return mem_printf("%s.%s", submission->label, submission->name);
}

const char *slurm_own_name(const char *full_name)
{
    const char *point = strrchr(full_name, '.');

    return point != NULL ? point + 1 : full_name;
}
