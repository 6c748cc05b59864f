/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_CHECKPOINT_HASH_H
#define SMTUNE_ORCHESTRATOR_JOB_CHECKPOINT_HASH_H

/*
 * What lies in a folder of checkpoints, as one hash: equal where nothing has
 * moved on. It goes by the names and sizes of all files below the folder and by
 * their contents, so that files which were only touched, or written again as
 * they were, make no other hash.
 *
 * The work is bounded. Of a file of more than 256 KiB its beginning, its end
 * (where the directory of an archive lies, with the sums of its parts) and
 * pieces between them are read; and of a folder, in the order of names, 1,000
 * small files or 60 large ones. Of the others the time of their last change
 * stands for the contents. That takes 20 to 70 ms where the files are in
 * memory, as they are after they were written, and some 10 us for each file
 * more.
 */

/* In hexadecimal, the caller's to free; NULL: there is no file. */
char *checkpoint_hash(const char *directory);

#endif
