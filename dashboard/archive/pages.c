/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "dashboard/archive/archive_impl.h"

/* What comes in pages, each under the path that the one before leads to. */

int archive_add_pages(struct archive *archive, const char *path,
                      size_t *bytes_max, struct err *err)
{
    char join = strchr(path, '?') != NULL ? '&' : '?';
    char *next = mem_copy_string(path);
    int status = 0;

    while (next != NULL && *bytes_max > 0 && status == 0) {
        int64_t after = 0;
        size_t bytes = 0;

        status = archive_add_page(archive, next, &after, &bytes, err);
        free(next);
        next = status == 0 && after > 0
                   ? mem_printf("%s%cafter=%" PRId64, path, join, after)
                   : NULL;
        *bytes_max = bytes < *bytes_max ? *bytes_max - bytes : 0;
    }
    if (status == 0 && next != NULL)
        status = 1;
    free(next);
    return status;
}

static int add_curves_of(struct archive *archive, const struct archive_run *run,
                         const char *metric, size_t *bytes_max, struct err *err)
{
    char *name = archive_escape(metric);
    char *path =
        mem_printf("/api/v1/runs/%" PRId64 "/metrics?name=%s", run->id, name);
    int status = archive_add_pages(archive, path, bytes_max, err);

    free(path);
    free(name);
    return status;
}

int archive_add_curves(struct archive *archive, const struct archive_run *run,
                       size_t bytes_max, struct err *err)
{
    char *path = mem_printf("/api/v1/runs/%" PRId64 "/metric_names", run->id);
    json_t *names = archive_ask_json(archive, path, err);
    size_t count = json_array_size(names), whole = 0, room = bytes_max;
    int status = names == NULL ? -1 : 0;

    if (names != NULL)
        archive_put_json(archive, path, names);
    while (whole < count && status == 0) {
        status = add_curves_of(archive, run,
                               json_string_value(json_array_get(names, whole)),
                               &room, err);
        whole += status == 0;
    }
    if (status > 0)
        archive_leave_out(archive, run->id, "metrics",
                          "learning curves exceed %zu MiB: complete only for "
                          "%zu of %zu metric%s",
                          bytes_max >> 20, whole, count,
                          units_plural((int64_t)count));
    json_decref(names);
    free(path);
    return status < 0 ? -1 : 0;
}
