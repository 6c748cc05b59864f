/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A template file may be missing, or wrong in a way that only shows when it is
 * filled in. So its files are made as for a trial, with the setting in the
 * middle of the space, and nothing is written.
 */
#include "orchestrator/search/files_check.h"

#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/job/trial_files.h"
#include "orchestrator/wrap/command_line.h"
#include "strategies/space/space.h"

/* As for the first trial, whose folders have no names yet. The caller's. */
static struct value *make_values(const struct experiment *experiment)
{
    size_t count = space_count(experiment->space);
    struct value *point = mem_array(count, sizeof(*point));
    double *unit = mem_array(count, sizeof(*unit));
    const struct command_line line = {
        .experiment = experiment,
        .run = experiment->name,
        .trial = 1,
        .point = point,
        .directory = experiment->folder,
        .checkpoint_directory = experiment->folder,
        .resource = experiment->schedule.options.max,
    };
    struct value *values;

    for (size_t i = 0; i < count; i++)
        unit[i] = 0.5;
    space_decode(experiment->space, unit, point);
    values = command_line_values(&line);
    free(point);
    free(unit);
    return values;
}

void files_check(const struct experiment *experiment, struct diags *diags)
{
    const struct job_spec *task = &experiment->task;
    struct value *values;
    struct err err;

    if (task->file_count == 0)
        return;
    values = make_values(experiment);
    for (size_t i = 0; i < task->file_count; i++) {
        struct trial_file file;

        if (trial_files_make(task, i, values, &file, &err) != 0)
            diags_add(diags, task->files[i].place, NULL, "%s", err.text);
        trial_file_clear(&file);
    }
    free(values);
}
