/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "training/checkpoint/checkpoint_impl.h"
#include "training/comm/comm.h"

/*
 * Ranks find out about each other's shards through the directory, which they
 * share anyway: the thread of rank 0 waits until it sees all of them, and so
 * the communicator stays training's. Whoever waits for a whole checkpoint asks
 * the others over and over, and so finds out when one of them is gone.
 */

enum stage { STAGE_IDLE, STAGE_WRITING, STAGE_WRITTEN, STAGE_FAILED };

enum { LOOK_MS = 20, UNSEEN_MS = 60 * 1000 };

static const size_t BLOCK_BYTES = (size_t)1 << 20;

struct checkpoint_saver {
    const struct checkpoint_place *place;
    const struct checkpoint_parts *parts;
    real *copy; /* of the pieces, one after the other */
    size_t copy_count;
    struct buf head;    /* of the manifest */
    struct position at; /* of the copy */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    enum stage stage;       /* WRITTEN: its shard lasts; IDLE: all of it */
    int64_t all_written_ms; /* when it was known that all shards last; 0 */
    bool is_cancelled;
    struct err err; /* where it failed */
};

static size_t count_numbers(const struct checkpoint_parts *parts)
{
    size_t count = 0;

    for (size_t i = 0; i < parts->piece_count; i++)
        count += parts->pieces[i].count;
    return count;
}

struct checkpoint_saver *checkpoint_saver_create(
    const struct checkpoint_place *place, const struct checkpoint_parts *parts,
    struct err *err)
{
    struct checkpoint_saver *saver = mem_zero(sizeof(*saver));
    pthread_condattr_t attributes;

    saver->place = place;
    saver->parts = parts;
    saver->copy_count = count_numbers(parts);
    pthread_mutex_init(&saver->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&saver->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    saver->copy = real_array(saver->copy_count, err);
    if (saver->copy == NULL) {
        err_prefix(err, "cannot allocate the copy for checkpoints");
        goto fail;
    }
    if (place->rank == 0 &&
        checkpoint_remove_unfinished(place->directory, parts->position->step,
                                     err) != 0)
        goto fail;
    if (place->size > 1 && comm_barrier(place->comm, err) != 0)
        goto fail;
    return saver;
fail:
    checkpoint_saver_destroy(saver);
    return NULL;
}

static void enter_stage(struct checkpoint_saver *saver, enum stage stage)
{
    pthread_mutex_lock(&saver->lock);
    saver->stage = stage;
    pthread_cond_broadcast(&saver->changed);
    pthread_mutex_unlock(&saver->lock);
}

/* Under the lock; until something changes, or a little. */
static void wait_a_little(struct checkpoint_saver *saver)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&saver->changed, &saver->lock, &until);
}

/* A block's checksum is taken while the block is in the cache. */
static int write_numbers(const struct checkpoint_saver *saver, int fd,
                         uLong *sum)
{
    const char *bytes = (const char *)saver->copy;
    size_t left = saver->copy_count * sizeof(real);

    while (left > 0) {
        size_t size = left < BLOCK_BYTES ? left : BLOCK_BYTES;

        *sum = crc32_z(*sum, (const Bytef *)bytes, size);
        if (fs_write_all(fd, bytes, size) != 0)
            return -1;
        bytes += size;
        left -= size;
    }
    return 0;
}

static int write_text(const struct checkpoint_saver *saver, int fd, uLong sum)
{
    const struct checkpoint_parts *parts = saver->parts;
    struct buf text = BUF_INIT;
    int status;

    checkpoint_print_progress(&saver->at, &text);
    for (size_t i = 0; i < parts->piece_count; i++)
        checkpoint_print_piece(parts->pieces[i].array, parts->pieces[i].first,
                               parts->pieces[i].count, &text);
    checkpoint_print_text_bytes(text.length, &text);
    sum = crc32_z(sum, (const Bytef *)text.data, text.length);
    checkpoint_print_crc32((uint32_t)sum, &text);
    status = fs_write_all(fd, text.data, text.length);
    buf_clear(&text);
    return status;
}

