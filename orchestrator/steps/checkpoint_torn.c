/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each number of a path that may be a rank's makes an entry: its key is the
 * path with `#` for the number. Entries of the same key, sorted by number, are
 * a set, the parts of one file of a checkpoint. Sets whose `#` is in the same
 * folder are one checkpoint. What is numbered one after the other as it is
 * made is no such set: there the older ones have the lower numbers, and there
 * are more or fewer than ranks.
 */
#include "orchestrator/steps/checkpoint_torn.h"

#include <ctype.h>
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/compiler.h"
#include "base/mem.h"

enum { DIGITS_MAX = 6 };

struct entry {
    char *key;
    char *path;
    size_t folder; /* so long is the folder of its checkpoint in the key */
    int number;
    bool is_new;
};

struct entries {
    struct entry *items;
    size_t count, capacity;
    int ranks;
    int64_t since_ms;
};

/* Entries of one key. */
struct set {
    const struct entry *items;
    size_t count;
};

/* ---- names ---- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length &&
           strcasecmp(text + length - end_length, end) == 0;
}

static bool is_no_part(const char *path)
{
    static const char *const ends[] = {".log", ".out", ".err", ".txt", "~"};

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        if (ends_with(path, ends[i]))
            return true;
    }
    return strstr(path, ".tmp") != NULL || strstr(path, ".part") != NULL;
}

/* Whether the number at `at` follows a word for a rank. */
static bool follows_word(const char *path, const char *at)
{
    static const char *const words[] = {"rank", "shard", "proc", "worker"};

    while (at > path && strchr("-_.=", at[-1]) != NULL)
        at--;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t length = strlen(words[i]);

        if ((size_t)(at - path) >= length &&
            strncasecmp(at - length, words[i], length) == 0)
            return true;
    }
    return false;
}

/* __RANK_FILE.distcp, of torch.distributed.checkpoint. */
static bool is_of_torch(const char *path, const char *at)
{
    const char *name = file_name(path);

    return at == name + 2 && strncmp(name, "__", 2) == 0 &&
           ends_with(name, ".distcp");
}

static void add_entry(struct entries *entries, const char *path, const char *at,
                      size_t digits)
{
    struct entry *entry;
    size_t folder = (size_t)(at - path);

    while (folder > 0 && path[folder - 1] != '/')
        folder--;
    entries->items = mem_grow(entries->items, entries->count,
                              &entries->capacity, sizeof(*entries->items));
    entry = &entries->items[entries->count++];
    *entry = (struct entry){
        .key = mem_printf("%.*s#%s", (int)(at - path), path, at + digits),
        .path = mem_copy_string(path),
        .folder = folder,
        .number = (int)strtol(at, NULL, 10)};
}

static void add_file(struct entries *entries, const char *path, bool is_new)
{
    size_t before = entries->count;

    if (is_no_part(path))
        return;
    for (const char *at = path; *at != '\0';) {
        size_t digits = strspn(at, "0123456789");

        if (digits > 0 && digits <= DIGITS_MAX &&
            (follows_word(path, at) || is_of_torch(path, at)))
            add_entry(entries, path, at, digits);
        at += digits > 0 ? digits : 1;
    }
    for (size_t i = before; i < entries->count; i++)
        entries->items[i].is_new = is_new;
}

static void add_all(struct entries *entries, const char *directory)
{
    char *top = mem_copy_string(directory);
    char *const paths[] = {top, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    const FTSENT *entry;

    while (tree != NULL && (entry = fts_read(tree)) != NULL) {
        const struct stat *status = entry->fts_statp;

        if (entry->fts_info == FTS_F)
            add_file(entries, entry->fts_path + strlen(directory) + 1,
                     status->st_mtim.tv_sec * 1000 +
                             status->st_mtim.tv_nsec / 1000000 >=
                         entries->since_ms);
    }
    if (tree != NULL)
        fts_close(tree);
    free(top);
}

/* ---- sets ---- */

static int by_key(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    int order = strcmp(left->key, right->key);

    return order != 0 ? order : left->number - right->number;
}

static size_t set_end(const struct entries *entries, size_t from)
{
    size_t end = from + 1;

    while (end < entries->count &&
           strcmp(entries->items[end].key, entries->items[from].key) == 0)
        end++;
    return end;
}

/* The same key but for numbers: a file of a checkpoint beside. */
static bool is_like(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a += strspn(a, "0123456789");
            b += strspn(b, "0123456789");
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return *a == *b;
}

/* Those that ranks of now have: numbers beyond are of more ranks before. */
static struct set of_ranks(const struct entries *entries, size_t from)
{
    struct set set = {&entries->items[from], 0};
    size_t end = set_end(entries, from);
    int last = entries->ranks - (set.items[0].number == 0);

    while (from + set.count < end && set.items[set.count].number <= last)
        set.count++;
    return set;
}

static bool has_new(const struct entries *entries, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++) {
        if (entries->items[i].is_new)
            return true;
    }
    return false;
}

