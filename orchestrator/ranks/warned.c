/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ranks/warned.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

enum { FILE_MAX_BYTES = 64, MODE = 0644 };

static char *path_of(const char *directory, int rank)
{
    return mem_printf("%s/rank-%d.end", directory, rank);
}

int rank_end_write(const char *directory, const struct rank_end *end,
                   struct err *err)
{
    char *path = path_of(directory, end->rank);
    char text[FILE_MAX_BYTES];
    int length = snprintf(text, sizeof(text), "%d %" PRId64 "\n", end->status,
                          end->time_ms);
    int result = fs_write_atomic(path, text, (size_t)length, MODE, err);

    free(path);
    return result;
}

static bool read_end(const char *directory, int rank, struct rank_end *end)
{
    char *path = path_of(directory, rank);
    struct buf text = BUF_INIT;
    char *rest;
    bool is_there = fs_read_regular(path, FILE_MAX_BYTES, &text, NULL) == 0 &&
                    text.length > 0 && buf_text(&text)[text.length - 1] == '\n';

    free(path);
    if (is_there) {
        end->rank = rank;
        end->status = (int)strtol(buf_text(&text), &rest, 10);
        end->time_ms = strtoll(rest, NULL, 10);
    }
    buf_clear(&text);
    return is_there && end->status > 0;
}

bool rank_end_find(const char *directory, int tasks, struct rank_end *first)
{
    struct rank_end end;
    bool is_found = false;

    for (int rank = 0; rank < tasks; rank++) {
        if (!read_end(directory, rank, &end))
            continue;
        if (!is_found || end.time_ms < first->time_ms)
            *first = end;
        is_found = true;
    }
    return is_found;
}

void rank_end_clear(const char *directory, int tasks)
{
    for (int rank = 0; rank < tasks; rank++) {
        char *path = path_of(directory, rank);

        unlink(path);
        free(path);
    }
}