/* Not fs_write_atomic: that wants all bytes in one place. */
static int write_file(const struct checkpoint_saver *saver, const char *path,
                      struct err *err)
{
    char *temporary = mem_printf("%s.tmp", path);
    int fd = fs_shared_open(temporary, O_WRONLY | O_TRUNC, 0600);
    uLong sum = 0;
    bool is_written = fd >= 0 && write_numbers(saver, fd, &sum) == 0 &&
                      write_text(saver, fd, sum) == 0;
    int status = fs_put_in_place(fd, temporary, path, is_written, err);

    free(temporary);
    return status;
}

static char *shard_path(const struct checkpoint_saver *saver, int rank)
{
    char *folder = checkpoint_folder(saver->place->directory, saver->at.step);
    char *name = checkpoint_shard_name(rank, saver->place->size, &saver->at);
    char *path = fs_join(folder, name);

    free(name);
    free(folder);
    return path;
}

static int write_shard(const struct checkpoint_saver *saver, struct err *err)
{
    char *folder = checkpoint_folder(saver->place->directory, saver->at.step);
    char *path = shard_path(saver, saver->place->rank);
    int status = fs_make_trial_directories(folder, err);

    if (status == 0)
        status = write_file(saver, path, err);
    if (status != 0)
        rmdir(folder); /* where nothing is in it */
    free(path);
    free(folder);
    return status;
}

/* Whether to look again for a shard that is not there. */
static int await_more(struct checkpoint_saver *saver, const char *path,
                      struct err *err)
{
    int status = 0;

    pthread_mutex_lock(&saver->lock);
    if (saver->is_cancelled)
        status =
            err_set(err, ERR_FAILED, "stopped before '%s' was there", path);
    else if (saver->all_written_ms > 0 &&
             clock_monotonic_ms() - saver->all_written_ms > UNSEEN_MS)
        status = err_set(err, ERR_FAILED,
                         "'%s' was written, but the host of rank 0 cannot see "
                         "it: use a folder that all hosts share",
                         path);
    else
        wait_a_little(saver);
    pthread_mutex_unlock(&saver->lock);
    return status;
}

/* Adds a rank's shard to the manifest, once it is there. */
static int add_shard(struct checkpoint_saver *saver, int rank,
                     struct buf *manifest, struct err *err)
{
    char *path = shard_path(saver, rank);
    struct buf progress = BUF_INIT, text = BUF_INIT;
    size_t bytes;
    uint32_t crc32;
    int status = 0;

    checkpoint_print_progress(&saver->at, &progress);
    while (status == 0) {
        buf_truncate(&text, 0);
        if (checkpoint_read_tail(path, &text, &bytes, &crc32, NULL) == 0 &&
            strncmp(text.data, progress.data, progress.length) == 0)
            break;
        status = await_more(saver, path, err);
    }
    if (status == 0) {
        checkpoint_print_shard(strrchr(path, '/') + 1, bytes, crc32, manifest);
        buf_add_string(manifest, text.data + progress.length);
    }
    buf_clear(&progress);
    buf_clear(&text);
    free(path);
    return status;
}

/* What rank 0 does besides. */
static int conclude(struct checkpoint_saver *saver, struct err *err)
{
    const struct checkpoint_place *place = saver->place;
    char *folder = checkpoint_folder(place->directory, saver->at.step);
    char *path = fs_join(folder, "manifest");
    struct buf *manifest = &saver->head;
    int status = 0;

    for (int rank = 0; rank < place->size && status == 0; rank++)
        status = add_shard(saver, rank, manifest, err);
    if (status == 0) {
        uLong sum = crc32_z(0, (const Bytef *)manifest->data, manifest->length);

        checkpoint_print_crc32((uint32_t)sum, manifest);
        fs_sync_directory_of(path);
        status = fs_write_atomic(path, manifest->data, manifest->length,
                                 fs_shared_mode(path, 0600), err);
    }
    if (status == 0) {
        fs_sync_directory_of(folder);
        status = checkpoint_remove_old(place->directory, &saver->at,
                                       place->size, err);
    }
    free(path);
    free(folder);
    return status;
}

