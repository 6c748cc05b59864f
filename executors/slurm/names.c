/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/count.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/slurm/core.h"

/*
 * Numbers are given out from blocks, the end of which is written down before
 * the first of them is used: none comes twice, also where two executors of a
 * run share the folder, or an engine was killed.
 */

enum { BLOCK = 1000, NUMBER_MAX_BYTES = 64, DAY_MS = 86400000 };

static bool is_token(const char *text)
{
    return strspn(text, "0123456789abcdef") == SLURM_TOKEN_SIZE - 1 &&
           (text[SLURM_TOKEN_SIZE - 1] == '\0' ||
            text[SLURM_TOKEN_SIZE - 1] == '\n');
}

static int read_token(struct slurm_names *names, const char *path,
                      struct err *err)
{
    struct buf text = BUF_INIT;
    int result = fs_read(path, NUMBER_MAX_BYTES, &text, err);

    if (result == 0 && !is_token(buf_text(&text)))
        result = err_set(
            err, ERR_FAILED,
            "'%s' does not contain a token of eight hexadecimal digits", path);
    if (result == 0)
        snprintf(names->token, sizeof(names->token), "%.8s", buf_text(&text));
    buf_clear(&text);
    return result;
}

static int make_token(struct slurm_names *names, const char *path,
                      struct err *err)
{
    uint32_t bits;
    char text[NUMBER_MAX_BYTES];

    if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot get a random number");
    snprintf(text, sizeof(text), "%08" PRIx32 "\n", bits);
    if (fs_write_atomic(path, text, strlen(text), fs_shared_mode(path, 0600),
                        err) != 0)
        return -1;
    return read_token(names, path, err);
}

int slurm_names_open(struct slurm_names *names, const char *state_directory,
                     struct err *err)
{
    char *folder = fs_join(state_directory, "slurm");
    char *path = fs_join(folder, "token");
    char *healthy = fs_join(folder, "healthy");
    int64_t now_ms = clock_wall_ms(), made_ms;
    struct stat status = {.st_mtime = now_ms / 1000};
    int result = fs_make_shared_directories(healthy, err);

    names->folder = fs_absolute(folder);
    names->is_old = fs_exists(path);
    if (result == 0)
        result = names->is_old ? read_token(names, path, err)
                               : make_token(names, path, err);
    stat(path, &status);
    made_ms = count_times(status.st_mtime, 1000);
    names->since_ms =
        count_subtract(made_ms < now_ms ? made_ms : now_ms, DAY_MS);
    snprintf(names->prefix, sizeof(names->prefix), "smt-%s-", names->token);
    free(healthy);
    free(path);
    free(folder);
    return result;
}

void slurm_names_clear(struct slurm_names *names)
{
    free(names->folder);
}

/* The next block's first number; what cannot be read or written down is made up
 * for by the clock, which no earlier engine can have reached. */
static int64_t take_block(const struct slurm_names *names)
{
    char *path = fs_join(names->folder, "numbers");
    int fd = fs_shared_open(path, O_RDWR, 0600);
    char text[NUMBER_MAX_BYTES] = "";
    int64_t first;
    ssize_t got;
    int length;

    free(path);
    if (fd < 0)
        return clock_wall_ms();
    flock(fd, LOCK_EX);
    got = pread(fd, text, sizeof(text) - 1, 0);
    first = strtoll(text, NULL, 10);
    if (first < 1 || !count_is_sound(first))
        first = 1;
    length = snprintf(text, sizeof(text), "%" PRId64 "\n", first + BLOCK);
    if (got < 0 || pwrite(fd, text, (size_t)length, 0) != length)
        first = clock_wall_ms();
    close(fd);
    return first;
}

void slurm_new_name(struct slurm *slurm, char letter,
                    char name[SLURM_NAME_SIZE])
{
    struct slurm_names *names = &slurm->names;

    if (names->next == names->end) {
        names->next = take_block(names);
        names->end = names->next + BLOCK;
    }
    snprintf(name, SLURM_NAME_SIZE, "%.20s%c%" PRId64, names->prefix, letter,
             names->next++);
}