static bool counts_on(const struct entries *entries, size_t from)
{
    return has_new(entries, from + of_ranks(entries, from).count,
                   set_end(entries, from));
}

/* How many parts a checkpoint beside has, at most those of now. */
static size_t parts_beside(const struct entries *entries, const char *key)
{
    size_t most = 0;

    for (size_t i = 0; i < entries->count; i = set_end(entries, i)) {
        size_t count = of_ranks(entries, i).count;

        if (count > most && is_like(entries->items[i].key, key))
            most = count;
    }
    return most;
}

static char *missing(const struct set *set, int number)
{
    const char *key = set->items[0].key;
    const char *at = strchr(key, '#');

    return mem_printf("%.*s%d%s is missing", (int)(at - key), key, number,
                      at + 1);
}

/* Where some are old: whether those came one after the other. */
static bool is_sequence(const struct entries *entries, const struct set *set)
{
    if (set->count == (size_t)entries->ranks)
        return false;
    for (size_t i = 1; i < set->count; i++) {
        if (set->items[i - 1].is_new && !set->items[i].is_new)
            return false;
    }
    return true;
}

static char *find_old(const struct entries *entries, const struct set *set)
{
    const struct entry *old = NULL, *fresh = NULL;

    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i].is_new)
            fresh = &set->items[i];
        else
            old = &set->items[i];
    }
    if (old == NULL || fresh == NULL || is_sequence(entries, set))
        return NULL;
    return mem_printf("%s is older than %s", old->path, fresh->path);
}

static char *judge_set(const struct entries *entries, size_t from)
{
    struct set set = of_ranks(entries, from);
    int first = 0;

    if (counts_on(entries, from) || set.count == 0)
        return NULL;
    if (set.items[0].number > 0 &&
        set.items[set.count - 1].number == entries->ranks)
        first = 1;
    for (size_t i = 0; i < set.count; i++) {
        if (set.items[i].number != first + (int)i)
            return missing(&set, first + (int)i);
    }
    if (set.count < parts_beside(entries, set.items[0].key))
        return missing(&set, first + (int)set.count);
    return find_old(entries, &set);
}

/* ---- checkpoints ---- */

static bool is_new_set(const struct entries *entries, size_t from)
{
    return has_new(entries, from, set_end(entries, from));
}

/* Whether both are of one checkpoint. */
static bool is_beside(const struct entry *a, const struct entry *b)
{
    return a->folder == b->folder && memcmp(a->path, b->path, a->folder) == 0;
}

/* What is wrong with the checkpoint of an entry, by its new files. */
static char *judge_folder(const struct entries *entries,
                          const struct entry *like)
{
    char *torn = NULL;

    for (size_t i = 0; i < entries->count && torn == NULL;
         i = set_end(entries, i)) {
        if (is_beside(&entries->items[i], like) && is_new_set(entries, i))
            torn = judge_set(entries, i);
    }
    return torn;
}

char *checkpoint_find_torn(const char *directory, int ranks, int64_t since_ms)
{
    struct entries entries = {.ranks = ranks, .since_ms = since_ms};
    const struct entry *judged = NULL;
    char *torn = NULL;
    bool has_whole = false;

    add_all(&entries, directory);
    if (entries.count > 1)
        qsort(entries.items, entries.count, sizeof(*entries.items), by_key);
    for (size_t i = 0; i < entries.count && !has_whole;
         i = set_end(&entries, i)) {
        char *found;

        if (!is_new_set(&entries, i) ||
            (judged != NULL && is_beside(&entries.items[i], judged)))
            continue;
        judged = &entries.items[i];
        found = judge_folder(&entries, &entries.items[i]);
        has_whole = found == NULL;
        if (torn == NULL)
            torn = found;
        else
            free(found);
    }
    for (size_t i = 0; i < entries.count; i++) {
        free(entries.items[i].key);
        free(entries.items[i].path);
    }
    free(entries.items);
    if (!has_whole)
        return torn;
    free(torn);
    return NULL;
}
