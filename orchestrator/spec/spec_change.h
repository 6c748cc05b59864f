/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_SPEC_CHANGE_H
#define SMTUNE_ORCHESTRATOR_SPEC_SPEC_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "orchestrator/spec/spec.h"

/*
 * What two versions of a file differ in, key by key, with what --set makes of
 * them, and which of it a run that has begun can take over.
 */

/* What a change of a step means for it, if it has begun. */
enum spec_effect {
    EFFECT_NEXT,    /* nothing: what starts from now on has it */
    EFFECT_IDLE,    /* likewise, but it may have no job that is not over */
    EFFECT_OUTCOME, /* if it has ended, how it ended is asked again */
    EFFECT_RESULT,  /* its results do not hold any more */
    EFFECT_BEGIN    /* all that it did does not hold any more */
};

struct spec_change {
    char *key;               /* "trial.resources.time", "steps.train.command" */
    json_t *before, *after;  /* NULL: there is none */
    const char *refused;     /* why a run keeps it, static; NULL: it does not */
    int64_t step;            /* of a workflow; -1: of all of them, or of none */
    enum spec_effect effect; /* on those steps */
};

struct spec_changes {
    struct spec_change *items; /* in the file's order; [count] */
    size_t count, capacity;
    /* Keys that differ in the files, and not with --set, which decides. */
    char **overridden; /* [overridden_count] */
    size_t overridden_count;
};

/*
 * Adds all of them to *changes, which is empty at first and which the caller
 * clears in every case. Where secrets are masked in the first (spec_mask.h),
 * that the second has them is none. ERR_USAGE where one is an experiment and
 * the other a workflow.
 */
int spec_change_find(const struct spec *before, const struct spec *after,
                     struct spec_changes *changes, struct err *err);
void spec_changes_clear(struct spec_changes *changes);

/* Whether one of them has that key, or one inside of it. */
bool spec_changes_have(const struct spec_changes *changes, const char *key);
/* Whether one of them is of retry rules or resources, wherever these are. */
bool spec_changes_have_retries(const struct spec_changes *changes);
/* The first that a run cannot take over; NULL: there is none. */
const struct spec_change *spec_changes_refused(
    const struct spec_changes *changes);

#endif
