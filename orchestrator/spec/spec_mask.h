/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_SPEC_MASK_H
#define SMTUNE_ORCHESTRATOR_SPEC_SPEC_MASK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "orchestrator/spec/spec.h"

struct buf;
struct mask;

/*
 * The secrets of a run's file, for whatever shows the file or what comes of it:
 * values below `env`, addresses under `notify`, and what base/secret.h takes
 * for a secret. Only what is shown is masked, never what runs.
 */

/* Appends the text of a file, an experiment or a workflow, with its secrets
 * masked. How many there are. */
size_t spec_mask_text(const char *text, struct buf *out);

/* The same of the record's JSON list of --set words, or of one of them; text:
 * of its file. */
size_t spec_mask_overrides(const char *text, const char *overrides,
                           struct buf *out);
size_t spec_mask_word(const char *text, const char *word, struct buf *out);

/* Appends the JSON of a value that a file has under that key (trial.env.X) in
 * the same way. */
size_t spec_mask_value(bool is_workflow, const char *key, const json_t *value,
                       struct buf *out);

/* As spec_mask_text() for a copy of the record. Where anything in the text or
 * its --set words is masked, a last line notes it, so that the copy is not run.
 * How many secrets the text has. */
size_t spec_mask_copy(const char *text, const char *overrides, struct buf *out);
/* As spec_mask_overrides(), and each word with a masked value notes it. */
size_t spec_mask_copy_overrides(const char *text, const char *overrides,
                                struct buf *out);
/* Whether a file, or a word of --set, notes that. */
bool spec_is_masked(const char *text);
/* Appends the text as such a copy has it, to be compared with one. */
void spec_mask_like_copy(const char *text, struct buf *out);

/* Masks the files and --set words in an event's detail, a JSON object, in
 * place. is_copy: as spec_mask_copy(). Whether any of it differs then. */
bool spec_mask_detail(json_t *detail, bool is_copy);

/* Is given a secret of a file, with the key that has it: "env.HF_TOKEN". */
typedef void spec_secret_fn(void *user, const char *name, const char *value);

/* Calls it for each value that may appear in texts about the run: addresses,
 * values of env and env_from, and texts of params with a secret's name. Of env
 * those alone that secret.h takes for secrets, unless all are wanted. */
void spec_each_secret(const struct experiment *experiment,
                      const struct workflow *workflow, bool wants_all,
                      spec_secret_fn *call, void *user);

/* A mask with these, for a command or a script. The caller destroys it. */
struct mask *spec_mask_create(const struct experiment *experiment,
                              const struct workflow *workflow);

#endif
