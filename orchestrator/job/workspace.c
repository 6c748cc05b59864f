/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/job/attempt_folder.h"

/*
 * Whether a trial left something is asked for each of them, so it is asked
 * cheaply: a folder whose time of change is what it was when it was last seen
 * empty is so still. Times come from a clock of some milliseconds, so only
 * those that are older than that by far are relied upon.
 */

enum { SETTLED_MS = 100, NAME_BYTES = 80 };

#define CONFIG "ml/input/config/"

/* A trial's folders, each before those in it. */
static const char *const folders[] = {
    "",         "ml",        "ml/checkpoints", "ml/input", "ml/input/config",
    "ml/model", "ml/output", "ml/output/data"};

/* What an untouched trial's folders hold. */
static const struct {
    const char *name;
    int entries;
} emptiable[] = {{".", 1},        {"ml", 4},        {"ml/checkpoints", 0},
                 {"ml/model", 0}, {"ml/output", 1}, {"ml/output/data", 0}};

struct folder {
    SLIST_ENTRY(folder) link; /* where it is spare */
    int64_t trial;
    int64_t attempt_number; /* of the last attempt that it was prepared for */
    const struct job_spec
        *task;            /* that its configuration is of; NULL: none yet */
    struct job_copy copy; /* and that */
    bool is_seen;         /* empty, with these times of change */
    struct timespec changed[ARRAY_LEN(emptiable)];
};

struct workspaces {
    char *directory; /* of the run */
    int trials_fd, attempts_fd;
    bool is_shared; /* by a group: spares a look for each of the many files */
    bool is_synced; /* what is in `attempts` outlasts a power cut */
    void *used;     /* tsearch tree of the folders of live trials */
    SLIST_HEAD(folders, folder) spare; /* of trials that are over */
};

/* The name of something in a trial's folder, as seen from all of them. */
static const char *name_in(char name[NAME_BYTES], int64_t trial,
                           const char *rest)
{
    snprintf(name, NAME_BYTES, "%" PRId64 "/%s", trial, rest);
    return name;
}

static json_t *channels_json(const struct job_spec *spec)
{
    json_t *channels = json_object();

    for (size_t i = 0; i < spec->channel_count; i++)
        json_object_set_new(channels, spec->channels[i].name,
                            json_pack("{s:s, s:s, s:s}", "TrainingInputMode",
                                      "File", "S3DistributionType",
                                      spec->channels[i].is_sharded
                                          ? "ShardedByS3Key"
                                          : "FullyReplicated",
                                      "RecordWrapperType", "None"));
    return channels;
}

static int open_directory(const char *run_directory, const char *name,
                          struct err *err)
{
    char *path = fs_join(run_directory, name);
    int fd = -1;

    if (fs_make_shared_directories(path, err) == 0) {
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            err_set_errno(err, ERR_FAILED, errno, "cannot open '%s'", path);
    }
    free(path);
    return fd;
}

/* Those of the run, of all runs, and of the store last through a power cut. */
static void sync_above(const char *run_directory)
{
    char *path = fs_join(run_directory, "attempts");

    for (int level = 0; level < 3; level++) {
        fs_sync_directory_of(path);
        *strrchr(path, '/') = '\0';
    }
    free(path);
}

const char *workspaces_directory(const struct workspaces *workspaces)
{
    return workspaces->directory;
}

struct workspaces *workspaces_create(const char *run_directory, struct err *err)
{
    struct workspaces *workspaces = mem_zero(sizeof(*workspaces));
    struct stat trials;

    workspaces->directory = mem_copy_string(run_directory);
    workspaces->attempts_fd = -1;
    workspaces->trials_fd = open_directory(run_directory, "trials", err);
    if (workspaces->trials_fd >= 0)
        workspaces->attempts_fd =
            open_directory(run_directory, "attempts", err);
    if (workspaces->attempts_fd < 0) {
        workspaces_destroy(workspaces);
        return NULL;
    }
    workspaces->is_shared = fstat(workspaces->trials_fd, &trials) == 0 &&
                            fs_is_shared(trials.st_mode);
    sync_above(run_directory);
    return workspaces;
}

/* What lies deepest comes first. A file that a trial left where none is looked
 * for keeps its folders. */
