/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

/*
 * A file is a header of text lines, an empty line, the parameters and the
 * moments as they lie in memory, and the CRC-32 of all before it. The header
 * says what must be the same for the numbers to have their meaning (the type
 * of a number, the settings, the tensors' shapes) and how far the run is, its
 * sums as hexadecimal floats, which are exact.
 *
 * Writing a file and then removing all but the two newest is safe to interrupt
 * anywhere: what a killed run leaves is more files, never fewer.
 */

enum { KEEP = 2, NAME_DIGITS = 16 };

static const char PREFIX[] = "checkpoint-";
static const char MAGIC[] = "smtrain checkpoint 1\n";
static const size_t MAX_BYTES = (size_t)1 << 36;

struct checkpoint {
    char *path;
    struct buf bytes;     /* the file without its checksum */
    char *header;         /* without the magic line and the empty line */
    size_t payload_start; /* in bytes */
};

/* What must agree, beside the settings. */
static void print_shapes(const struct checkpoint_parts *parts, struct buf *out)
{
    const struct params *params = parts->params;

    buf_printf(out, "bytes of a number=%zu\nmoments=%d\n", sizeof(real),
               parts->optim->moment_count);
    for (size_t i = 0; i < params->tensor_count; i++)
        buf_printf(out, "tensor %s=%zux%zu\n", params->tensors[i].name,
                   params->tensors[i].rows, params->tensors[i].columns);
}

static void print_position(const struct position *at, struct buf *out)
{
    buf_printf(out,
               "epochs done=%" PRId64 "\nbatches done=%" PRId64
               "\nsteps done=%" PRIu64
               "\nloss_sum=%a\ntrain_loss=%a\nval_loss=%a\nval_error=%a\n",
               at->epoch, at->batch, at->step, at->loss_sum, at->train_loss,
               at->val_loss, at->val_error);
}

/* The value behind "name=" at the start of a line, or NULL. */
static const char *find_line(const char *header, const char *name,
                             size_t length)
{
    for (const char *line = header; *line != '\0';
         line = strchr(line, '\n') + 1)
        if (strncmp(line, name, length) == 0 && line[length] == '=')
            return line + length + 1;
    return NULL;
}

static double read_real(const char *header, const char *name)
{
    const char *value = find_line(header, name, strlen(name));

    return value != NULL ? strtod(value, NULL) : 0;
}

static uint64_t read_count(const char *header, const char *name)
{
    const char *value = find_line(header, name, strlen(name));

    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

/* A checkpoint, or a temporary of one that a killed run left. */
static int is_ours(const struct dirent *entry)
{
    const char *name = entry->d_name;

    return strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
           strspn(name + strlen(PREFIX), "0123456789") == NAME_DIGITS;
}

static bool is_whole(const char *name)
{
    return strlen(name) == strlen(PREFIX) + NAME_DIGITS;
}

static int newest_first(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*b)->d_name, (*a)->d_name);
}

/* How many files of checkpoints there are, newest first; -1 with err. */
static int list(const char *directory, struct dirent ***entries,
                struct err *err)
{
    int count = scandir(directory, entries, is_ours, newest_first);

    if (count < 0 && errno == ENOENT) {
        *entries = NULL;
        return 0;
    }
    if (count < 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'", directory);
    return count;
}

static void free_list(struct dirent **entries, int count)
{
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
}

static int remove_old(const char *directory, struct err *err)
{
    struct dirent **entries;
    int count = list(directory, &entries, err);
    int kept = 0, status = count < 0 ? -1 : 0;

    for (int i = 0; i < count; i++) {
        char *path;

        if (is_whole(entries[i]->d_name) && kept++ < KEEP)
            continue;
        path = fs_join(directory, entries[i]->d_name);
        if (fs_remove_tree(path, err) != 0)
            status = -1;
        free(path);
    }
    free_list(entries, count);
    return status;
}

int checkpoint_save(const char *directory, const struct checkpoint_parts *parts,
                    struct err *err)
{
    size_t payload = parts->params->count * sizeof(real);
    struct buf out = BUF_INIT;
    uint32_t checksum;
    char *name, *path;
    int status;

    buf_add_string(&out, MAGIC);
    buf_add_string(&out, parts->settings);
    print_shapes(parts, &out);
    print_position(parts->position, &out);
    buf_add_char(&out, '\n');
    buf_add(&out, parts->params->values, payload);
    for (int i = 0; i < parts->optim->moment_count; i++)
        buf_add(&out, parts->optim->moments[i], payload);
    checksum = (uint32_t)crc32_z(0, (const Bytef *)out.data, out.length);
    buf_add(&out, &checksum, sizeof(checksum));

