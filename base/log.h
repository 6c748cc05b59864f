/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_LOG_H
#define SMTUNE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/err.h"

struct buf;

/*
 * The log of an engine, for whoever looks for the cause of a problem. Each line
 * has the time, the level, the subsystem, the run, the job and a message:
 *
 *     2026-11-21T10:00:00.123Z info engine run=mnist job=4 started node=n1
 *
 * The record (store/) is the truth about a run. The log adds what the record
 * does not keep: why nothing starts, and what Slurm answered. It is off by
 * default.
 */

enum log_level { LOG_OFF, LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* X(symbol, word) */
#define LOG_PARTS(X)                                                           \
    X(LOG_ENGINE, "engine")     /* states, decisions, why nothing starts */    \
    X(LOG_EXECUTOR, "executor") /* what executors and agents report */         \
    X(LOG_SLURM, "slurm")       /* calls to Slurm and its answers */

enum log_part {
#define X(symbol, word) symbol,
    LOG_PARTS(X)
#undef X
        LOG_PART_COUNT
};

/* The words of the levels, by enum log_level; NULL-ended. */
extern const char *const log_level_names[];

struct log_setup {
    unsigned char levels[LOG_PART_COUNT]; /* enum log_level */
    const char *path;                     /* NULL: standard error */
};

/*
 * Reads the value of SMTUNE_LOG: LEVEL[:FILE], or a list of levels for parts,
 * PART=LEVEL[,PART=LEVEL...][:FILE], where a LEVEL without a part sets all
 * parts. setup->path borrows from text. -1 (ERR_USAGE) for an unknown word;
 * *setup is off then.
 */
int log_setup_parse(const char *text, struct log_setup *setup, struct err *err);
/* The level of all parts; name is one of log_level_names. */
void log_setup_set(struct log_setup *setup, const char *name);
/* Whether any part logs anything. */
bool log_setup_is_on(const struct log_setup *setup);

/* Fields are private, but for log_has(). */
struct log {
    unsigned char levels[LOG_PART_COUNT];
    struct log_sink *sink;
};

/* Reports that lines cannot be written: once a log, from within a call of it.
 * The text is one line. */
typedef void log_trouble_fn(void *user, const char *text);

struct log_owner {
    const char *run; /* the run's name; copied */
    log_trouble_fn *trouble;
    void *user; /* of trouble */
};

/*
 * Appends to the file, which is created with mode 0600, or to standard error.
 * NULL where the setup is off. A file that cannot be opened is trouble, and no
 * error: the log is there, and its lines are lost. Values of this process's
 * environment whose names look like a secret's are masked.
 */
struct log *log_create(const struct log_setup *setup,
                       const struct log_owner *owner);
void log_destroy(struct log *log);

/* From now on the value is shown as "<name>"; see mask.h. log may be NULL. */
void log_hide(struct log *log, const char *name, const char *value);

/* Appends at most max bytes of text, after its secrets were masked: a cut
 * through a secret shows no part of it. */
void log_add_excerpt(const struct log *log, const char *text, size_t length,
                     size_t max, struct buf *out);

static inline bool log_has(const struct log *log, enum log_part part,
                           enum log_level level)
{
    return log != NULL && log->levels[part] >= level;
}

/* What LOG() does with its line; call LOG(). */
void log_print(struct log *log, enum log_part part, enum log_level level,
               int64_t job, const char *format, ...) PRINTF_LIKE(5, 6);

/*
 * Logs a line about a job (its number; 0: none in particular). The arguments of
 * the format are evaluated only where the part has that level; log may be NULL.
 * Secrets are masked, and control bytes escaped, in the whole message.
 */
#define LOG(log, part, level, job, ...)                                        \
    do {                                                                       \
        if (__builtin_expect(log_has(log, part, level), 0))                    \
            log_print(log, part, level, job, __VA_ARGS__);                     \
    } while (0)

#endif
