/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which checkpoints a folder holds, and the removal of old and unfinished ones.
 *
 * A checkpoint is a folder with a manifest; the manifest is written last and
 * removed first. So a crash at any moment leaves a whole checkpoint or one
 * without a manifest, which nobody loads. The newest KEEP whole ones stay: if
 * the newest turns out to be damaged, training resumes from the one before.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "training/checkpoint/checkpoint_impl.h"

enum { KEEP = 2, NAME_DIGITS = 16 };

static const char PREFIX[] = "checkpoint-";

static int is_checkpoint(const struct dirent *entry)
{
    const char *digits = entry->d_name + strlen(PREFIX);

    return strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
           strlen(digits) == NAME_DIGITS &&
           strspn(digits, "0123456789") == NAME_DIGITS;
}

static int newest_first(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*b)->d_name, (*a)->d_name);
}

int checkpoint_list(const char *directory, uint64_t **steps, struct err *err)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, is_checkpoint, newest_first);

    *steps = NULL;
    if (count < 0 && errno == ENOENT)
        return 0;
    if (count < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'",
                             directory);
    *steps = mem_array((size_t)count + 1, sizeof(**steps));
    for (int i = 0; i < count; i++) {
        (*steps)[i] = strtoull(entries[i]->d_name + strlen(PREFIX), NULL, 10);
        free(entries[i]);
    }
    free(entries);
    return count;
}

static bool has_manifest(const char *folder)
{
    char *path = fs_join(folder, "manifest");
    bool has = fs_exists(path);

    free(path);
    return has;
}

/* The manifest first: what is half removed is not whole. */
static int remove_checkpoint(const char *folder, struct err *err)
{
    char *path = fs_join(folder, "manifest");

    unlink(path);
    free(path);
    return fs_remove_tree(folder, err);
}

int checkpoint_remove_unfinished(const char *directory, uint64_t step,
                                 struct err *err)
{
    uint64_t *steps;
    int count = checkpoint_list(directory, &steps, err);
    int status = count < 0 ? -1 : 0;

    for (int i = 0; steps != NULL && i < count && status == 0; i++) {
        char *folder = checkpoint_folder(directory, steps[i]);

        if (steps[i] > step || !has_manifest(folder))
            status = remove_checkpoint(folder, err);
        free(folder);
    }
    free(steps);
    return status;
}

/* Also what was saved at the same step before its epoch was measured. */
static int tidy(const char *folder, const struct position *at, int size,
                struct err *err)
{
    char *any = checkpoint_shard_name(0, size, at);
    const char *ending = strstr(any, "-of-");
    DIR *files = opendir(folder);
    struct dirent *entry;
    int status = 0;

    while (files != NULL && status == 0 && (entry = readdir(files)) != NULL) {
        const char *its = strstr(entry->d_name, "-of-");
        char *path;

        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "manifest") == 0 ||
            (its != NULL && strcmp(its, ending) == 0))
            continue;
        path = fs_join(folder, entry->d_name);
        status = fs_remove_tree(path, err);
        free(path);
    }
    if (files != NULL)
        closedir(files);
    free(any);
    return status;
}

int checkpoint_remove_old(const char *directory, const struct position *at,
                          int size, struct err *err)
{
    char *newest = checkpoint_folder(directory, at->step);
    int status = tidy(newest, at, size, err);
    uint64_t *steps;
    int count = checkpoint_list(directory, &steps, err);
    int kept = 0;

    free(newest);
    if (count < 0)
        return -1;
    for (int i = 0; steps != NULL && i < count && status == 0; i++) {
        char *folder = checkpoint_folder(directory, steps[i]);

        if (kept < KEEP && has_manifest(folder))
            kept++;
        else
            status = remove_checkpoint(folder, err);
        free(folder);
    }
    free(steps);
    return status;
}
