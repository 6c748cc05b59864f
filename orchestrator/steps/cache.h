/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_CACHE_H
#define SMTUNE_ORCHESTRATOR_STEPS_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/digest.h"
#include "base/json.h"
#include "store/store.h"

/*
 * `cache`: nothing is done twice. Before a job is started its key is made
 * (workflows/cache_key.h), and a job with that key is looked for which has
 * succeeded, and whose output files still are as it left them. Temporary ones
 * may be missing: whether that result will do depends on the steps behind it,
 * and is for others to find out (cache_forecast.h). When a job has
 * ended well, its key is made again: only where nothing that it read has
 * changed meanwhile are the hashes of its output files kept, among its outputs
 * under CACHE_HASHES, by the outputs' names; and without these its result is
 * nobody's. That name begins as no output's may, so expressions never see it.
 *
 * Files are read by a thread of the loop's pool, one job after another, so that
 * of several that read the same files one reads them. For one engine; what it
 * is asked is answered from the loop, never from inside the question.
 */

#define CACHE_HASHES "#sha256"
/* Beside it: the parts of the key; names of its temporary outputs that were
 * missing when it became a hit; why the job ran; and what keeps its result from
 * being reused, which somebody has to fix. */
#define CACHE_PARTS   "#parts"
#define CACHE_MISSING "#missing"
#define CACHE_NOTE    "#cache"
#define CACHE_WARNING "#warning"

struct cache;

/* All three are borrowed; the owner is told with each answer. store NULL: there
 * are no results. */
struct cache *cache_create(uv_loop_t *loop, struct store *store, void *owner);
/* Answers nothing any more; the loop is held until the thread has stopped. */
void cache_destroy(struct cache *cache);

/* What a job's key is made of. All of it is copied. */
struct cache_subject {
    const json_t *facts;        /* see workflows/cache_key.h */
    const char *work_directory; /* that relative paths start from */
    const char *const *inputs;  /* [input_count] paths and globs */
    size_t input_count;
    bool allows_empty; /* globs that match nothing */
    /* By absolute path, the hash of inputs that may be missing; or NULL. */
    const json_t *known;
    const char *const *temps; /* [temp_count] names of temporary outputs */
    size_t temp_count;
    bool is_child; /* a result counts as long as its child run is there */
};

struct cache_answer {
    const char *key;  /* NULL: it could not be made, */
    const char *text; /* because of this; or why a result will not do; or "" */
    json_t *parts;    /* of the key: see workflows/cache_key.h */
    /* Of the job whose result stands for this one's; 0: there is none. */
    int64_t job;
    const char *source;    /* that job for people: "job 3 of run 'one'" */
    const json_t *outputs; /* CACHE_HASHES among them, and CACHE_MISSING: */
    bool lacks_temps;      /* temporary ones are missing, but nothing else */
};

typedef void cache_answer_fn(void *owner, void *user,
                             const struct cache_answer *answer);

/* Looks for a result; `user` is how the question is known. since_ms: the oldest
 * that will do, wall clock; 0: any. */
void cache_find(struct cache *cache, const struct cache_subject *subject,
                int64_t since_ms, cache_answer_fn *answer, void *user);

struct cache_made {
    const json_t *outputs;    /* all that it made, by name */
    const char *const *files; /* [file_count] names of those that are paths */
    size_t file_count;
};

typedef void cache_sealed_fn(void *owner, void *user, json_t *hashes,
                             const char *text);

/*
 * Hashes what a job made, which is copied. The hashes are NULL where the key is
 * not what it was before, or a file cannot be read: then text says so.
 */
void cache_seal(struct cache *cache, const struct cache_subject *subject,
                const char *key, const struct cache_made *made,
                cache_sealed_fn *sealed, void *user);

/* What that user asked is answered no more. */
void cache_forget(struct cache *cache, const void *user);

#endif
