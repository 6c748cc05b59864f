/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The folder is made when the dashboard listens, and removed before it stops
 * to, so that the next on the same port finds nothing of it. One that was
 * killed leaves its folder: the lock in it is free then, and whoever makes a
 * folder of that name takes it and removes the rest. The folder may go while
 * the dashboard runs, which then makes it anew where it belongs.
 */
#include "dashboard/access/presence.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/system/runtime_folder.h"
#include "dashboard/access/private_file.h"

struct presence {
    char *parent; /* as it was given; NULL: that of all dashboards */
    char *name;
    char *folder;
    int lock; /* -1: of another process */
    char *url, *base_url, *store, *socket;
    struct presence_about about; /* these */
};

static const char lock_name[] = "lock", about_name[] = "about.json";

enum { ABOUT_MAX_BYTES = 64 << 10, SOCKET_NAME_DIGITS = 16 };

char *presence_name(int port, const char *socket)
{
    char hex[DIGEST_HEX_SIZE];
    char *path;

    if (socket == NULL)
        return mem_printf("%d", port);
    path = fs_absolute(socket);
    digest_of(path, strlen(path), hex);
    free(path);
    return mem_printf("socket-%.*s", SOCKET_NAME_DIGITS, hex);
}

/* The folder of dashboards, the caller's to free; NULL on error. */
static char *find_parent(const char *folder, struct err *err)
{
    char path[RUNTIME_FOLDER_MAX];

    if (folder != NULL)
        return mem_copy_string(folder);
    return runtime_folder("dashboards", path, err) == 0 ? mem_copy_string(path)
                                                        : NULL;
}

/* ---- what it is about ---- */

static void take_about(struct presence *presence,
                       const struct presence_about *about)
{
    presence->url = mem_copy_string(about->url);
    presence->base_url = mem_copy_string(about->base_url);
    presence->store = mem_copy_string(about->store);
    presence->socket = mem_copy_string(about->socket);
    presence->about =
        (struct presence_about){.url = presence->url,
                                .base_url = presence->base_url,
                                .store = presence->store,
                                .socket = presence->socket,
                                .is_read_only = about->is_read_only};
}

static int write_about(const struct presence *presence, struct err *err)
{
    const struct presence_about *about = &presence->about;
    char *path = fs_join(presence->folder, about_name);
    json_t *json = json_pack(
        "{s:o, s:o, s:o, s:o, s:b}", "url", json_from_text(about->url),
        "base_url", json_from_text(about->base_url), "store",
        json_from_text(about->store), "socket", json_from_text(about->socket),
        "read_only", about->is_read_only);
    struct buf text = BUF_INIT;
    int status;

    json_print_pretty(json, &text);
    status = fs_write_atomic(path, buf_text(&text), text.length, 0600, err);
    buf_clear(&text);
    json_decref(json);
    free(path);
    return status;
}

static int read_about(struct presence *presence)
{
    char *path = fs_join(presence->folder, about_name);
    struct buf text = BUF_INIT;
    json_t *json = NULL;

    if (fs_read_regular(path, ABOUT_MAX_BYTES, &text, NULL) == 0)
        json = json_parse(buf_text(&text), text.length, NULL);
    take_about(
        presence,
        &(struct presence_about){
            .url = json_string_value(json_object_get(json, "url")),
            .base_url = json_string_value(json_object_get(json, "base_url")),
            .store = json_string_value(json_object_get(json, "store")),
            .socket = json_string_value(json_object_get(json, "socket")),
            .is_read_only = json_is_true(json_object_get(json, "read_only"))});
    json_decref(json);
    buf_clear(&text);
    free(path);
    return presence->url != NULL && presence->store != NULL ? 0 : -1;
}

/* ---- the lock ---- */

static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

static int take_lock(struct presence *presence, struct err *err)
{
    char *path = fs_join(presence->folder, lock_name);
    struct flock lock = whole_file();
    int status = 0;

    presence->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (presence->lock < 0)
        status =
            err_set_errno(err, ERR_FAILED, errno, "cannot open '%s'", path);
    else if (fcntl(presence->lock, F_OFD_SETLK, &lock) != 0)
        status =
            err_set(err, ERR_BUSY, "another dashboard of yours has '%s'", path);
    free(path);
    return status;
}

/* Whether the file of the lock is still the one that is locked. */
static bool has_lock(const struct presence *presence, const char *folder)
{
    char *path = fs_join(folder, lock_name);
    bool is_same = fs_is_at(presence->lock, path);

    free(path);
    return is_same;
}

static bool is_running(const struct presence *presence)
{
    char *path = fs_join(presence->folder, lock_name);
    struct flock lock = whole_file();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_locked =
        fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

    if (fd >= 0)
        close(fd);
    free(path);
    return is_locked;
}

/* ---- of this process ---- */

static struct presence *presence_of(const char *parent, const char *name)
{
    struct presence *presence = mem_zero(sizeof(*presence));

    presence->name = mem_copy_string(name);
    presence->folder = fs_join(parent, name);
    presence->lock = -1;
    return presence;
}

static void release(struct presence *presence)
{
    if (presence->lock >= 0)
        close(presence->lock);
    free(presence->url);
    free(presence->base_url);
    free(presence->store);
    free(presence->socket);
    free(presence->parent);
    free(presence->name);
    free(presence->folder);
    free(presence);
}