    name =
        mem_printf("%s%0*" PRIu64, PREFIX, NAME_DIGITS, parts->position->step);
    path = fs_join(directory, name);
    status = fs_write_atomic(path, out.data, out.length, 0600, err);
    if (status == 0)
        status = remove_old(directory, err);
    free(path);
    free(name);
    buf_clear(&out);
    return status;
}

/* Reads the file and checks what can be checked without knowing the run. */
static int read_intact(struct checkpoint *checkpoint, struct err *err)
{
    struct buf *bytes = &checkpoint->bytes;
    const char *end;
    uint32_t checksum;

    if (fs_read(checkpoint->path, MAX_BYTES, bytes, err) != 0)
        return -1;
    if (bytes->length < sizeof(checksum))
        return err_set(err, ERR_FAILED, "'%s' is cut short", checkpoint->path);
    memcpy(&checksum, bytes->data + bytes->length - sizeof(checksum),
           sizeof(checksum));
    buf_truncate(bytes, bytes->length - sizeof(checksum));
    if (crc32_z(0, (const Bytef *)bytes->data, bytes->length) != checksum)
        return err_set(err, ERR_FAILED, "'%s' is damaged", checkpoint->path);
    end = memmem(bytes->data, bytes->length, "\n\n", 2);
    if (end == NULL || strncmp(bytes->data, MAGIC, strlen(MAGIC)) != 0)
        return err_set(err, ERR_FAILED, "'%s' is of another version",
                       checkpoint->path);
    checkpoint->payload_start = (size_t)(end - bytes->data) + 2;
    checkpoint->header =
        mem_copy_bytes(bytes->data + strlen(MAGIC),
                       checkpoint->payload_start - strlen(MAGIC) - 1);
    return 0;
}

int checkpoint_open(const char *directory, struct checkpoint **checkpoint,
                    struct buf *notes, struct err *err)
{
    struct dirent **entries;
    int count = list(directory, &entries, err);

    *checkpoint = NULL;
    for (int i = 0; i < count && *checkpoint == NULL; i++) {
        struct checkpoint *candidate;
        struct err why;

        if (!is_whole(entries[i]->d_name))
            continue;
        candidate = mem_zero(sizeof(*candidate));
        candidate->path = fs_join(directory, entries[i]->d_name);
        if (read_intact(candidate, &why) == 0) {
            *checkpoint = candidate;
        } else {
            buf_printf(notes, "%s: passed over\n", why.text);
            checkpoint_destroy(candidate);
        }
    }
    if (count >= 0)
        free_list(entries, count);
    return count < 0 ? -1 : 0;
}

void checkpoint_destroy(struct checkpoint *checkpoint)
{
    if (checkpoint == NULL)
        return;
    free(checkpoint->path);
    free(checkpoint->header);
    buf_clear(&checkpoint->bytes);
    free(checkpoint);
}

const char *checkpoint_header(const struct checkpoint *checkpoint)
{
    return checkpoint->header;
}

static int check_lines(const struct checkpoint *checkpoint, const char *lines,
                       struct err *err)
{
    for (const char *line = lines; *line != '\0';) {
        size_t name = strcspn(line, "=");
        size_t length = strcspn(line, "\n");
        const char *theirs = find_line(checkpoint->header, line, name);
        size_t size = theirs != NULL ? strcspn(theirs, "\n") : 0;

        if (theirs == NULL)
            return err_set(err, ERR_FAILED, "'%s' was made without %.*s",
                           checkpoint->path, (int)length, line);
        if (size != length - name - 1 ||
            memcmp(theirs, line + name + 1, size) != 0)
            return err_set(err, ERR_FAILED,
                           "'%s' was made with %.*s=%.*s, "
                           "not %.*s",
                           checkpoint->path, (int)name, line, (int)size, theirs,
                           (int)length, line);
        line += length + 1;
    }
    return 0;
}

int checkpoint_restore(const struct checkpoint *checkpoint,
                       const struct checkpoint_parts *parts, struct err *err)
{
    const char *header = checkpoint->header;
    const struct optim *optim = parts->optim;
    size_t payload = parts->params->count * sizeof(real);
    const char *from = checkpoint->bytes.data + checkpoint->payload_start;
    struct buf shapes = BUF_INIT;
    int status;

    print_shapes(parts, &shapes);
    status = check_lines(checkpoint, parts->required, err);
    if (status == 0)
        status = check_lines(checkpoint, buf_text(&shapes), err);
    buf_clear(&shapes);
    if (status != 0)
        return -1;
    if (checkpoint->bytes.length - checkpoint->payload_start !=
        payload * (size_t)(1 + optim->moment_count))
        return err_set(err, ERR_FAILED,
                       "'%s' has another length than its "
                       "tensors",
                       checkpoint->path);
    memcpy(parts->params->values, from, payload);
    for (int i = 0; i < optim->moment_count; i++)
        memcpy(optim->moments[i], from + payload * (size_t)(i + 1), payload);
    *parts->position = (struct position){
        .epoch = (int64_t)read_count(header, "epochs done"),
        .batch = (int64_t)read_count(header, "batches done"),
        .step = read_count(header, "steps done"),
        .loss_sum = read_real(header, "loss_sum"),
        .train_loss = read_real(header, "train_loss"),
        .val_loss = read_real(header, "val_loss"),
        .val_error = read_real(header, "val_error"),
    };
    return 0;
}
