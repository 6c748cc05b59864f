/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/checkpoint/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "training/checkpoint/checkpoint_impl.h"
#include "training/comm/comm.h"

/* What a rank thinks of a checkpoint: ERR_NONE, or why it is none. */
struct verdict {
    int kind;
    bool has_manifest;
    char text[ERR_TEXT_MAX];
};

size_t checkpoint_share(const struct params *params, const struct optim *optim,
                        int rank, int size,
                        struct checkpoint_piece pieces[CHECKPOINT_ARRAYS_MAX])
{
    size_t whole = params->count / (size_t)size;
    size_t rest = params->count % (size_t)size, own = (size_t)rank;
    size_t first = own * whole + (own < rest ? own : rest);
    size_t count = whole + (own < rest);

    for (int i = 0; i <= optim->moment_count; i++) {
        real *array = i == 0 ? params->values : optim->moments[i - 1];

        pieces[i] = (struct checkpoint_piece){i, first, count, array + first};
    }
    return (size_t)optim->moment_count + 1;
}

static int broadcast(const struct checkpoint_place *place, void *data,
                     size_t bytes, struct err *err)
{
    return place->size == 1 ? 0
                            : comm_broadcast(place->comm, data, bytes, 0, err);
}

/* *own becomes the first verdict that is against it, the same on all ranks. */
static int agree(const struct checkpoint_place *place, struct verdict *own,
                 struct err *err)
{
    struct verdict *all;
    int status;

    if (place->size == 1)
        return 0;
    all = mem_array((size_t)place->size, sizeof(*all));
    all[place->rank] = *own;
    status = comm_all_gather(place->comm, all, sizeof(*all), err);
    for (int i = 0; i < place->size && status == 0; i++) {
        *own = all[i];
        if (own->kind != ERR_NONE)
            break;
    }
    free(all);
    return status;
}

/* The ranks take the shards in turn. */
static int verify(const struct checkpoint *checkpoint,
                  const struct checkpoint_place *place, struct err *err)
{
    for (size_t i = (size_t)place->rank; i < checkpoint->shard_count;
         i += (size_t)place->size)
        if (checkpoint_verify_shard(&checkpoint->shards[i], err) != 0)
            return -1;
    return 0;
}

/* Opens the one of that step, or notes why not. `damage` is what is wrong with
 * the newest damaged one; one without a manifest was never finished. */
static int consider(const struct checkpoint_place *place, uint64_t step,
                    struct checkpoint **checkpoint, struct verdict *damage,
                    struct buf *notes, struct err *err)
{
    char *folder = checkpoint_folder(place->directory, step);
    struct verdict verdict = {.kind = ERR_NONE};
    struct err why;
    int status;

    *checkpoint = checkpoint_read_manifest(folder, &why);
    free(folder);
    verdict.has_manifest = *checkpoint != NULL || why.kind != ERR_NOT_FOUND;
    if (*checkpoint == NULL || verify(*checkpoint, place, &why) != 0) {
        verdict.kind = (int)why.kind;
        snprintf(verdict.text, sizeof(verdict.text), "%s", why.text);
    }
    status = agree(place, &verdict, err);
    if (status == 0 && verdict.kind == ERR_NONE)
        return 0;
    checkpoint_destroy(*checkpoint);
    *checkpoint = NULL;
    if (status == 0 && verdict.kind == ERR_FILE)
        return err_set(err, ERR_FAILED, "%s", verdict.text);
    if (status == 0)
        buf_printf(notes, "%s: checkpoint skipped\n", verdict.text);
    if (verdict.has_manifest && damage->kind == ERR_NONE)
        *damage = verdict;
    return status;
}

int checkpoint_open(const struct checkpoint_place *place,
                    struct checkpoint **checkpoint, struct buf *notes,
                    struct err *err)
{
    uint64_t *steps = NULL, step = 0;
    struct verdict damage = {.kind = ERR_NONE};
    int count = 0, status;

    *checkpoint = NULL;
    if (place->rank == 0)
        count = checkpoint_list(place->directory, &steps, err);
    if (count < 0)
        return -1;
    status = broadcast(place, &count, sizeof(count), err);
    for (int i = 0; status == 0 && i < count && *checkpoint == NULL; i++) {
        if (steps != NULL)
            step = steps[i];
        status = broadcast(place, &step, sizeof(step), err);
        if (status == 0)
            status = consider(place, step, checkpoint, &damage, notes, err);
    }
    free(steps);
    if (status == 0 && *checkpoint == NULL && damage.kind != ERR_NONE)
        status = err_set(err, ERR_FAILED,
                         "no checkpoint in '%s' is usable: %s; restore one, or "
                         "use an empty folder to start again",
                         place->directory, damage.text);
    return status;
}