static void remove_folder(int trials_fd, int64_t trial)
{
    static const char *const files[] = {
        CONFIG "resourceconfig.json", CONFIG "inputdataconfig.json",
        CONFIG "params.json", CONFIG "hyperparameters.json"};
    char name[NAME_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        unlinkat(trials_fd, name_in(name, trial, files[i]), 0);
    for (size_t i = ARRAY_LEN(folders); i > 0; i--)
        unlinkat(trials_fd, name_in(name, trial, folders[i - 1]), AT_REMOVEDIR);
}

void workspaces_remove_spare(struct workspaces *workspaces)
{
    struct folder *folder;

    while ((folder = SLIST_FIRST(&workspaces->spare)) != NULL) {
        SLIST_REMOVE_HEAD(&workspaces->spare, link);
        remove_folder(workspaces->trials_fd, folder->trial);
        free(folder);
    }
}

void workspaces_destroy(struct workspaces *workspaces)
{
    if (workspaces == NULL)
        return;
    workspaces_remove_spare(workspaces);
    tdestroy(workspaces->used, free);
    if (workspaces->trials_fd >= 0)
        close(workspaces->trials_fd);
    if (workspaces->attempts_fd >= 0)
        close(workspaces->attempts_fd);
    free(workspaces->directory);
    free(workspaces);
}

char *workspace_directory(const struct workspaces *workspaces, int64_t trial)
{
    return mem_printf("%s/trials/%" PRId64, workspaces->directory, trial);
}

char *workspace_attempt_directory(const struct workspaces *workspaces,
                                  int64_t trial, int64_t attempt_number)
{
    return mem_printf("%s/attempts/%" PRId64 "-%" PRId64, workspaces->directory,
                      trial, attempt_number);
}

char *workspace_checkpoint_directory(const char *run_directory, int64_t trial)
{
    return mem_printf("%s/trials/%" PRId64 "/ml/checkpoints", run_directory,
                      trial);
}

char *workspace_shard_list(const struct workspaces *workspaces,
                           const char *step, const char *channel)
{
    return mem_printf("%s/shards/%s/%s", workspaces->directory, step, channel);
}

static bool is_shared_out(const struct job_spec *spec)
{
    for (size_t i = 0; i < spec->channel_count; i++)
        if (spec->channels[i].is_sharded)
            return true;
    return false;
}

int workspace_forget_shards(const struct workspaces *workspaces,
                            const char *step, const struct job_spec *spec,
                            struct err *err)
{
    char *path;
    int result;

    if (!is_shared_out(spec))
        return 0;
    path = mem_printf("%s/shards/%s", workspaces->directory, step);
    result = fs_remove_tree(path, err);
    free(path);
    return result;
}

/* -- Making ---------------------------------------------------------------*/

static int make_directory(const struct workspaces *workspaces, const char *name,
                          struct err *err)
{
    if ((workspaces->is_shared
             ? fs_shared_mkdirat(workspaces->trials_fd, name)
             : mkdirat(workspaces->trials_fd, name, 0700)) == 0 ||
        errno == EEXIST)
        return 0;
    return err_set_errno(err, ERR_FAILED, errno, "cannot make the directory %s",
                         name);
}

static int open_file(const struct workspaces *workspaces, const char *name)
{
    enum { FLAGS = O_WRONLY | O_NOFOLLOW, MODE = 0600 };

    return workspaces->is_shared
               ? fs_shared_openat(workspaces->trials_fd, name, FLAGS, MODE)
               : openat(workspaces->trials_fd, name,
                        FLAGS | O_CREAT | O_CLOEXEC, MODE);
}

/* In place: neither atomic nor synced, for it is made anew for each attempt;
 * a file that is there keeps its block. */
static int write_json(const struct workspaces *workspaces, int64_t trial,
                      const char *file, const json_t *json, struct err *err)
{
    char name[NAME_BYTES];
    int fd = open_file(workspaces, name_in(name, trial, file));
    struct buf text = BUF_INIT;
    struct stat status;
    int result = 0;

    json_print(json, &text);
    buf_add_char(&text, '\n');
    if (fd < 0 || fs_write_all(fd, buf_text(&text), text.length) != 0 ||
        fstat(fd, &status) != 0 ||
        (status.st_size > (off_t)text.length &&
         ftruncate(fd, (off_t)text.length) != 0))
        result = err_set_errno(err, ERR_FAILED, errno, "cannot write trials/%s",
                               name);
    if (fd >= 0)
        close(fd);
    buf_clear(&text);
    return result;
}

static int make_folder(const struct workspaces *workspaces, int64_t trial,
                       struct err *err)
{
    char name[NAME_BYTES];
    int result = 0;

    for (size_t i = 0; i < ARRAY_LEN(folders) && result == 0; i++)
        result =
            make_directory(workspaces, name_in(name, trial, folders[i]), err);
    return result;
}

/* What a job finds in its folder about its hosts and channels. */
static int configure(const struct workspaces *workspaces, struct folder *folder,
                     const struct workspace_order *order, struct err *err)
{
    json_t *hosts = hosts_config(&order->copy);
    json_t *channels = channels_json(order->task);
    int result = write_json(workspaces, folder->trial,
                            CONFIG "resourceconfig.json", hosts, err);

    if (result == 0)
        result = write_json(workspaces, folder->trial,
                            CONFIG "inputdataconfig.json", channels, err);
    folder->task = order->task;
    folder->copy = order->copy;
    json_decref(hosts);
    json_decref(channels);
    return result;
}

static int compare_trials(const void *a, const void *b)
{
    int64_t left = ((const struct folder *)a)->trial;
    int64_t right = ((const struct folder *)b)->trial;

    return (left > right) - (left < right);
}

static void put_in_use(struct workspaces *workspaces, struct folder *folder)
{
    struct folder **found = tsearch(folder, &workspaces->used, compare_trials);

    if (found == NULL)
        abort();
    if (*found == folder)
        return;
    free(*found);
    *found = folder;
}

/* By a rename where there is a spare one and the trial has none yet. */
static struct folder *take_spare(struct workspaces *workspaces, int64_t trial)
{
    char old_name[NAME_BYTES], name[NAME_BYTES];
    struct folder *folder = SLIST_FIRST(&workspaces->spare);

    if (folder == NULL ||
        renameat(workspaces->trials_fd, name_in(old_name, folder->trial, ""),
                 workspaces->trials_fd, name_in(name, trial, "")) != 0)
        return NULL;
    SLIST_REMOVE_HEAD(&workspaces->spare, link);
    return folder;
}

/* A trial that is run again has its own back. */
static void keep_from_others(struct workspaces *workspaces, int64_t trial)
{
    struct folder *folder = SLIST_FIRST(&workspaces->spare);

    while (folder != NULL && folder->trial != trial)
        folder = SLIST_NEXT(folder, link);
    if (folder != NULL)
        SLIST_REMOVE(&workspaces->spare, folder, folder, link);
    free(folder);
}

static bool is_configured(const struct folder *folder,
                          const struct workspace_order *order)
{
    bool has_its_channels =
        folder->task == order->task ||
        (folder->task != NULL && folder->task->channel_count == 0 &&
         order->task->channel_count == 0);

    return has_its_channels && hosts_equal(&folder->copy, &order->copy);
}

/* An engine may have copied checkpoints for a trial and crashed before that one
 * was in the record; then its number is another one's. */
static int forget_checkpoints(const struct workspaces *workspaces,
                              int64_t trial, struct err *err)
{
    char *path = workspace_checkpoint_directory(workspaces->directory, trial);
    int result = fs_remove_tree(path, err);

    free(path);
    return result;
}

static int get_folder(struct workspaces *workspaces,
                      const struct workspace_order *order, struct err *err)
{
    struct folder *folder = NULL;

    if (order->attempt_number == 1)
        folder = take_spare(workspaces, order->job);
    else
        keep_from_others(workspaces, order->job);
    if (folder == NULL) {
        if ((order->attempt_number == 1 && !order->inherits &&
             forget_checkpoints(workspaces, order->job, err) != 0) ||
            make_folder(workspaces, order->job, err) != 0)
            return -1;
        folder = mem_zero(sizeof(*folder));
    }
    folder->trial = order->job;
    folder->attempt_number = order->attempt_number;
    put_in_use(workspaces, folder);
    return is_configured(folder, order)
               ? 0
               : configure(workspaces, folder, order, err);
}

int workspace_prepare(struct workspaces *workspaces,
                      const struct workspace_order *order, struct err *err)
{
    char *directory;
    int result;

    if (get_folder(workspaces, order, err) != 0 ||
        write_json(workspaces, order->job, CONFIG "params.json", order->params,
                   err) != 0 ||
        write_json(workspaces, order->job, CONFIG "hyperparameters.json",
                   order->strings, err) != 0)
        return -1;
    workspaces->is_synced = false;
    directory = workspace_attempt_directory(workspaces, order->job,
                                            order->attempt_number);
    result = attempt_folder_make(workspaces->attempts_fd, directory, err);
    free(directory);
    return result;
}

int workspaces_sync(struct workspaces *workspaces, struct err *err)
{
    if (workspaces->is_synced)
        return 0;
    if (fsync(workspaces->attempts_fd) != 0 && errno != EINVAL)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot sync the directory '%s/attempts'",
                             workspaces->directory);
    workspaces->is_synced = true;
    return 0;
}

