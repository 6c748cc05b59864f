/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/shards.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "workflows/matrix.h"

static int check_stop(const atomic_bool *stop, struct err *err)
{
    return stop == NULL || !atomic_load(stop)
               ? 0
               : err_set(err, ERR_FAILED, "stopped while distributing files");
}

/* -- Which files there are ------------------------------------------------*/

struct keys {
    struct buf text; /* each with its NUL */
    char **items;    /* [count], made when all are known */
    size_t count;
};

static void clear_keys(struct keys *keys)
{
    buf_clear(&keys->text);
    free(keys->items);
}

static int add_key(struct keys *keys, const char *key, struct err *err)
{
    buf_add(&keys->text, key, strlen(key) + 1);
    if (++keys->count > SHARD_FILES_MAX ||
        keys->text.length > SHARD_LIST_BYTES_MAX)
        return err_set(err, ERR_FILE,
                       "out of range: more than %d files to distribute",
                       SHARD_FILES_MAX);
    return 0;
}

static int refuse_entry(const FTSENT *entry, struct err *err)
{
    bool is_missing = entry->fts_errno == ENOENT || entry->fts_errno == ENOTDIR;

    if (is_missing && entry->fts_level > 0) /* gone since it was listed */
        return 0;
    return err_set_errno(err, is_missing ? ERR_FILE : ERR_FAILED,
                         entry->fts_errno, "cannot read '%s'", entry->fts_path);
}

static int add_root(struct keys *keys, const FTSENT *entry, struct err *err)
{
    if (entry->fts_info == FTS_SLNONE)
        return err_set_errno(err, ERR_FILE, ENOENT, "cannot read '%s'",
                             entry->fts_path);
    return add_key(keys, entry->fts_name, err);
}

static int visit(struct keys *keys, const FTSENT *entry, size_t root_length,
                 struct err *err)
{
    bool is_root = entry->fts_level == FTS_ROOTLEVEL;

    switch (entry->fts_info) {
    case FTS_F:
    case FTS_SL:
    case FTS_SLNONE:
        if (is_root)
            return add_root(keys, entry, err);
        return add_key(keys, entry->fts_path + root_length, err);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return refuse_entry(entry, err);
    case FTS_DEFAULT:
        if (!is_root)
            return 0;
        return err_set(err, ERR_FILE, "'%s' is neither a file nor a folder",
                       entry->fts_path);
    default:
        return 0;
    }
}

static int find_keys(const char *source, const atomic_bool *stop,
                     struct keys *keys, struct err *err)
{
    char *root = mem_copy_string(source);
    char *const roots[] = {root, NULL};
    size_t length = strlen(source);
    FTS *tree =
        fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    FTSENT *entry;
    int result = 0;

    length += length > 0 && source[length - 1] == '/' ? 0 : 1;
    while (result == 0 && tree != NULL && (entry = fts_read(tree)) != NULL) {
        result = visit(keys, entry, length, err);
        if (result == 0)
            result = check_stop(stop, err);
    }
    if (tree == NULL)
        result =
            err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'", source);
    else
        fts_close(tree);
    free(root);
    return result;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void index_keys(struct keys *keys)
{
    char *at = keys->text.data;

    keys->items = mem_array(keys->count + 1, sizeof(*keys->items));
    for (size_t i = 0; i < keys->count; i++, at += strlen(at) + 1)
        keys->items[i] = at;
}

static int write_list(const char *path, const struct keys *keys,
                      struct err *err)
{
    struct buf sorted = BUF_INIT;
    int result;

