/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An entry is a run's columns, looked at and changed under the entry's lock,
 * so that one run's first reading holds up nobody who wants another. The lock
 * of the cache is for the list alone. What was made of the columns last is kept
 * until they change.
 */
#include "dashboard/columns/columns.h"

#include <stdlib.h>
#include <uv.h>

#include "base/compiler.h"
#include "base/mem.h"

enum { PARTS_KEPT = 4 };

struct entry {
    int64_t run;
    uv_mutex_t lock;
    struct columns *columns;               /* NULL: not read yet */
    struct columns_part parts[PARTS_KEPT]; /* of the columns as they are */
    size_t part_count;

    /* Of the cache's lock. */
    struct entry *next;
    size_t bytes;
    int users;
    uint64_t used; /* when it was asked last, of the cache's count */
};

struct columns_cache {
    uv_mutex_t lock;
    struct entry *entries;
    uint64_t uses;
};

struct columns_cache *columns_cache_create(void)
{
    struct columns_cache *cache = mem_zero(sizeof(*cache));

    if (uv_mutex_init(&cache->lock) != 0)
        abort();
    return cache;
}

/* ---- what was made ---- */

static void drop_parts(struct entry *entry)
{
    while (entry->part_count > 0)
        blob_release(entry->parts[--entry->part_count].bytes);
}

static size_t parts_bytes(const struct entry *entry)
{
    size_t bytes = 0;

    for (size_t i = 0; i < entry->part_count; i++)
        bytes += entry->parts[i].bytes->length;
    return bytes;
}

static const struct columns_part *find_part(const struct entry *entry,
                                            int64_t since)
{
    for (size_t i = 0; i < entry->part_count; i++) {
        if (entry->parts[i].since == since)
            return &entry->parts[i];
    }
    return NULL;
}

static const struct columns_part *make_part(struct entry *entry, int64_t since)
{
    struct columns_part *part;

    if (entry->part_count == PARTS_KEPT)
        drop_parts(entry);
    part = &entry->parts[entry->part_count++];
    *part = (struct columns_part){
        .run = entry->run, .since = since, .seq = columns_seq(entry->columns)};
    part->bytes = columns_encode(entry->columns, since);
    return part;
}

/* ---- entries ---- */

static void destroy_entry(struct entry *entry)
{
    drop_parts(entry);
    columns_destroy(entry->columns);
    uv_mutex_destroy(&entry->lock);
    free(entry);
}

void columns_cache_destroy(struct columns_cache *cache)
{
    struct entry *next;

    if (cache == NULL)
        return;
    for (struct entry *entry = cache->entries; entry != NULL; entry = next) {
        next = entry->next;
        destroy_entry(entry);
    }
    uv_mutex_destroy(&cache->lock);
    free(cache);
}

static struct entry *create_entry(int64_t run)
{
    struct entry *entry = mem_zero(sizeof(*entry));

    entry->run = run;
    if (uv_mutex_init(&entry->lock) != 0)
        abort();
    return entry;
}

/* The run's, held. */
static struct entry *hold_entry(struct columns_cache *cache, int64_t run)
{
    struct entry *entry;

    uv_mutex_lock(&cache->lock);
    entry = cache->entries;
    while (entry != NULL && entry->run != run)
        entry = entry->next;
    if (entry == NULL) {
        entry = create_entry(run);
        entry->next = cache->entries;
        cache->entries = entry;
    }
    entry->users++;
    entry->used = ++cache->uses;
    uv_mutex_unlock(&cache->lock);
    return entry;
}

/* The one to go: of those without users one that holds nothing, or, where all
 * hold too much, the one that was asked for least lately but for the last. */
static struct entry **find_spare(struct columns_cache *cache)
{
    struct entry **spare = NULL;
    size_t bytes = 0;

    for (struct entry **at = &cache->entries; *at != NULL; at = &(*at)->next) {
        bytes += (*at)->bytes;
        if ((*at)->users > 0)
            continue;
        if ((*at)->bytes == 0)
            return at;
        if ((*at)->used != cache->uses &&
            (spare == NULL || (*at)->used < (*spare)->used))
            spare = at;
    }
    return bytes > COLUMNS_CACHE_BYTES ? spare : NULL;
}

static void let_go(struct columns_cache *cache, struct entry *entry,
                   size_t bytes)
{
    struct entry **spare;

    uv_mutex_lock(&cache->lock);
    entry->bytes = bytes;
    entry->users--;
    while ((spare = find_spare(cache)) != NULL) {
        struct entry *gone = *spare;

        *spare = gone->next;
        destroy_entry(gone);
    }
    uv_mutex_unlock(&cache->lock);
}

/* ---- asking ---- */

/* A run that is not there any more is not kept. */
static int bring_up_to_date(struct entry *entry, struct store *store,
                            struct err *err)
{
    struct err why = {0};
    int result = 0;

    if (entry->columns == NULL)
        entry->columns = columns_load(store, entry->run, &why);
    else
        result = columns_update(entry->columns, store, &why);
    if (entry->columns != NULL && result == 0)
        return 0;
    if (why.kind == ERR_NOT_FOUND) {
        drop_parts(entry);
        columns_destroy(entry->columns);
        entry->columns = NULL;
    }
    if (err != NULL)
        *err = why;
    return -1;
}

int columns_cache_get(struct columns_cache *cache, struct store *store,
                      struct columns_part *part, struct err *err)
{
    struct entry *entry = hold_entry(cache, part->run);
    const struct columns_part *found;
    size_t bytes = 0;
    int64_t since;
    int result;

    uv_mutex_lock(&entry->lock);
    result = bring_up_to_date(entry, store, err);
    if (result == 0) {
        if (entry->part_count > 0 &&
            entry->parts[0].seq != columns_seq(entry->columns))
            drop_parts(entry);
        since = columns_since(entry->columns, part->since);
        found = find_part(entry, since);
        if (found == NULL)
            found = make_part(entry, since);
        *part = *found;
        blob_hold(part->bytes);
    }
    if (entry->columns != NULL)
        bytes = columns_bytes(entry->columns) + parts_bytes(entry);
    uv_mutex_unlock(&entry->lock);
    let_go(cache, entry, bytes);
    return result;
}
