/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/launch_trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/spec/experiment/setting_json.h"

struct subject {
    const struct experiment *experiment;
    const struct job *trial;
    const char *run_name;
    int64_t resource;
};

/* Up to which resource it runs, 0: to an end of its own. */
static int64_t resource_of(const struct experiment *experiment,
                           const struct job *job)
{
    const struct schedule *schedule = &experiment->schedule;

    if (!schedule->is_on)
        return (int64_t)schedule->options.max;
    return job->resource > 0 && (uint64_t)job->resource != SCHEDULE_NO_MAX
               ? job->resource
               : 0;
}

/* See experiment.h. */
static struct value *columns(const void *user,
                             const struct launch_places *places)
{
    const struct subject *subject = user;
    size_t count = space_count(subject->experiment->space);
    struct value *values = mem_array(count + EXTRA_COUNT, sizeof(*values));

    memcpy(values, subject->trial->point, count * sizeof(*values));
    values[count + EXTRA_TRIAL] = value_int(subject->trial->number);
    values[count + EXTRA_RUN] = value_text(subject->run_name);
    values[count + EXTRA_DIR] = value_text(places->directory);
    values[count + EXTRA_REPEAT] = value_int(
        experiment_repeat(subject->experiment, subject->trial->number));
    values[count + EXTRA_FILE_DIR] = value_text(subject->experiment->folder);
    values[count + EXTRA_CHECKPOINT_DIR] =
        value_text(places->checkpoint_directory);
    if (subject->resource > 0)
        values[count + EXTRA_RESOURCE] = value_int(subject->resource);
    return values;
}

struct launch *launch_trial(const struct launch_site *site,
                            const struct experiment *experiment,
                            const struct job *job, struct err *err)
{
    const struct subject subject = {experiment, job, site->run_name,
                                    resource_of(experiment, job)};
    json_t *params = setting_json(experiment->space, job->point);
    json_t *strings = setting_strings_json(experiment->space, job->point);
    const struct launch_order order = {
        .job = job->number,
        .attempt = job->attempt,
        .attempt_number = job->attempt_number,
        .step = "trial",
        .resource = subject.resource,
        .inherits = job->parent > 0,
        .task = job->spec,
        .resources = &job->resources,
        .avoid = job->avoid,
        .params = params,
        .strings = strings,
        .columns = columns,
        .user = &subject,
    };
    struct launch *launch = launch_create(site, &order, err);

    json_decref(params);
    json_decref(strings);
    return launch;
}
