/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/weights/weight_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "training/util/json_file.h"
#include "training/weights/safetensors.h"

enum { INDEX_MAX_BYTES = 1 << 24, SHARDS_MAX = 4096, SHARD_NAME_MAX = 255 };

static const char WHOLE[] = "model.safetensors";
static const char INDEX[] = "model.safetensors.index.json";

struct entry {
    const struct weight *weight;
    const struct safetensors *file;
};

struct weight_files {
    struct safetensors **files;
    char **names; /* of the files */
    size_t file_count, file_capacity, name_capacity;
    struct entry *entries; /* by the names of the weights */
    size_t count;
};

static int compare_entries(const void *one, const void *other)
{
    const struct entry *a = one, *b = other;

    return strcmp(a->weight->name, b->weight->name);
}

/* The file of that name in the folder, opened once. */
static struct safetensors *shard_of(struct weight_files *files,
                                    const char *folder, const char *name,
                                    struct err *err)
{
    struct safetensors *file;
    char *path;

    for (size_t i = 0; i < files->file_count; i++)
        if (strcmp(files->names[i], name) == 0)
            return files->files[i];
    if (files->file_count == SHARDS_MAX || *name == '\0' || *name == '.' ||
        strchr(name, '/') != NULL || strlen(name) > SHARD_NAME_MAX) {
        err_set(err, ERR_FILE,
                files->file_count == SHARDS_MAX
                    ? "it names more than 4096 files"
                    : "it names a file that is not in the folder");
        return NULL;
    }
    path = fs_join(folder, name);
    file = safetensors_open(path, err);
    free(path);
    if (file == NULL)
        return NULL;
    files->files =
        mem_grow(files->files, files->file_count, &files->file_capacity,
                 sizeof(struct safetensors *));
    files->names = mem_grow(files->names, files->file_count,
                            &files->name_capacity, sizeof(char *));
    files->files[files->file_count] = file;
    files->names[files->file_count++] = mem_copy_string(name);
    return file;
}

static int take_whole(struct weight_files *files, const char *folder,
                      struct err *err)
{
    const struct safetensors *file = shard_of(files, folder, WHOLE, err);
    const struct weight *weights;

    if (file == NULL)
        return -1;
    weights = safetensors_weights(file, &files->count);
    files->entries = mem_array(files->count + 1, sizeof(*files->entries));
    for (size_t i = 0; i < files->count; i++)
        files->entries[i] = (struct entry){&weights[i], file};
    return 0;
}

static int take_entry(struct weight_files *files, const char *folder,
                      const char *name, const char *shard, struct err *err)
{
    struct entry *entry = &files->entries[files->count];

    if (shard == NULL)
        return err_set(err, ERR_FILE, "it names no file for a tensor");
    entry->file = shard_of(files, folder, shard, err);
    if (entry->file == NULL)
        return -1;
    entry->weight = safetensors_find(entry->file, name);
    if (entry->weight == NULL)
        return err_set(err, ERR_FILE,
                       "it has a tensor in '%s' that is not in that file",
                       shard);
    files->count++;
    return 0;
}

static int take_map(struct weight_files *files, const char *folder,
                    json_t *index, struct err *err)
{
    json_t *map = json_object_get(index, "weight_map"), *shard;
    const char *name;
    int status = 0;

    if (!json_is_object(map))
        return err_set(err, ERR_FILE, "it has no 'weight_map'");
    files->entries =
        mem_array(json_object_size(map) + 1, sizeof(*files->entries));
    json_object_foreach(map, name, shard)
    {
        if (status == 0)
            status =
                take_entry(files, folder, name, json_string_value(shard), err);
    }
    qsort(files->entries, files->count, sizeof(*files->entries),
          compare_entries);
    return status;
}

static int take_shards(struct weight_files *files, const char *folder,
                       const char *path, struct err *err)
{
    json_t *index = json_file_read(path, INDEX_MAX_BYTES, err);
    int status;

    if (index == NULL)
        return -1;
    status = take_map(files, folder, index, err);
    json_decref(index);
    return status == 0 ? 0 : err_prefix(err, "'%s'", path);
}

struct weight_files *weight_files_open(const char *folder, struct err *err)
{
    struct weight_files *files = mem_zero(sizeof(*files));
    char *whole = fs_join(folder, WHOLE), *index = fs_join(folder, INDEX);
    int status = -1;

    if (fs_exists(whole))
        status = take_whole(files, folder, err);
    else if (fs_exists(index))
        status = take_shards(files, folder, index, err);
    else
        err_set(err, ERR_NOT_FOUND, "no %s and no %s in '%s'", WHOLE, INDEX,
                folder);
    free(whole);
    free(index);
    if (status == 0)
        return files;
    weight_files_close(files);
    return NULL;
}

