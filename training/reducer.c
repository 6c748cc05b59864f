/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/reducer.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "training/comm_thread.h"

/*
 * Sums that wait for others of their size are on a stack, the largest at its
 * bottom, as the ones of a binary counter. After share i as many of them are
 * complete as i has ones at its end; after the last share all are, which is
 * the tree's order for any number of shares. From stage 2 on they are sums over
 * all ranks, of this rank's shard alone, so each share's gradients are sent.
 *
 * Memory that is not needed now is given back where the backend can, and stays
 * where it is.
 */

enum { MAX_WAITING = 17 };

enum job { JOB_REDUCE, JOB_PUBLISH, JOB_GATHER };

/* Of a bucket in stage 3: who wants it, and the job that gets it; 0: it is not
 * there. */
struct presence {
    int wants;
    uint64_t job;
};

struct reducer {
    struct params *params;
    struct comm *comm;
    struct comm_thread *thread;
    struct params_hooks hooks;
    struct buckets buckets;
    int shares, stage;
    bool is_beside; /* the thread; else jobs are done where they are given */
    int share;      /* that under way */
    int sent_share; /* that being sent; the thread's */
    real *sums[MAX_WAITING]; /* in stages 0 and 1 of all, else shards */
    bool *is_known;          /* [unit_count]: gradients of the share */
    int next_unit;           /* whose gradients come next in the buffer */
    int next_bucket;         /* to be reduced */
    uint64_t last_job, last_share_job;
    real *own_values;         /* its shard, in stage 3 */
    real *own_grads;          /* all, where they are not in the window */
    struct presence *present; /* [buckets.count]; stage 3 */
    _Atomic uint64_t *marks;  /* [buckets.count]: at least what is to be sent */
    int ahead;                /* the unit that is had in advance, or -1 */
    bool is_digesting;
    uint32_t digest;
    double *squares; /* of each block of gradients */
};

static void give_back(const struct reducer *reducer, real *numbers,
                      size_t count)
{
    reducer->params->backend->discard(numbers, count * sizeof(*numbers));
}

/* All of a bucket, of an array that has the spare numbers behind it. */
static void give_back_bucket(const struct reducer *reducer, real *array,
                             int bucket)
{
    const struct buckets *it = &reducer->buckets;

    give_back(reducer, array + bucket_begin(it, bucket),
              bucket_share(it, bucket) * (size_t)it->ranks);
}

static bool sends_each_share(const struct reducer *reducer)
{
    return reducer->stage >= 2;
}

static struct matrix row(real *data, size_t count)
{
    return (struct matrix){data, 1, count};
}

/* Gradients of a share and the sums that they complete, added up: where they
 * wait for more, or in place where that is all. */
static void add_share(const struct reducer *reducer, int share, real *grads,
                      size_t place, size_t count)
{
    const struct ops *ops = reducer->params->backend->ops;
    bool is_last = share + 1 == reducer->shares;
    int waiting = __builtin_popcount((unsigned)share);
    int merges = is_last ? waiting : __builtin_ctz(~(unsigned)share);
    real *sum = grads;

    if (!is_last || sends_each_share(reducer))
        sum = reducer->sums[waiting - merges] + place;
    for (int i = 1; i <= merges; i++)
        ops->add(row(reducer->sums[waiting - i] + place, count),
                 row(grads, count), row(i < merges ? grads : sum, count));
    if (merges == 0 && sum != grads)
        ops->copy(row(grads, count), row(sum, count));
}

static int reduce(struct reducer *reducer, int bucket, struct err *err)
{
    const struct buckets *it = &reducer->buckets;
    size_t share = bucket_share(it, bucket);
    real *grads = reducer->params->grads;

    if (reducer->stage == 0)
        return comm_all_reduce(reducer->comm, grads + bucket_begin(it, bucket),
                               bucket_length(it, bucket), err);
    if (comm_reduce_scatter(reducer->comm, grads + bucket_begin(it, bucket),
                            share, err) != 0)
        return -1;
    if (sends_each_share(reducer)) {
        add_share(reducer, reducer->sent_share, grads + bucket_own(it, bucket),
                  bucket_shard(it, bucket), share);
        give_back_bucket(reducer, grads, bucket);
        if (bucket + 1 == it->count)
            reducer->sent_share = (reducer->sent_share + 1) % reducer->shares;
    }
    return 0;
}

