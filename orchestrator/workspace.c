/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

struct workspaces {
    char *directory; /* of the run */
    char *spare_directory;
    int64_t *spare; /* names of folders in it */
    size_t spare_count, spare_capacity;
    int64_t last_spare;
    json_t *hosts, *channels; /* resourceconfig.json, inputdataconfig.json */
};

static json_t *hosts_json(void)
{
    return json_pack("{s:s, s:[s], s:s}", "current_host", "algo-1", "hosts",
                     "algo-1", "network_interface_name", "lo");
}

static json_t *channels_json(const struct experiment *experiment)
{
    json_t *channels = json_object();

    for (size_t i = 0; i < experiment->channel_count; i++)
        json_object_set_new(channels, experiment->channels[i].name,
                            json_pack("{s:s, s:s, s:s}", "TrainingInputMode",
                                      "File", "S3DistributionType",
                                      "FullyReplicated", "RecordWrapperType",
                                      "None"));
    return channels;
}

struct workspaces *workspaces_create(const char *run_directory,
                                     const struct experiment *experiment,
                                     struct err *err)
{
    struct workspaces *workspaces = mem_zero(sizeof(*workspaces));

    workspaces->directory = mem_copy_string(run_directory);
    workspaces->spare_directory = mem_printf("%s/spare", run_directory);
    workspaces->hosts = hosts_json();
    workspaces->channels = channels_json(experiment);
    if (fs_remove_tree(workspaces->spare_directory, err) != 0 ||
        fs_make_directories(workspaces->spare_directory, err) != 0) {
        workspaces_destroy(workspaces);
        return NULL;
    }
    return workspaces;
}

void workspaces_destroy(struct workspaces *workspaces)
{
    if (workspaces == NULL)
        return;
    fs_remove_tree(workspaces->spare_directory, NULL);
    json_decref(workspaces->hosts);
    json_decref(workspaces->channels);
    free(workspaces->directory);
    free(workspaces->spare_directory);
    free(workspaces->spare);
    free(workspaces);
}

char *workspace_directory(const struct workspaces *workspaces, int64_t trial)
{
    return mem_printf("%s/trials/%" PRId64, workspaces->directory, trial);
}

char *workspace_attempt_directory(const struct workspaces *workspaces,
                                  int64_t trial, int64_t attempt_number)
{
    return mem_printf("%s/trials/%" PRId64 "/attempt-%" PRId64,
                      workspaces->directory, trial, attempt_number);
}

char *workspace_checkpoint_directory(const char *run_directory, int64_t trial)
{
    return mem_printf("%s/trials/%" PRId64 "/ml/checkpoints", run_directory,
                      trial);
}

static int make_directory(const char *path, struct err *err)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return 0;
    return err_set_errno(err, ERR_FAILED, errno, "cannot make %s", path);
}

/* In place: neither atomic nor synced, for it is made anew for each attempt;
 * a file that is there keeps its block. */
static int write_json(const char *folder, const char *name, const json_t *json,
                      struct err *err)
{
    char *path = mem_printf("%s/input/config/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct buf text = BUF_INIT;
    int result = 0;

    json_print(json, &text);
    buf_add_char(&text, '\n');
    if (fd < 0 ||
        write(fd, buf_text(&text), text.length) != (ssize_t)text.length ||
        ftruncate(fd, (off_t)text.length) != 0)
        result = err_set_errno(err, ERR_FAILED, errno, "cannot write %s", path);
    if (fd >= 0)
        close(fd);
    buf_clear(&text);
    free(path);
    return result;
}

static int make_ml(const struct workspaces *workspaces, const char *ml,
                   struct err *err)
{
    static const char *const names[] = {
        "",       "/checkpoints", "/input",      "/input/config",
        "/model", "/output",      "/output/data"};
    int result = 0;

    for (size_t i = 0; i < ARRAY_LEN(names) && result == 0; i++) {
        char *path = mem_printf("%s%s", ml, names[i]);

        result = make_directory(path, err);
        free(path);
    }
    if (result == 0)
        result = write_json(ml, "resourceconfig.json", workspaces->hosts, err);
    if (result == 0)
        result =
            write_json(ml, "inputdataconfig.json", workspaces->channels, err);
    return result;
}

static char *spare_path(const struct workspaces *workspaces, int64_t name)
{
    return mem_printf("%s/%" PRId64, workspaces->spare_directory, name);
}

/* By a rename where there is a spare one and the trial has none yet. */
static int get_ml(struct workspaces *workspaces, const char *ml,
                  struct err *err)
{
    bool taken = false;

    if (workspaces->spare_count > 0) {
        char *path = spare_path(workspaces,
                                workspaces->spare[workspaces->spare_count - 1]);

        taken = rename(path, ml) == 0;
        workspaces->spare_count -= taken;
        free(path);
    }
    return taken ? 0 : make_ml(workspaces, ml, err);
}

int workspace_prepare(struct workspaces *workspaces, int64_t trial,
                      int64_t attempt_number, const json_t *params,
                      const json_t *strings, struct err *err)
{
    char *directory = workspace_directory(workspaces, trial);
    char *ml = mem_printf("%s/ml", directory);
    char *attempt =
        workspace_attempt_directory(workspaces, trial, attempt_number);
    int result = make_directory(directory, err);

    if (result == 0)
        result = attempt_number == 1 ? get_ml(workspaces, ml, err)
                                     : make_ml(workspaces, ml, err);
    if (result == 0)
        result = write_json(ml, "params.json", params, err);
    if (result == 0)
        result = write_json(ml, "hyperparameters.json", strings, err);
    if (result == 0)
        result = make_directory(attempt, err);
    free(directory);
    free(ml);
    free(attempt);
    return result;
}

/* How many entries a folder of `ml` has, or many where they are too many for
 * one look; -1 when it cannot be told. Asked for every trial, so the system is
 * asked with as few calls as possible. */
static int count_entries(const char *ml, const char *name)
{
    char *path = mem_printf("%s/%s", ml, name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    alignas(struct dirent64) char entries[1024];
    ssize_t length = fd >= 0 ? getdents64(fd, entries, sizeof(entries)) : -1;
    int count = length >= 0 ? 0 : -1;

    for (ssize_t at = 0; at < length;) {
        const struct dirent64 *entry =
            (const struct dirent64 *)(const void *)(entries + at);

        count +=
            strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
        at += entry->d_reclen;
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return count;
}

static bool is_untouched(const char *ml)
{
    static const struct {
        const char *name;
        int entries;
    } folders[] = {{"", 4},
                   {"checkpoints", 0},
                   {"model", 0},
                   {"output", 1},
                   {"output/data", 0}};

    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        if (count_entries(ml, folders[i].name) != folders[i].entries)
            return false;
    }
    return true;
}

void workspace_release(struct workspaces *workspaces, int64_t trial)
{
    char *ml =
        mem_printf("%s/trials/%" PRId64 "/ml", workspaces->directory, trial);

    if (is_untouched(ml)) {
        int64_t name = workspaces->last_spare + 1;
        char *path = spare_path(workspaces, name);

        if (rename(ml, path) == 0) {
            workspaces->last_spare = name;
            workspaces->spare = mem_grow(
                workspaces->spare, workspaces->spare_count,
                &workspaces->spare_capacity, sizeof(*workspaces->spare));
            workspaces->spare[workspaces->spare_count++] = name;
        }
        free(path);
    }
    free(ml);
}
