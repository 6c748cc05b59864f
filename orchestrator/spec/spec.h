/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_SPEC_H
#define SMTUNE_ORCHESTRATOR_SPEC_SPEC_H

#include <stddef.h>

#include "base/conf/diag.h"
#include "base/err.h"
#include "orchestrator/spec/experiment/experiment.h"

struct workflow;

/*
 * What can be run: a file, read and checked, that is an experiment or a
 * workflow. All zero: none.
 */
struct spec {
    struct experiment *experiment; /* of a workflow what it has in common with
                                      one, which is the workflow's */
    struct workflow *workflow;     /* NULL: it is an experiment */
};

/* Takes a file's text, or reads file->path in place of it, applies the `--set`
 * assignments and the defaults, checks. -1 when anything is wrong: then either
 * diags has messages, or (unreadable file, a bad assignment) err. */
int spec_load(struct spec *spec, const struct experiment_source *file,
              struct diags *diags, struct err *err);
int spec_parse(struct spec *spec, const struct experiment_source *source,
               struct diags *diags, struct err *err);
/* As experiment_warn(). */
void spec_warn(const struct spec *spec, struct diags *warnings);
void spec_clear(struct spec *spec);

/* What a file of that text is checked by: an experiment's schema, or a
 * workflow's. */
const struct schema_key *spec_schema(const char *text);

#endif
