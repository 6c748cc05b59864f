/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What squeue and sacct show of a job to people: the run and the step, before
 * the name that the job is found by, and in its comment. Both are patterns of
 * the file. A job of many attempts has the name of their step, and a pilot,
 * which runs attempts of any step, that of its kind.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "executors/slurm/core.h"

enum { NAME_MAX_BYTES = 128, COMMENT_MAX_BYTES = 512 };

static const char name_pattern[] = "${{ run }}.${{ job }}";
static const char comment_pattern[] =
    "smtune run=${{ run }} step=${{ step }} job=${{ job }}";

int slurm_labels_open(struct slurm_labels *labels,
                      const struct executor_options *options, struct err *err)
{
    const struct slurm_options *slurm = options->slurm;
    const char *name = slurm != NULL ? slurm->job_name : NULL;
    const char *comment = slurm != NULL ? slurm->comment : NULL;

    labels->run = options->run;
    labels->name = job_label_create(name != NULL ? name : name_pattern, err);
    if (labels->name != NULL)
        labels->comment =
            job_label_create(comment != NULL ? comment : comment_pattern, err);
    return labels->comment != NULL ? 0 : -1;
}

void slurm_labels_clear(struct slurm_labels *labels)
{
    job_label_destroy(labels->name);
    job_label_destroy(labels->comment);
    free(labels->name_text);
    free(labels->comment_text);
}

static void print(struct job_label *label,
                  const struct job_label_values *values, size_t max,
                  char **text)
{
    struct buf out = BUF_INIT;

    job_label_print(label, values, max, &out);
    free(*text);
    *text = buf_take(&out);
}

void slurm_labels_set(struct slurm_labels *labels,
                      const struct attempt_spec *spec, bool is_array,
                      struct slurm_submission *submission)
{
    struct job_label_values values = {labels->run, "pilot", "pilot"};

    if (labels->run == NULL)
        return;
    if (spec != NULL) {
        values.step = spec->step;
        values.job = is_array ? spec->step : spec->job;
    }
    print(labels->name, &values, NAME_MAX_BYTES, &labels->name_text);
    print(labels->comment, &values, COMMENT_MAX_BYTES, &labels->comment_text);
    submission->label = labels->name_text;
    submission->comment = labels->comment_text;
}

void slurm_label(struct slurm *slurm, const struct attempt_spec *spec,
                 bool is_array, struct slurm_submission *submission)
{
    slurm_labels_set(&slurm->labels, spec, is_array, submission);
}
