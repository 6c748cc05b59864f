/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_PLAN_SHOWN_H
#define SMTUNE_CLI_PLAN_SHOWN_H

#include "base/json.h"
#include "orchestrator/spec/spec.h"

struct cli;
struct mask;

/* What a plan shows of a file: with its secrets masked, unless
 * cli->with_secrets. */

/* The file's mask; NULL: secrets are shown. The caller destroys it. */
struct mask *shown_mask(const struct cli *cli,
                        const struct experiment *experiment,
                        const struct workflow *workflow);

/* Prints the text, masked. */
void shown_print(const struct mask *mask, const char *text);

/* Masks all texts in it, in place. */
void shown_json(const struct mask *mask, json_t *json);

/* Of a workflow's parameter: "***" for a text under a secret's name. */
struct value shown_param(const struct mask *mask, const char *name,
                         const struct value *value);

#endif