/* What is there but the lock, of one that was killed. */
static int remove_rest(const struct presence *presence, struct err *err)
{
    DIR *directory = opendir(presence->folder);
    const struct dirent *entry;
    int status = 0;

    while (directory != NULL && status == 0 &&
           (entry = readdir(directory)) != NULL) {
        char *path;

        if (entry->d_name[0] == '.' || strcmp(entry->d_name, lock_name) == 0)
            continue;
        path = fs_join(presence->folder, entry->d_name);
        status = fs_remove_tree(path, err);
        free(path);
    }
    if (directory != NULL)
        closedir(directory);
    return status;
}

static struct presence *create_in(const char *parent, const char *name,
                                  const struct presence_about *about,
                                  struct err *err)
{
    struct presence *presence = presence_of(parent, name);

    take_about(presence, about);
    if (fs_make_directories(presence->folder, err) == 0 &&
        take_lock(presence, err) == 0 && remove_rest(presence, err) == 0 &&
        write_about(presence, err) == 0)
        return presence;
    release(presence);
    return NULL;
}

struct presence *presence_create(const char *folder, const char *name,
                                 const struct presence_about *about,
                                 struct err *err)
{
    char *parent = find_parent(folder, err);
    char *store = fs_absolute(about->store);
    char *socket = about->socket != NULL ? fs_absolute(about->socket) : NULL;
    const struct presence_about absolute = {about->url, about->base_url, store,
                                            socket, about->is_read_only};
    struct presence *presence =
        parent != NULL ? create_in(parent, name, &absolute, err) : NULL;

    if (presence != NULL)
        presence->parent = mem_copy_string(folder);
    free(socket);
    free(store);
    free(parent);
    return presence;
}

/* The other one, which is let go, takes this one's place. */
static void replace(struct presence *presence, struct presence *other)
{
    struct presence old = *presence;

    if (strcmp(old.folder, other->folder) != 0 && has_lock(&old, old.folder))
        fs_remove_tree(old.folder, NULL);
    *presence = *other;
    presence->parent = old.parent;
    *other = old;
    other->parent = NULL;
    release(other);
}

int presence_refresh(struct presence *presence, struct err *err)
{
    char *parent = find_parent(presence->parent, err);
    char *folder = parent != NULL ? fs_join(parent, presence->name) : NULL;
    struct presence *again;
    int status = -1;

    if (folder != NULL && has_lock(presence, folder)) {
        status = 0;
    } else if (folder != NULL) {
        again = create_in(parent, presence->name, &presence->about, err);
        if (again != NULL) {
            replace(presence, again);
            status = 1;
        }
    }
    free(folder);
    free(parent);
    return status;
}

int presence_write(const struct presence *presence, const char *file,
                   const char *text, struct err *err)
{
    char *path = fs_join(presence->folder, file);
    int status = private_file_write(path, text, err);

    free(path);
    return status;
}

void presence_destroy(struct presence *presence)
{
    if (presence == NULL)
        return;
    if (presence->lock >= 0 && has_lock(presence, presence->folder))
        fs_remove_tree(presence->folder, NULL);
    release(presence);
}

/* ---- of another ---- */

static bool is_same_folder(const char *one, const char *other)
{
    char *paths[] = {realpath(one, NULL), realpath(other, NULL)};
    bool is_same =
        paths[0] != NULL && paths[1] != NULL && strcmp(paths[0], paths[1]) == 0;

    free(paths[0]);
    free(paths[1]);
    return is_same;
}

/* NULL: it does not run, or (store not NULL) is of another store. */
static struct presence *look_at(const char *parent, const char *name,
                                const char *store)
{
    struct presence *presence = presence_of(parent, name);

    if (is_running(presence) && read_about(presence) == 0 &&
        (store == NULL || is_same_folder(presence->about.store, store)))
        return presence;
    release(presence);
    return NULL;
}

static struct presence *find_only(const char *parent, const char *store,
                                  struct err *err)
{
    DIR *directory = opendir(parent);
    struct presence *found = NULL;
    const struct dirent *entry;
    int count = 0;

    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        struct presence *presence = NULL;

        if (entry->d_name[0] != '.')
            presence = look_at(parent, entry->d_name, store);
        if (presence == NULL)
            continue;
        if (found != NULL)
            release(found);
        found = presence;
        count++;
    }
    if (directory != NULL)
        closedir(directory);
    if (count == 1)
        return found;
    if (found != NULL)
        release(found);
    if (count == 0)
        err_set(err, ERR_NOT_FOUND,
                "no dashboard of yours runs on this machine for the store "
                "'%s': start one with 'smtune dashboard'",
                store);
    else
        err_set(err, ERR_USAGE,
                "%d dashboards of yours run for the store '%s': choose one "
                "with --port or --socket",
                count, store);
    return NULL;
}

struct presence *presence_find(const char *folder, const char *name,
                               const char *store, struct err *err)
{
    char *parent = find_parent(folder, err);
    struct presence *presence = NULL;

    if (parent != NULL && name == NULL) {
        presence = find_only(parent, store, err);
    } else if (parent != NULL) {
        presence = look_at(parent, name, NULL);
        if (presence == NULL)
            err_set(err, ERR_NOT_FOUND,
                    "no dashboard of yours runs there on this machine: start "
                    "one with 'smtune dashboard'");
    }
    free(parent);
    return presence;
}

const char *presence_folder(const struct presence *presence)
{
    return presence->folder;
}

const struct presence_about *presence_about(const struct presence *presence)
{
    return &presence->about;
}