void weight_files_close(struct weight_files *files)
{
    if (files == NULL)
        return;
    for (size_t i = 0; i < files->file_count; i++) {
        safetensors_close(files->files[i]);
        free(files->names[i]);
    }
    free(files->files);
    free(files->names);
    free(files->entries);
    free(files);
}

size_t weight_files_count(const struct weight_files *files)
{
    return files->count;
}

const struct weight *weight_files_at(const struct weight_files *files,
                                     size_t index)
{
    return files->entries[index].weight;
}

static const struct entry *find(const struct weight_files *files,
                                const struct weight *wanted)
{
    const struct entry key = {.weight = wanted};

    return bsearch(&key, files->entries, files->count, sizeof(*files->entries),
                   compare_entries);
}

const struct weight *weight_files_find(const struct weight_files *files,
                                       const char *name)
{
    char *copy = mem_copy_string(name);
    const struct weight wanted = {.name = copy};
    const struct entry *entry = find(files, &wanted);

    free(copy);
    return entry != NULL ? entry->weight : NULL;
}

int weight_files_read(const struct weight_files *files,
                      const struct weight *weight, uint64_t first, size_t count,
                      float *numbers, struct err *err)
{
    const struct entry *entry = find(files, weight);

    if (entry == NULL)
        return err_set(err, ERR_NOT_FOUND, "no tensor '%s'", weight->name);
    if (!dtype_is_float(weight->dtype))
        return err_set(err, ERR_FILE,
                       "tensor '%s' is of type %s, not F32, F16 or BF16",
                       weight->name, dtype_name(weight->dtype));
    return safetensors_read(entry->file, weight, first, count, numbers, err);
}

/* Of a source the weights from `first` on. */
struct part {
    const struct weight_source *source;
    size_t first;
};

static void take_of_part(void *user, size_t index, uint64_t first, size_t count,
                         float *numbers)
{
    const struct part *part = user;

    part->source->take(part->source->user, part->first + index, first, count,
                       numbers);
}

static uint64_t bytes_of(const struct weight *weight)
{
    return weight->count * dtype_bytes(weight->dtype);
}

/* How many of the weights go into one file. */
static size_t fill(const struct weight *weights, size_t count,
                   uint64_t shard_bytes)
{
    uint64_t bytes = 0;
    size_t taken = 0;

    for (; taken < count; taken++) {
        bytes += bytes_of(&weights[taken]);
        if (taken > 0 && shard_bytes > 0 && bytes > shard_bytes)
            break;
    }
    return taken;
}

static int write_index(const char *folder, json_t *map, uint64_t total,
                       struct err *err)
{
    return json_file_write(folder, INDEX,
                           json_pack("{s:{s:I}, s:O}", "metadata", "total_size",
                                     (json_int_t)total, "weight_map", map),
                           err);
}

static size_t count_shards(const struct weight *weights, size_t count,
                           uint64_t shard_bytes)
{
    size_t shards = 0;

    for (size_t at = 0; at < count; shards++)
        at += fill(weights + at, count - at, shard_bytes);
    return shards;
}

static int write_shards(const char *folder, struct weight *weights,
                        size_t count, uint64_t shard_bytes,
                        const struct weight_source *source, struct err *err)
{
    size_t shards = count_shards(weights, count, shard_bytes), shard = 0;
    json_t *map = json_object();
    uint64_t total = 0;
    int status = 0;

    for (size_t at = 0, taken; at < count && status == 0; at += taken) {
        struct part part = {source, at};
        const struct weight_source some = {take_of_part, &part};
        char *name =
            mem_printf("model-%05zu-of-%05zu.safetensors", ++shard, shards);
        char *path = fs_join(folder, name);

        taken = fill(weights + at, count - at, shard_bytes);
        status = safetensors_write(path, weights + at, taken, &some, err);
        for (size_t i = at; i < at + taken; i++) {
            json_object_set_new(map, weights[i].name, json_string(name));
            total += weights[i].bytes;
        }
        free(path);
        free(name);
    }
    if (status == 0)
        status = write_index(folder, map, total, err);
    json_decref(map);
    return status;
}

int weight_files_write(const char *folder, struct weight *weights, size_t count,
                       uint64_t shard_bytes, const struct weight_source *source,
                       struct err *err)
{
    char *path;
    int status;

    if (fill(weights, count, shard_bytes) < count)
        return write_shards(folder, weights, count, shard_bytes, source, err);
    path = fs_join(folder, WHOLE);
    status = safetensors_write(path, weights, count, source, err);
    free(path);
    return status;
}