static int do_job(void *user, int what, int bucket, struct err *err)
{
    struct reducer *reducer = user;
    const struct buckets *it = &reducer->buckets;
    size_t share = bucket_share(it, bucket);
    real *values = reducer->params->values;

    if (reducer->is_beside) {
        reducer->params->backend->enter_thread();
        reducer->params->backend->await(reducer->marks[bucket]);
    }
    comm_set_bucket(reducer->comm, bucket);
    if (what == JOB_REDUCE)
        return reduce(reducer, bucket, err);
    return comm_all_gather(reducer->comm, values + bucket_begin(it, bucket),
                           share * sizeof(real), err);
}

static void give(struct reducer *reducer, enum job job, int bucket)
{
    const struct backend *backend = reducer->params->backend;

    if (reducer->buckets.ranks > 1)
        reducer->marks[bucket] = backend->mark();
    if (reducer->buckets.ranks > 1 && !reducer->is_beside)
        backend->await(reducer->marks[bucket]); /* it is no communication */
    reducer->last_job = comm_thread_give(reducer->thread, (int)job, bucket);
}

/* Stage 3: what this rank has of a bucket, to all. */
static void gather(struct reducer *reducer, int bucket)
{
    const struct params *params = reducer->params;
    const struct buckets *it = &reducer->buckets;
    size_t share = bucket_share(it, bucket);

    params->backend->ops->copy(
        row(reducer->own_values + bucket_shard(it, bucket), share),
        row(params->values + bucket_own(it, bucket), share));
    give(reducer, JOB_GATHER, bucket);
    reducer->present[bucket].job = reducer->last_job;
}

/* Those that hold numbers of the unit: first .. *last. */
static int buckets_of(const struct reducer *reducer, int unit, int *last)
{
    const struct unit *it = &reducer->params->units[unit];
    size_t size = reducer->buckets.size;

    *last = (int)((it->offset + it->count - 1) / size);
    return (int)(it->offset / size);
}

static void want(struct reducer *reducer, int unit)
{
    int last, bucket = buckets_of(reducer, unit, &last);

    for (; bucket <= last; bucket++) {
        if (reducer->present[bucket].job == 0)
            gather(reducer, bucket);
        reducer->present[bucket].wants++;
    }
}

static void digest_values(struct reducer *reducer, size_t first, size_t count)
{
    reducer->digest = (uint32_t)crc32_z(
        reducer->digest, (const Bytef *)(reducer->params->values + first),
        count * sizeof(real));
}

static void want_no_more(struct reducer *reducer, int unit)
{
    int last, bucket = buckets_of(reducer, unit, &last);

    for (; bucket <= last; bucket++) {
        struct presence *present = &reducer->present[bucket];

        if (--present->wants > 0)
            continue;
        comm_thread_await(reducer->thread, present->job, NULL);
        present->job = 0;
        if (reducer->is_digesting)
            digest_values(reducer, bucket_begin(&reducer->buckets, bucket),
                          bucket_length(&reducer->buckets, bucket));
        give_back_bucket(reducer, reducer->params->values, bucket);
    }
}

/* An error is told by reducer_settle. */
static void enter(void *user, int unit, enum pass pass)
{
    struct reducer *reducer = user;
    int next = pass == PASS_FORWARD ? unit + 1 : unit - 1;
    int last, bucket = 0;

    if (pass == PASS_BACKWARD)
        comm_thread_await(reducer->thread, reducer->last_share_job, NULL);
    if (reducer->present == NULL)
        return;
    want(reducer, unit);
    if (reducer->ahead >= 0)
        want_no_more(reducer, reducer->ahead);
    reducer->ahead = next < (int)reducer->params->unit_count ? next : -1;
    if (reducer->ahead >= 0)
        want(reducer, reducer->ahead);
    for (bucket = buckets_of(reducer, unit, &last); bucket <= last; bucket++)
        comm_thread_await(reducer->thread, reducer->present[bucket].job, NULL);
}

/* Buckets all of whose gradients are known. */
static void send_known(struct reducer *reducer)
{
    const struct params *params = reducer->params;
    const struct buckets *it = &reducer->buckets;
    size_t known = params->count;

    while (reducer->next_unit >= 0 && reducer->is_known[reducer->next_unit])
        reducer->next_unit--;
    if (reducer->next_unit >= 0)
        known = params->units[reducer->next_unit].offset;
    while (reducer->next_bucket < it->count &&
           bucket_begin(it, reducer->next_bucket) +
                   bucket_length(it, reducer->next_bucket) <=
               known)
        give(reducer, JOB_REDUCE, reducer->next_bucket++);
}

