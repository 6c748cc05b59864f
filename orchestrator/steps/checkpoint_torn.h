/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_CHECKPOINT_TORN_H
#define SMTUNE_ORCHESTRATOR_STEPS_CHECKPOINT_TORN_H

#include <stdint.h>

/*
 * A torn checkpoint: some ranks have saved their parts since a time, others
 * have not. The parts of one checkpoint are files whose paths differ in one
 * number alone, which follows the word rank, shard, proc or worker, as in
 * shard-0.pt or mp_rank_00/model.pt, or which is the first one of a name such
 * as __0_0.distcp. Logs and temporary files are none.
 *
 * It is torn where a rank's part is missing between others, or where it has
 * fewer parts than a checkpoint beside it, or where some parts are older than
 * the time and others are not. A checkpoint that is whole and newer than the
 * time excuses all others.
 */

/* The folder's, of so many ranks, since so many milliseconds of the wall clock:
 * which part is wrong, "shard0 is missing" or "shard0 is older than shard1";
 * the caller frees. NULL: nothing looks torn. */
char *checkpoint_find_torn(const char *directory, int ranks, int64_t since_ms);

#endif
