/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is to stay is sorted, by the paths that links lead to, so that each path
 * that is to go is looked up: what is inside of a folder sorts behind it and a
 * slash.
 */
#include "orchestrator/steps/temp_files.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/steps/work_queue.h"

struct removal {
    struct work_item item;
    struct temp_order *order;
};

struct temp_files {
    struct work_queue *queue;
    void *owner;
    temp_files_fn *done;
};

/* ---- in the thread ---- */

/* Where the path leads; itself, where that is nowhere. The caller's. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);

    return real != NULL ? real : mem_copy_string(path);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each by its name, and as where it leads. */
static char **sort_stays(const struct temp_order *order, size_t *count)
{
    char **sorted = mem_array(2 * order->stay_count + 1, sizeof(*sorted));

    *count = 0;
    for (size_t i = 0; i < order->stay_count; i++) {
        sorted[(*count)++] = mem_copy_string(order->stay[i]);
        sorted[(*count)++] = resolve(order->stay[i]);
    }
    qsort(sorted, *count, sizeof(*sorted), compare);
    return sorted;
}

/* The first that is not before the path. */
static size_t find(char *const *sorted, size_t count, const char *path)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;

        if (strcmp(sorted[middle], path) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* What is to stay and is that path, or in it; NULL: nothing. */
static const char *find_inside(char *const *sorted, size_t count,
                               const char *path)
{
    size_t at = find(sorted, count, path);
    char *folder;
    bool is_inside;

    if (at < count && strcmp(sorted[at], path) == 0)
        return sorted[at];
    folder = fs_join(path, ""); /* with a slash at its end, of "/" as well */
    at = find(sorted, count, folder);
    is_inside = at < count && strncmp(sorted[at], folder, strlen(folder)) == 0;
    free(folder);
    return is_inside ? sorted[at] : NULL;
}

/* The path without a link in it but the last part, which is removed as it is.
 * The caller's. */
static char *place_of(const char *path)
{
    char *copy = mem_copy_string(path), *slash, *folder, *place;

    while (copy[0] != '\0' && copy[strlen(copy) - 1] == '/')
        copy[strlen(copy) - 1] = '\0';
    slash = strrchr(copy, '/');
    if (slash == NULL || strcmp(slash, "/..") == 0 ||
        strcmp(slash, "/.") == 0) {
        free(copy);
        return resolve(path);
    }
    *slash = '\0';
    folder = resolve(copy[0] == '\0' ? "/" : copy);
    place = fs_join(folder, slash + 1);
    free(folder);
    free(copy);
    return place;
}

/* NULL: it is gone; else why not, the caller's. */
static char *remove_one(const char *path, char *const *stays, size_t count)
{
    char *place = place_of(path), *why = NULL;
    const char *inside = find_inside(stays, count, place);
    struct err err;

    if (inside != NULL && strcmp(inside, place) == 0)
        why = mem_printf("'%s' is needed for something else", path);
    else if (inside != NULL)
        why = mem_printf("'%s' contains '%s'", path, inside);
    else if (fs_remove_tree(place, &err) != 0)
        why = mem_copy_string(err.text);
    free(place);
    return why;
}

/* Those that are gone come first. False once it is to stop. */
static bool remove_all(struct temp_order *order, struct temp_job *job,
                       char *const *stays, size_t count,
                       const atomic_bool *stop)
{
    for (size_t i = 0; i < job->count; i++) {
        char *path = job->paths[i], *why;

        if (atomic_load(stop))
            return false;
        why = remove_one(path, stays, count);
        if (why == NULL) {
            job->paths[i] = job->paths[job->removed_count];
            job->paths[job->removed_count++] = path;
        } else if (order->why == NULL) {
            order->why = why;
        } else {
            free(why);
        }
    }
    return true;
}

static void work(void *owner, struct work_item *item, const atomic_bool *stop)
{
    struct temp_order *order = ((struct removal *)item)->order;
    size_t count;
    char **stays = sort_stays(order, &count);

    (void)owner;
    for (size_t i = 0; i < order->job_count; i++)
        if (!remove_all(order, &order->jobs[i], stays, count, stop))
            break;
    for (size_t i = 0; i < count; i++)
        free(stays[i]);
    free(stays);
}

/* ---- in the loop ---- */

static bool tell(void *owner, struct work_item *item)
{
    const struct temp_files *files = owner;

    files->done(files->owner, ((struct removal *)item)->order);
    return false;
}

void temp_order_destroy(struct temp_order *order)
{
    for (size_t i = 0; i < order->job_count; i++) {
        for (size_t k = 0; k < order->jobs[i].count; k++)
            free(order->jobs[i].paths[k]);
        free(order->jobs[i].paths);
    }
    for (size_t i = 0; i < order->stay_count; i++)
        free(order->stay[i]);
    free(order->jobs);
    free(order->stay);
    free(order->why);
    free(order);
}

static void destroy(struct work_item *item)
{
    struct removal *removal = (struct removal *)item;

    temp_order_destroy(removal->order);
    free(removal);
}

static const struct work_queue_ops ops = {work, tell, destroy, free};

struct temp_files *temp_files_create(uv_loop_t *loop, void *owner,
                                     temp_files_fn *done)
{
    struct temp_files *files = mem_zero(sizeof(*files));

    files->queue = work_queue_create(loop, &ops, files);
    files->owner = owner;
    files->done = done;
    return files;
}

void temp_files_destroy(struct temp_files *files)
{
    if (files != NULL)
        work_queue_destroy(files->queue);
}

void temp_files_remove(struct temp_files *files, struct temp_order *order)
{
    struct removal *removal = mem_zero(sizeof(*removal));

    removal->item.user = order;
    removal->order = order;
    work_queue_add(files->queue, &removal->item);
}