static void leave(void *user, int index, enum pass pass)
{
    struct reducer *reducer = user;
    const struct unit *unit = &reducer->params->units[index];
    bool is_last = reducer->share + 1 == reducer->shares;

    /* A failure is told at the end of the pass. */
    if (reducer->present != NULL)
        reducer->params->backend->synchronize(NULL);
    if (pass == PASS_BACKWARD && !sends_each_share(reducer))
        add_share(reducer, reducer->share,
                  reducer->params->grads + unit->offset, unit->offset,
                  unit->count);
    if (reducer->present != NULL)
        want_no_more(reducer, index);
    if (pass == PASS_BACKWARD && (is_last || sends_each_share(reducer))) {
        reducer->is_known[index] = true;
        send_known(reducer);
    }
}

/* Stage 3: lets go of what is not this rank's. */
static void take_values(struct reducer *reducer)
{
    struct params *params = reducer->params;
    const struct buckets *it = &reducer->buckets;

    for (int i = 0; i < it->count; i++)
        memcpy(reducer->own_values + bucket_shard(it, i),
               params->values + bucket_own(it, i),
               bucket_share(it, i) * sizeof(real));
    give_back(reducer, params->values, params->count + params->spare);
}

int reducer_sum_count(int stage, int shares)
{
    int count = 0;

    while ((2 << count) <= shares)
        count++;
    return count == 0 && stage >= 2 ? 1 : count;
}

static int get_memory(struct reducer *reducer, struct err *err)
{
    struct params *params = reducer->params;
    size_t shard = buckets_shard_count(&reducer->buckets);
    size_t all = params->count + params->spare;
    size_t blocks = shard * (size_t)reducer->buckets.ranks / BUCKETS_BLOCK;

    /* What is given back again and again costs less where it is not shared. */
    if (sends_each_share(reducer) || !params->backend->takes_any_memory)
        params->grads = reducer->own_grads =
            backend_array(params->backend, all, err);
    else
        params->grads = comm_window(reducer->comm, all * sizeof(real), err);
    if (params->grads == NULL)
        return -1;
    reducer->squares =
        params->backend->allocate(blocks * sizeof(*reducer->squares), err);
    if (reducer->squares == NULL)
        return -1;
    for (int i = 0; i < reducer_sum_count(reducer->stage, reducer->shares);
         i++) {
        reducer->sums[i] = backend_array(
            params->backend, sends_each_share(reducer) ? shard : params->count,
            err);
        if (reducer->sums[i] == NULL)
            return -1;
    }
    if (reducer->stage == 3) {
        reducer->present = mem_array((size_t)reducer->buckets.count,
                                     sizeof(*reducer->present));
        reducer->own_values = backend_array(params->backend, shard, err);
        if (reducer->own_values == NULL)
            return -1;
    }
    return 0;
}

struct reducer *reducer_create(struct params *params, struct comm *comm,
                               const struct reducer_options *options,
                               struct err *err)
{
    struct reducer *reducer = mem_zero(sizeof(*reducer));
    const struct ranks *ranks = options->ranks;

    reducer->params = params;
    reducer->comm = comm;
    reducer->shares = options->shares;
    reducer->stage = options->stage;
    reducer->ahead = -1;
    reducer->hooks = (struct params_hooks){enter, leave, reducer};
    buckets_init(&reducer->buckets, params->count, options->bucket_bytes,
                 ranks->rank, ranks->size);
    reducer->is_known =
        mem_array(params->unit_count, sizeof(*reducer->is_known));
    reducer->marks =
        mem_array((size_t)reducer->buckets.count, sizeof(*reducer->marks));
    reducer->is_beside = ranks->size > 1 && reducer->buckets.count > 1;
    reducer->thread =
        comm_thread_create(do_job, reducer, reducer->is_beside, err);
    if (reducer->thread == NULL || get_memory(reducer, err) != 0) {
        reducer_destroy(reducer);
        return NULL;
    }
    params->hooks = &reducer->hooks;
    if (reducer->stage == 3)
        take_values(reducer);
    return reducer;
}

void reducer_destroy(struct reducer *reducer)
{
    const struct backend *backend;

    if (reducer == NULL)
        return;
    backend = reducer->params->backend;
    comm_thread_destroy(reducer->thread);
    reducer->params->hooks = NULL;
    reducer->params->grads = NULL;
    for (int i = 0; i < MAX_WAITING; i++)
        backend->release(reducer->sums[i]);
    backend->release(reducer->own_values);
    backend->release(reducer->own_grads);
    backend->release(reducer->squares);
    free(reducer->present);
    free(reducer->is_known);
    free(reducer->marks);
    free(reducer);
}

