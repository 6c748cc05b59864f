/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of a checkpoint's text, written and read. One table names the
 * fields of a position, so that both sides agree. Reals are in hexadecimal,
 * because a resumed training must continue with the same bits.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "training/checkpoint/checkpoint_impl.h"

enum field_type { FIELD_COUNT, FIELD_REAL };

/* What a position is in the text; reals in hexadecimal, which is exact. The
 * first three tell one from another. */
static const struct field {
    const char *name;
    enum field_type type;
    size_t offset;
} fields[] = {
    {"epochs done", FIELD_COUNT, offsetof(struct position, epoch)},
    {"batches done", FIELD_COUNT, offsetof(struct position, batch)},
    {"steps done", FIELD_COUNT, offsetof(struct position, step)},
    {"loss_sum", FIELD_REAL, offsetof(struct position, loss_sum)},
    {"train_loss", FIELD_REAL, offsetof(struct position, train_loss)},
    {"val_loss", FIELD_REAL, offsetof(struct position, val_loss)},
    {"val_error", FIELD_REAL, offsetof(struct position, val_error)},
};

static const size_t PROGRESS_FIELDS = 3;

char *checkpoint_folder(const char *directory, uint64_t step)
{
    return mem_printf("%s/checkpoint-%016" PRIu64, directory, step);
}

char *checkpoint_shard_name(int rank, int size, const struct position *at)
{
    return mem_printf("shard-%04d-of-%04d-epoch-%" PRId64, rank, size,
                      at->epoch);
}

static void print_fields(const struct position *at, size_t count,
                         struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = (const char *)at + fields[i].offset;
        uint64_t number;
        double real_number;

        if (fields[i].type == FIELD_COUNT) {
            memcpy(&number, value, sizeof(number));
            buf_printf(out, "%s=%" PRIu64 "\n", fields[i].name, number);
        } else {
            memcpy(&real_number, value, sizeof(real_number));
            buf_printf(out, "%s=%a\n", fields[i].name, real_number);
        }
    }
}

void checkpoint_print_progress(const struct position *at, struct buf *out)
{
    print_fields(at, PROGRESS_FIELDS, out);
}

void checkpoint_print_shapes(const struct checkpoint_parts *parts,
                             struct buf *out)
{
    const struct params *params = parts->params;

    buf_printf(out, "bytes of a number=%zu\nmoments=%d\n", sizeof(real),
               parts->moment_count);
    buf_printf(out, "numbers of an array=%zu\n", params->count);
    for (size_t i = 0; i < params->tensor_count; i++) {
        const struct tensor *tensor = &params->tensors[i];

        buf_printf(out, "tensor %s=%zux%zu at %zu\n", tensor->name,
                   tensor->rows, tensor->columns, tensor->offset);
    }
}

void checkpoint_print_head(const struct checkpoint_parts *parts,
                           struct buf *out)
{
    buf_add_string(out, "smtrain checkpoint 2\n");
    buf_add_string(out, parts->settings);
    checkpoint_print_shapes(parts, out);
    print_fields(parts->position, ARRAY_LEN(fields), out);
}

void checkpoint_print_shard(const char *name, size_t bytes, uint32_t crc32,
                            struct buf *out)
{
    buf_printf(out, "shard=%s %zu %08" PRIx32 "\n", name, bytes, crc32);
}

void checkpoint_print_piece(int array, size_t first, size_t count,
                            struct buf *out)
{
    buf_printf(out, "piece=%d %zu %zu\n", array, first, count);
}

void checkpoint_print_crc32(uint32_t crc32, struct buf *out)
{
    buf_printf(out, "crc32=%08" PRIx32 "\n", crc32);
}

void checkpoint_print_text_bytes(size_t bytes, struct buf *out)
{
    buf_printf(out, "text bytes=%010zu\n", bytes);
}

const char *checkpoint_find_line(const char *lines, const char *name,
                                 size_t length)
{
    for (const char *line = lines; *line != '\0'; line = strchr(line, '\n') + 1)
        if (strncmp(line, name, length) == 0 && line[length] == '=')
            return line + length + 1;
    return NULL;
}

void checkpoint_read_position(const char *header, struct position *at)
{
    memset(at, 0, sizeof(*at));
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const char *text = checkpoint_find_line(header, fields[i].name,
                                                strlen(fields[i].name));
        char *value = (char *)at + fields[i].offset;
        double real_number;
        uint64_t number;

        if (text == NULL)
            continue;
        if (fields[i].type == FIELD_COUNT) {
            number = strtoull(text, NULL, 10);
            memcpy(value, &number, sizeof(number));
        } else {
            real_number = strtod(text, NULL);
            memcpy(value, &real_number, sizeof(real_number));
        }
    }
}
