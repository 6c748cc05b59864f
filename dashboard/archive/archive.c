/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/archive/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "dashboard/archive/archive_impl.h"
#include "dashboard/dashboard_impl.h"
#include "store/store.h"

/* ---- what is left out ---- */

void archive_leave_out(struct archive *archive, int64_t run, const char *what,
                       const char *format, ...)
{
    va_list arguments;
    char text[256];

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    json_array_append_new(archive->left_out,
                          json_pack("{s:I, s:s, s:o}", "run", (json_int_t)run,
                                    "what", what, "text",
                                    json_from_text(text)));
}

size_t archive_share(const struct archive *archive, size_t most)
{
    size_t share = most / archive->asked_count;

    return share > 0 ? share : 1;
}

static void add_about(struct archive *archive)
{
    json_t *about =
        json_pack("{s:I, s:I, s:s, s:O}", "run", (json_int_t)archive->asked[0],
                  "made_ms", (json_int_t)clock_wall_ms(), "version",
                  SMTUNE_VERSION, "left_out", archive->left_out);
    json_t *runs = json_array();

    for (size_t i = 0; i < archive->asked_count; i++)
        json_array_append_new(runs, json_integer(archive->asked[i]));
    json_object_set_new(about, "runs", runs);
    archive_put_json(archive, "/api/v1/archive", about);
    json_decref(about);
}

/* ---- the runs ---- */

static bool is_kept(const struct archive *archive, int64_t run)
{
    for (size_t i = 0; i < archive->run_count; i++)
        if (archive->runs[i].id == run)
            return true;
    return false;
}

static int keep_run(void *user, const struct run_row *row)
{
    struct archive *archive = user;

    if (is_kept(archive, row->id))
        return 0;
    archive->runs = mem_grow(archive->runs, archive->run_count,
                             &archive->run_capacity, sizeof(*archive->runs));
    archive->runs[archive->run_count++] = (struct archive_run){
        .id = row->id,
        .is_workflow = strcmp(row->kind, "workflow") == 0,
        .jobs = row->trials,
    };
    return 0;
}

/* The list with those runs alone that are in the file. */
static int add_list(struct archive *archive, struct err *err)
{
    static const char path[] = "/api/v1/runs";
    json_t *list = archive_ask_json(archive, path, err);
    json_t *rows = json_object_get(list, "runs");
    size_t i = 0;

    if (list == NULL)
        return -1;
    while (i < json_array_size(rows)) {
        json_t *id = json_object_get(json_array_get(rows, i), "id");

        if (is_kept(archive, json_integer_value(id)))
            i++;
        else
            json_array_remove(rows, i);
    }
    archive_put_json(archive, path, list);
    json_decref(list);
    return 0;
}

/* ---- a run ---- */

static int add_of_run(struct archive *archive, const struct archive_run *run,
                      const char *part, struct err *err)
{
    char *path = mem_printf("/api/v1/runs/%" PRId64 "%s", run->id, part);
    int status = archive_add(archive, path, path, err);

    free(path);
    return status;
}

static int add_paged_of_run(struct archive *archive,
                            const struct archive_run *run, const char *part,
                            struct err *err)
{
    char *path = mem_printf("/api/v1/runs/%" PRId64 "%s", run->id, part);
    size_t bytes_max = SIZE_MAX;
    int status = archive_add_pages(archive, path, &bytes_max, err);

    free(path);
    return status;
}

static int add_run(struct archive *archive, const struct archive_run *run,
                   struct err *err)
{
    if (add_of_run(archive, run, "", err) != 0 ||
        add_of_run(archive, run, "/origin", err) != 0 ||
        add_of_run(archive, run, "/columns", err) != 0 ||
        add_of_run(archive, run, run->is_workflow ? "/graph" : "/importance",
                   err) != 0 ||
        add_paged_of_run(archive, run, "/attempts", err) != 0 ||
        add_paged_of_run(archive, run, "/rungs", err) != 0 ||
        archive_add_curves(archive, run,
                           archive_share(archive, ARCHIVE_METRICS_BYTES),
                           err) != 0)
        return -1;
    return archive_add_jobs(archive, run, err);
}

static int keep_runs(struct archive *archive, struct err *err)
{
    for (size_t i = 0; i < archive->asked_count; i++) {
        int64_t run = archive->asked[i];

        if (store_get_run(archive->store, run, keep_run, archive, err) < 0 ||
            store_each_child_run(archive->store, run, keep_run, archive, err) <
                0)
            return -1;
    }
    return 0;
}

static int add_all(struct archive *archive, struct err *err)
{
    if (keep_runs(archive, err) != 0 ||
        archive_add(archive, "/api/v1/session", "/api/v1/session", err) != 0 ||
        add_list(archive, err) != 0)
        return -1;
    for (size_t i = 0; i < archive->run_count; i++)
        if (add_run(archive, &archive->runs[i], err) != 0)
            return -1;
    add_about(archive);
    return 0;
}

static int write_all(struct archive *archive, struct err *err)
{
    bool began;
    int status = archive_begin_page(archive, err);

    if (status == 0)
        status = store_read_begin(archive->store, &began, err);
    if (status != 0)
        return -1;
    status = add_all(archive, err);
    store_read_end(archive->store, began);
    if (status != 0)
        return -1;
    archive_end_page(archive);
    if (fflush(archive->out) != 0 || ferror(archive->out))
        return err_set_errno(err, ERR_FAILED, errno, "cannot write the page");
    return 0;
}

int archive_write(const char *store, const struct dashboard_source *source,
                  const int64_t *runs, size_t count, FILE *out, struct err *err)
{
    const struct dashboard_options options = {
        .store = store, .read_only = true, .source = source};
    struct archive archive = {.out = out, .asked = runs, .asked_count = count};
    int status = -1;

    archive.dashboard = dashboard_create(&options, err);
    if (archive.dashboard == NULL)
        return -1;
    archive.left_out = json_array();
    archive.store = dashboard_take_store(archive.dashboard, err);
    if (archive.store != NULL) {
        status = write_all(&archive, err);
        dashboard_give_back_store(archive.dashboard, archive.store);
    }
    json_decref(archive.left_out);
    archive_clear_page(&archive);
    free(archive.runs);
    dashboard_destroy(archive.dashboard);
    return status;
}