    for (size_t i = 0; i < keys->count; i++)
        buf_add(&sorted, keys->items[i], strlen(keys->items[i]) + 1);
    result = fs_write_below(path, buf_text(&sorted), sorted.length, 0600, err);
    buf_clear(&sorted);
    return result;
}

static int make_list(const struct shard *shard, const atomic_bool *stop,
                     struct keys *keys, struct err *err)
{
    if (find_keys(shard->source, stop, keys, err) != 0)
        return -1;
    if (keys->count == 0 && !shard->allows_empty)
        return err_set(err, ERR_FILE,
                       "no file in '%s' (allow_empty: true accepts that)",
                       shard->source);
    index_keys(keys);
    qsort(keys->items, keys->count, sizeof(*keys->items), compare_keys);
    return write_list(shard->list, keys, err);
}

static int read_list(const char *path, struct keys *keys, struct err *err)
{
    if (fs_read(path, SHARD_LIST_BYTES_MAX, &keys->text, err) != 0)
        return -1;
    for (size_t i = 0; i < keys->text.length; i++)
        keys->count += keys->text.data[i] == '\0';
    index_keys(keys);
    return 0;
}

static int get_keys(const struct shard *shard, const atomic_bool *stop,
                    struct keys *keys, struct err *err)
{
    if (fs_exists(shard->list))
        return read_list(shard->list, keys, err);
    return make_list(shard, stop, keys, err);
}

/* -- Links to them --------------------------------------------------------*/

struct linker {
    const struct shard *shard;
    bool is_file; /* the source */
    int target_fd;
    struct buf path;   /* of what is linked to */
    struct buf folder; /* the last one that was made, below the target */
};

static int make_folder(const struct linker *linker, const char *name,
                       struct err *err)
{
    if (fs_shared_mkdirat(linker->target_fd, name) == 0 || errno == EEXIST)
        return 0;
    return err_set_errno(err, ERR_FAILED, errno, "cannot make '%s/%s'",
                         linker->shard->target, name);
}

/* Keys of one folder mostly come one after another. */
static int make_folder_of(struct linker *linker, const char *key,
                          struct err *err)
{
    const char *slash = strrchr(key, '/');
    size_t length = slash != NULL ? (size_t)(slash - key) : 0;
    int result = 0;

    if (length == linker->folder.length &&
        strncmp(buf_text(&linker->folder), key, length) == 0)
        return 0;
    for (size_t i = 0; i <= length && length > 0 && result == 0; i++) {
        if (key[i] != '/')
            continue;
        buf_truncate(&linker->folder, 0);
        buf_add(&linker->folder, key, i);
        result = make_folder(linker, linker->folder.data, err);
    }
    if (length == 0)
        buf_truncate(&linker->folder, 0);
    return result;
}

static int link_key(struct linker *linker, const char *key, struct err *err)
{
    if (make_folder_of(linker, key, err) != 0)
        return -1;
    buf_truncate(&linker->path, 0);
    buf_add_string(&linker->path, linker->shard->source);
    if (!linker->is_file)
        buf_printf(&linker->path, "/%s", key);
    if (symlinkat(buf_text(&linker->path), linker->target_fd, key) == 0)
        return 0;
    return err_set_errno(err, ERR_FAILED, errno, "cannot link '%s/%s'",
                         linker->shard->target, key);
}

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int link_keys(const struct shard *shard, const atomic_bool *stop,
                     const struct keys *keys, struct err *err)
{
    struct linker linker = {
        .shard = shard,
        .is_file = !is_folder(shard->source),
        .target_fd = open(shard->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
    };
    int result = 0;

    if (linker.target_fd < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot open '%s'",
                             shard->target);
    for (size_t i = 0; i < keys->count && result == 0; i++) {
        if (matrix_shard((int64_t)i, shard->copies) == shard->copy)
            result = link_key(&linker, keys->items[i], err);
        if (result == 0)
            result = check_stop(stop, err);
    }
    close(linker.target_fd);
    buf_clear(&linker.path);
    buf_clear(&linker.folder);
    return result;
}

int shards_link(const struct shard *shard, const atomic_bool *stop,
                struct err *err)
{
    struct keys keys = {0};
    int result = get_keys(shard, stop, &keys, err);

    if (result == 0)
        result = fs_remove_tree(shard->target, err);
    if (result == 0)
        result = fs_make_shared_directories(shard->target, err);
    if (result == 0)
        result = link_keys(shard, stop, &keys, err);
    clear_keys(&keys);
    return result == 0 ? 0 : err_prefix(err, "channel '%s'", shard->channel);
}
