/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/columns/tally.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "store/changes.h"
#include "store/store.h"

/* The count of a run_row that a state is one of. */
static const struct {
    const char *state;
    size_t count;
} kinds[] = {
    {"waiting", offsetof(struct run_row, pending)},
    {"ready", offsetof(struct run_row, pending)},
    {"running", offsetof(struct run_row, running)},
    {"paused", offsetof(struct run_row, paused)},
    {"succeeded", offsetof(struct run_row, succeeded)},
    {"failed", offsetof(struct run_row, failed)},
    {"stopped", offsetof(struct run_row, stopped)},
    {"skipped", offsetof(struct run_row, other)},
    {"cancelled", offsetof(struct run_row, cancelled)},
};

enum {
    KINDS = ARRAY_LEN(kinds),
    INFEASIBLE = KINDS,
    CACHED,
    MARKS,
    NO_MARK = 255
};

/* A job's mark is the place of its state in kinds, or that it has succeeded and
 * is not feasible, or is a cache hit. */
struct tally {
    uint8_t *marks; /* [capacity] by number */
    size_t capacity;
    int64_t counts[MARKS];
    int64_t seq;
};

struct tally *tally_create(void)
{
    return mem_zero(sizeof(struct tally));
}

void tally_destroy(struct tally *tally)
{
    if (tally == NULL)
        return;
    free(tally->marks);
    free(tally);
}

static void make_room(struct tally *tally, size_t number)
{
    enum { FIRST = 64 };
    size_t capacity = 2 * tally->capacity + FIRST;

    if (number < tally->capacity)
        return;
    if (capacity <= number)
        capacity = number + 1;
    tally->marks = mem_resize(tally->marks, capacity, 1);
    memset(tally->marks + tally->capacity, NO_MARK, capacity - tally->capacity);
    tally->capacity = capacity;
}

static uint8_t mark_of(const struct job_row *job)
{
    uint8_t mark = 0;

    while (mark < KINDS && strcmp(kinds[mark].state, job->state) != 0)
        mark++;
    if (mark == KINDS)
        return NO_MARK;
    if (store_is_cache_hit(job->cached_from, job->cache_key))
        return CACHED;
    return job->violation > 0 && strcmp(job->state, "succeeded") == 0
               ? INFEASIBLE
               : mark;
}

static int take_job(void *user, const struct job_row *job)
{
    struct tally *tally = user;
    uint8_t *mark;

    make_room(tally, (size_t)job->number);
    mark = &tally->marks[job->number];
    if (*mark != NO_MARK)
        tally->counts[*mark]--;
    *mark = mark_of(job);
    if (*mark != NO_MARK)
        tally->counts[*mark]++;
    return 0;
}

int tally_update(struct tally *tally, struct store *store, int64_t run,
                 int64_t seq, struct err *err)
{
    if (seq < tally->seq) {
        memset(tally->marks, NO_MARK, tally->capacity);
        memset(tally->counts, 0, sizeof(tally->counts));
        tally->seq = 0;
    }
    if (seq == tally->seq)
        return 0;
    if (store_each_job(store, run, tally->seq, take_job, tally, err) != 0)
        return -1;
    tally->seq = seq;
    return 0;
}

void tally_fill(const struct tally *tally, struct run_row *row)
{
    row->infeasible = tally->counts[INFEASIBLE];
    row->cached = tally->counts[CACHED];
    row->trials = row->infeasible + row->cached;
    row->succeeded = row->infeasible + row->cached - row->nonfinite;
    for (size_t i = 0; i < KINDS; i++) {
        int64_t *count = (int64_t *)(void *)((char *)row + kinds[i].count);

        *count += tally->counts[i];
        row->trials += tally->counts[i];
    }
    row->other += row->stopped + row->cancelled;
}