static void *run_writer(void *user)
{
    struct checkpoint_saver *saver = user;
    struct err err;
    int status = write_shard(saver, &err);

    if (status == 0 && saver->place->rank == 0) {
        enter_stage(saver, STAGE_WRITTEN);
        status = conclude(saver, &err);
    }
    if (status != 0)
        saver->err = err;
    enter_stage(saver, status == 0 ? STAGE_IDLE : STAGE_FAILED);
    return NULL;
}

/* Signals are for the thread that trains. */
static int start_writer(struct checkpoint_saver *saver, struct err *err)
{
    sigset_t all, before;
    int why;

    saver->stage = STAGE_WRITING;
    saver->all_written_ms = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    why = pthread_create(&saver->thread, NULL, run_writer, saver);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (why != 0) {
        saver->stage = STAGE_IDLE;
        return err_set_errno(err, ERR_FAILED, why,
                             "cannot start the thread that saves checkpoints");
    }
    saver->has_thread = true;
    return 0;
}

static void join_writer(struct checkpoint_saver *saver)
{
    if (saver->has_thread)
        pthread_join(saver->thread, NULL);
    saver->has_thread = false;
}

int checkpoint_check(struct checkpoint_saver *saver, struct err *err)
{
    int status = 0;

    pthread_mutex_lock(&saver->lock);
    if (saver->stage == STAGE_FAILED) {
        status = -1;
        if (err != NULL)
            *err = saver->err;
    }
    pthread_mutex_unlock(&saver->lock);
    return status;
}

/* Where this rank is; waits a little where it is not done. */
static enum stage look(struct checkpoint_saver *saver, bool all_written)
{
    enum stage stage;

    pthread_mutex_lock(&saver->lock);
    if (all_written && saver->all_written_ms == 0)
        saver->all_written_ms = clock_monotonic_ms();
    if (saver->stage == STAGE_WRITING || saver->stage == STAGE_WRITTEN)
        wait_a_little(saver);
    stage = saver->stage;
    pthread_mutex_unlock(&saver->lock);
    return stage;
}

int checkpoint_finish(struct checkpoint_saver *saver, struct err *err)
{
    const struct checkpoint_place *place = saver->place;
    float done[2] = {0, 0}; /* how many ranks: shard written, all done */

    while (done[1] < (float)place->size) {
        enum stage stage = look(saver, done[0] == (float)place->size);

        if (checkpoint_check(saver, err) != 0)
            return -1;
        done[0] = stage != STAGE_WRITING;
        done[1] = stage == STAGE_IDLE;
        if (place->size > 1 && comm_all_reduce(place->comm, done, 2, err) != 0)
            return -1;
    }
    join_writer(saver);
    return 0;
}

int checkpoint_save(struct checkpoint_saver *saver, struct err *err)
{
    const struct checkpoint_parts *parts = saver->parts;
    real *to = saver->copy;

    if (checkpoint_finish(saver, err) != 0)
        return -1;
    for (size_t i = 0; i < parts->piece_count; i++) {
        const struct checkpoint_piece *piece = &parts->pieces[i];

        memcpy(to, piece->data, piece->count * sizeof(real));
        to += piece->count;
    }
    saver->at = *parts->position;
    buf_truncate(&saver->head, 0);
    checkpoint_print_head(parts, &saver->head);
    buf_printf(&saver->head, "world size=%d\n", saver->place->size);
    return start_writer(saver, err);
}

void checkpoint_saver_destroy(struct checkpoint_saver *saver)
{
    if (saver == NULL)
        return;
    pthread_mutex_lock(&saver->lock);
    saver->is_cancelled = true;
    pthread_cond_broadcast(&saver->changed);
    pthread_mutex_unlock(&saver->lock);
    join_writer(saver);
    pthread_cond_destroy(&saver->changed);
    pthread_mutex_destroy(&saver->lock);
    buf_clear(&saver->head);
    free(saver->copy);
    free(saver);
}
