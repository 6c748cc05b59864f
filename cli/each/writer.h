/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_EACH_WRITER_H
#define SMTUNE_CLI_EACH_WRITER_H

#include <stdint.h>

#include "base/err.h"

/* Logs that a thread copies, one after another: to standard output, or to files
 * of a folder. Who adds one never waits. */
struct writer;

enum writer_task { WRITER_SAVE, WRITER_PRINT };

/* results: the folder, copied; NULL: none. NULL where there is no thread. */
struct writer *writer_create(const char *results, struct err *err);
/* A log that is not there is nothing to copy. WRITER_SAVE: to NUMBER.out. */
void writer_add(struct writer *writer, enum writer_task task, int64_t number,
                const char *log);
/* Waits until all is copied. -1: what could not be, the first; without a text
 * where nobody reads standard output any more. Destroys in every case. */
int writer_finish(struct writer *writer, struct err *err);

#endif