void checkpoint_destroy(struct checkpoint *checkpoint)
{
    if (checkpoint == NULL)
        return;
    for (size_t i = 0; i < checkpoint->shard_count; i++)
        free(checkpoint->shards[i].path);
    free(checkpoint->shards);
    free(checkpoint->extents);
    free(checkpoint->folder);
    free(checkpoint->header);
    free(checkpoint);
}

const char *checkpoint_header(const struct checkpoint *checkpoint)
{
    return checkpoint->header;
}

const char *checkpoint_value(const struct checkpoint *checkpoint,
                             const char *name, size_t *length)
{
    const char *value =
        checkpoint_find_line(checkpoint->header, name, strlen(name));

    if (value != NULL)
        *length = strcspn(value, "\n");
    return value;
}

uint64_t checkpoint_number(const struct checkpoint *checkpoint,
                           const char *name)
{
    const char *value =
        checkpoint_find_line(checkpoint->header, name, strlen(name));

    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

static int check_lines(const struct checkpoint *checkpoint, const char *lines,
                       struct err *err)
{
    const char *path = checkpoint->folder;

    for (const char *line = lines; *line != '\0';) {
        size_t name = strcspn(line, "=");
        size_t length = strcspn(line, "\n");
        const char *theirs =
            checkpoint_find_line(checkpoint->header, line, name);
        size_t size = theirs != NULL ? strcspn(theirs, "\n") : 0;

        if (theirs == NULL)
            return err_set(err, ERR_FAILED,
                           "'%s' was saved without %.*s: use the same flags "
                           "and data, or another folder",
                           path, (int)length, line);
        if (size != length - name - 1 ||
            memcmp(theirs, line + name + 1, size) != 0)
            return err_set(err, ERR_FAILED,
                           "'%s' was saved with %.*s=%.*s, not %.*s: use the "
                           "same flags and data, or another folder",
                           path, (int)name, line, (int)size, theirs,
                           (int)length, line);
        line += length + 1;
    }
    return 0;
}

/* A shard that is read from; the last one stays open for the next extent. */
struct source {
    const struct checkpoint *checkpoint;
    size_t shard;
    int fd; /* -1: none yet */
};

static int read_numbers(struct source *source,
                        const struct checkpoint_extent *extent, size_t skip,
                        size_t count, real *out, struct err *err)
{
    const char *path = source->checkpoint->shards[extent->shard].path;

    if (source->fd < 0 || source->shard != extent->shard) {
        if (source->fd >= 0)
            close(source->fd);
        source->shard = extent->shard;
        source->fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (source->fd < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'", path);
    return checkpoint_read_at(source->fd, path, out, count * sizeof(real),
                              extent->at + skip * sizeof(real), err);
}

/* From each extent what it has of the piece. */
static int restore_piece(struct source *source,
                         const struct checkpoint_piece *piece, struct err *err)
{
    const struct checkpoint *checkpoint = source->checkpoint;
    size_t end = piece->first + piece->count;

    for (size_t i = 0; i < checkpoint->extent_count; i++) {
        const struct checkpoint_extent *extent = &checkpoint->extents[i];
        size_t extent_end = extent->first + extent->count;
        size_t from =
            piece->first > extent->first ? piece->first : extent->first;
        size_t to = end < extent_end ? end : extent_end;

        if (extent->array == piece->array && from < to &&
            read_numbers(source, extent, from - extent->first, to - from,
                         piece->data + (from - piece->first), err) != 0)
            return -1;
    }
    return 0;
}

int checkpoint_restore(const struct checkpoint *checkpoint,
                       const struct checkpoint_parts *parts, struct err *err)
{
    struct source source = {.checkpoint = checkpoint, .fd = -1};
    struct buf shapes = BUF_INIT;
    int status;

    checkpoint_print_shapes(parts, &shapes);
    status = check_lines(checkpoint, parts->required, err);
    if (status == 0)
        status = check_lines(checkpoint, buf_text(&shapes), err);
    buf_clear(&shapes);
    for (size_t i = 0; i < parts->piece_count && status == 0; i++)
        status = restore_piece(&source, &parts->pieces[i], err);
    if (source.fd >= 0)
        close(source.fd);
    if (status == 0)
        checkpoint_read_position(checkpoint->header, parts->position);
    return status;
}
