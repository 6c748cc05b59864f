/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_SLURM_WORDS_H
#define SMTUNE_CLI_SHOW_RUN_SLURM_WORDS_H

#include "base/buf.h"
#include "base/json.h"
#include "orchestrator/spec/experiment/experiment.h"

/* What Slurm is asked for, in words and as JSON. */

/* Appends ", partition gpu, mode pilot": what the attempt asks for (NULL:
 * nothing of its own), else the executor. Nothing where that is not slurm. */
void slurm_word_list(const struct executor_options *executor,
                     const struct slurm_ask *own, struct buf *out);
/* {"partition": "gpu", "mode": "auto", "extra": [...]}, null where nothing is
 * said; null for another executor. */
json_t *slurm_words_json(const struct executor_options *executor,
                         const struct slurm_ask *own);

#endif
