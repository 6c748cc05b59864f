/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/store_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/store.h"

/*
 * A database's log begins anew only where nobody reads from it: readers that
 * take over from each other without a gap would have it grow for as long as the
 * run writes. So when it has become large, whoever wants to read waits until
 * those who do have finished, and then for as long as a writer may need to
 * commit.
 */

enum {
    IDLE_MAX = 5,             /* as many as libuv has threads, and the feed's */
    LOG_BYTES_MAX = 24 << 20, /* its writers leave up to 16 MiB of it there */
    PATIENCE_MS = 2000,       /* until all have finished */
    REST_MS = 100,
    REST_EVERY_MS = 1000
};

struct store_pool {
    char *directory, *log_path;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct store *idle[IDLE_MAX];
    int count, in_use;
    int64_t wanted_ms; /* since when all are to finish; 0: they are not */
    int64_t until_ms;  /* they have, and rest; 0: not yet */
    int64_t rested_ms; /* when that was over last */
};

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

struct store_pool *store_pool_create(const char *directory, struct err *err)
{
    struct store *store = store_open(directory, STORE_READ, err);
    struct store_pool *pool;

    if (store == NULL)
        return NULL;
    pool = mem_zero(sizeof(*pool));
    pthread_mutex_init(&pool->mutex, NULL);
    init_condition(&pool->changed);
    pool->directory = mem_copy_string(store_directory(store));
    pool->log_path = mem_printf("%s/smtune.db-wal", pool->directory);
    pool->idle[pool->count++] = store;
    return pool;
}

void store_pool_destroy(struct store_pool *pool)
{
    if (pool == NULL)
        return;
    for (int i = 0; i < pool->count; i++)
        store_close(pool->idle[i]);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->directory);
    free(pool->log_path);
    free(pool);
}

/* The mutex is held. */
static void wait_for_change(struct store_pool *pool, int64_t limit_ms)
{
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += limit_ms % 1000 * 1000000;
    end.tv_sec += limit_ms / 1000 + end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&pool->changed, &pool->mutex, &end);
}

/* Likewise. */
static void let_log_begin_anew(struct store_pool *pool)
{
    while (pool->wanted_ms != 0) {
        int64_t now_ms = clock_monotonic_ms(), end_ms;

        if (pool->in_use == 0 && pool->until_ms == 0)
            pool->until_ms = now_ms + REST_MS;
        end_ms = pool->until_ms != 0 ? pool->until_ms
                                     : pool->wanted_ms + PATIENCE_MS;
        if (now_ms < end_ms) {
            wait_for_change(pool, end_ms - now_ms);
            continue;
        }
        pool->wanted_ms = pool->until_ms = 0;
        pool->rested_ms = now_ms;
    }
}

static bool is_log_large(const struct store_pool *pool)
{
    struct stat status;

    return stat(pool->log_path, &status) == 0 && status.st_size > LOG_BYTES_MAX;
}

static void put_back(struct store_pool *pool)
{
    int64_t now_ms = clock_monotonic_ms();

    pool->in_use--;
    if (pool->wanted_ms == 0 && now_ms > pool->rested_ms + REST_EVERY_MS &&
        is_log_large(pool))
        pool->wanted_ms = now_ms;
    if (pool->wanted_ms != 0 && pool->in_use == 0)
        pthread_cond_broadcast(&pool->changed);
}

struct store *store_pool_take(struct store_pool *pool, struct err *err)
{
    struct store *store = NULL;

    pthread_mutex_lock(&pool->mutex);
    let_log_begin_anew(pool);
    pool->in_use++;
    if (pool->count > 0)
        store = pool->idle[--pool->count];
    pthread_mutex_unlock(&pool->mutex);
    if (store == NULL)
        store = store_open(pool->directory, STORE_READ, err);
    if (store == NULL) {
        pthread_mutex_lock(&pool->mutex);
        put_back(pool);
        pthread_mutex_unlock(&pool->mutex);
    }
    return store;
}

void store_pool_give_back(struct store_pool *pool, struct store *store)
{
    pthread_mutex_lock(&pool->mutex);
    put_back(pool);
    if (pool->count < IDLE_MAX) {
        pool->idle[pool->count++] = store;
        store = NULL;
    }
    pthread_mutex_unlock(&pool->mutex);
    store_close(store);
}

const char *store_pool_directory(const struct store_pool *pool)
{
    return pool->directory;
}