size_t reducer_shard_count(const struct reducer *reducer)
{
    return reducer->stage > 0 ? buckets_shard_count(&reducer->buckets)
                              : reducer->params->count;
}

bool reducer_is_alone(const struct reducer *reducer)
{
    return reducer->buckets.ranks == 1 && reducer->stage == 0;
}

void reducer_begin_share(struct reducer *reducer, int share)
{
    struct params *params = reducer->params;

    reducer->share = share;
    reducer->last_share_job = reducer->last_job;
    memset(reducer->is_known, 0, params->unit_count * sizeof(bool));
    reducer->next_unit = (int)params->unit_count - 1;
    reducer->next_bucket = 0;
}

/* What was had for a unit that never came would be old after an update. */
int reducer_settle(struct reducer *reducer, struct err *err)
{
    int status;

    if (reducer->ahead >= 0)
        want_no_more(reducer, reducer->ahead);
    reducer->ahead = -1;
    status = comm_thread_await(reducer->thread, reducer->last_job, err);

    if (status == 0)
        comm_set_bucket(reducer->comm, -1);
    return status;
}

int reducer_span_count(const struct reducer *reducer)
{
    return reducer->stage > 0 ? reducer->buckets.count : 1;
}

struct optim_span reducer_span(const struct reducer *reducer, int index)
{
    const struct params *params = reducer->params;
    const struct buckets *it = &reducer->buckets;
    struct optim_span span = {params->values, params->grads, 0, 0,
                              params->count};

    if (reducer->stage == 0)
        return span;
    span.first = bucket_shard(it, index);
    span.place = bucket_own(it, index);
    span.count = bucket_share(it, index);
    span.values = reducer->own_values != NULL
                      ? reducer->own_values + span.first
                      : params->values + bucket_own(it, index);
    span.grads = sends_each_share(reducer)
                     ? reducer->sums[0] + span.first
                     : params->grads + bucket_own(it, index);
    return span;
}

void reducer_publish(struct reducer *reducer, int index)
{
    if (reducer->stage == 1 || reducer->stage == 2)
        give(reducer, JOB_PUBLISH, index);
}

static struct matrix in_blocks(real *grads, size_t blocks)
{
    return (struct matrix){grads, blocks, BUCKETS_BLOCK};
}

static int share_squares(struct reducer *reducer, int bucket, struct err *err)
{
    const struct buckets *it = &reducer->buckets;
    const struct backend *backend = reducer->params->backend;
    size_t share = bucket_share(it, bucket) / BUCKETS_BLOCK;
    double *squares =
        reducer->squares + bucket_begin(it, bucket) / BUCKETS_BLOCK;
    struct optim_span span = reducer_span(reducer, bucket);

    backend->ops->square_sums(in_blocks(span.grads, share),
                              squares + (size_t)it->rank * share);
    if (backend->synchronize(err) != 0)
        return -1;
    return comm_all_gather(reducer->comm, squares, share * sizeof(*squares),
                           err);
}

/* Added up in the order in which the blocks lie, whoever has them. */
int reducer_norm(struct reducer *reducer, double *norm, struct err *err)
{
    const struct params *params = reducer->params;
    size_t blocks = params->count / BUCKETS_BLOCK;
    double sum = 0;

    for (int i = 0; reducer->stage > 0 && i < reducer->buckets.count; i++) {
        if (share_squares(reducer, i, err) != 0)
            return -1;
    }
    if (reducer->stage == 0)
        params->backend->ops->square_sums(in_blocks(params->grads, blocks),
                                          reducer->squares);
    if (params->backend->synchronize(err) != 0)
        return -1;
    for (size_t i = 0; i < blocks; i++)
        sum += reducer->squares[i];
    *norm = sqrt(sum);
    return 0;
}

void reducer_begin_digest(struct reducer *reducer)
{
    reducer->is_digesting = true;
    reducer->digest = 0;
}

uint32_t reducer_end_digest(struct reducer *reducer)
{
    if (reducer->stage < 3)
        digest_values(reducer, 0, reducer->params->count);
    reducer->is_digesting = false;
    return reducer->digest;
}

double reducer_take_waited_ms(struct reducer *reducer)
{
    return comm_thread_take_waited_ms(reducer->thread);
}