int workspace_copy_checkpoint(struct workspaces *workspaces, int64_t from,
                              int64_t to, struct err *err)
{
    char *source = workspace_checkpoint_directory(workspaces->directory, from);
    char *target = workspace_checkpoint_directory(workspaces->directory, to);
    int result = forget_checkpoints(workspaces, to, err);

    if (result == 0)
        result = make_folder(workspaces, to, err);
    if (result == 0 && workspace_has_checkpoint(workspaces, from))
        result = fs_copy_tree(source, target, err);
    free(source);
    free(target);
    return result;
}

/* -- Taking back ----------------------------------------------------------*/

/* How many entries a folder has, or many where they are too many for one look;
 * -1 when it cannot be told. */
static int count_entries(int trials_fd, const char *name)
{
    int fd = openat(trials_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    alignas(struct dirent64) char entries[1024];
    long length = fd >= 0 ? syscall(SYS_getdents64, fd, entries,
                                    (unsigned)sizeof(entries))
                          : -1;
    int count = length >= 0 ? 0 : -1;

    for (long at = 0; at < length;) {
        const struct dirent64 *entry =
            (const struct dirent64 *)(const void *)(entries + at);

        count +=
            strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
        at += entry->d_reclen;
    }
    if (fd >= 0)
        close(fd);
    return count;
}

bool workspace_has_checkpoint(const struct workspaces *workspaces,
                              int64_t trial)
{
    char name[NAME_BYTES];

    return count_entries(workspaces->trials_fd,
                         name_in(name, trial, "ml/checkpoints")) > 0;
}

static bool is_empty(int trials_fd, int64_t trial)
{
    char name[NAME_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(emptiable); i++) {
        if (count_entries(trials_fd, name_in(name, trial, emptiable[i].name)) !=
            emptiable[i].entries)
            return false;
    }
    return true;
}

/* Reads the times of change; whether all are those of before. */
static bool read_times(int trials_fd, struct folder *folder)
{
    char name[NAME_BYTES];
    bool is_same = true;

    for (size_t i = 0; i < ARRAY_LEN(emptiable); i++) {
        struct timespec *known = &folder->changed[i];
        struct stat status;

        if (fstatat(trials_fd, name_in(name, folder->trial, emptiable[i].name),
                    &status, AT_SYMLINK_NOFOLLOW) != 0)
            return false;
        is_same &= status.st_mtim.tv_sec == known->tv_sec &&
                   status.st_mtim.tv_nsec == known->tv_nsec;
        *known = status.st_mtim;
    }
    return is_same;
}

static bool is_settled(const struct folder *folder)
{
    int64_t now_ms = clock_wall_ms();

    for (size_t i = 0; i < ARRAY_LEN(emptiable); i++) {
        const struct timespec *time = &folder->changed[i];

        if (count_add(count_times(time->tv_sec, 1000),
                      time->tv_nsec / 1000000) > now_ms - SETTLED_MS)
            return false;
    }
    return true;
}

/* The times are read first: what is written after that is seen next time. */
static bool is_untouched(int trials_fd, struct folder *folder)
{
    if (read_times(trials_fd, folder) && folder->is_seen)
        return true;
    folder->is_seen = is_settled(folder);
    return is_empty(trials_fd, folder->trial);
}

void workspace_release(struct workspaces *workspaces, int64_t trial,
                       int64_t attempt_number)
{
    struct folder key = {.trial = trial}, *folder;
    void *found = tfind(&key, &workspaces->used, compare_trials);

    if (found == NULL) /* an earlier engine's */
        return;
    folder = *(struct folder **)found;
    if (folder->attempt_number > attempt_number)
        return;
    tdelete(folder, &workspaces->used, compare_trials);
    /* a share of files is its own */
    if (is_shared_out(folder->task) ||
        !is_untouched(workspaces->trials_fd, folder)) {
        free(folder);
        return;
    }
    SLIST_INSERT_HEAD(&workspaces->spare, folder, link);
}
