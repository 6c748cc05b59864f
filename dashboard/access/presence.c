/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The folder is made when the dashboard listens, and removed before it stops
 * to, so that the next on the same port finds nothing of it. One that was
 * killed leaves its folder: the lock in it is free then, and whoever makes a
 * folder of that name takes it and removes the rest.
 */
#include "dashboard/access/presence.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "dashboard/access/login_code.h"
#include "dashboard/access/viewer_link.h"

struct presence {
    char *folder;
    int lock; /* -1: of another process */
    json_t *json;
    struct presence_about about; /* texts of the JSON */
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

/* ---- what it is about ---- */

static void take_json(struct presence *presence, json_t *json)
{
    presence->json = json;
    presence->about = (struct presence_about){
        .url = json_string_value(json_object_get(json, "url")),
        .store = json_string_value(json_object_get(json, "store")),
        .socket = json_string_value(json_object_get(json, "socket")),
        .is_read_only = json_is_true(json_object_get(json, "read_only"))};
}

static int write_about(struct presence *presence,
                       const struct presence_about *about, struct err *err)
{
    char *path = fs_join(presence->folder, about_name);
    char *store = fs_absolute(about->store);
    char *socket = about->socket != NULL ? fs_absolute(about->socket) : NULL;
    struct buf text = BUF_INIT;
    int status;

    take_json(presence,
              json_pack("{s:s, s:o, s:o, s:b}", "url", about->url, "store",
                        json_from_text(store), "socket", json_from_text(socket),
                        "read_only", about->is_read_only));
    json_print_pretty(presence->json, &text);
    status = fs_write_atomic(path, buf_text(&text), text.length, 0600, err);
    buf_clear(&text);
    free(socket);
    free(store);
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
    take_json(presence, json);
    buf_clear(&text);
    free(path);
    return presence->about.url != NULL && presence->about.store != NULL ? 0
                                                                        : -1;
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

static struct presence *presence_of(const char *folder, const char *name)
{
    struct presence *presence = mem_zero(sizeof(*presence));

    presence->folder = fs_join(folder, name);
    presence->lock = -1;
    return presence;
}

static void release(struct presence *presence)
{
    if (presence->lock >= 0)
        close(presence->lock);
    json_decref(presence->json);
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

struct presence *presence_create(const char *folder, const char *name,
                                 const struct presence_about *about,
                                 struct err *err)
{
    struct presence *presence = presence_of(folder, name);

    if (fs_make_directories(presence->folder, err) == 0 &&
        take_lock(presence, err) == 0 && remove_rest(presence, err) == 0 &&
        write_about(presence, about, err) == 0)
        return presence;
    release(presence);
    return NULL;
}

int presence_write(const struct presence *presence, const char *file,
                   const char *text, struct err *err)
{
    char *path = fs_join(presence->folder, file);
    char *line = mem_printf("%s\n", text);
    int status = fs_write_atomic(path, line, strlen(line), 0600, err);

    free(line);
    free(path);
    return status;
}

void presence_destroy(struct presence *presence)
{
    if (presence == NULL)
        return;
    if (presence->lock >= 0)
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
static struct presence *look_at(const char *folder, const char *name,
                                const char *store)
{
    struct presence *presence = presence_of(folder, name);

    if (is_running(presence) && read_about(presence) == 0 &&
        (store == NULL || is_same_folder(presence->about.store, store)))
        return presence;
    release(presence);
    return NULL;
}

static struct presence *find_only(const char *folder, const char *store,
                                  struct err *err)
{
    DIR *directory = opendir(folder);
    struct presence *found = NULL;
    const struct dirent *entry;
    int count = 0;

    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        struct presence *presence = NULL;

        if (entry->d_name[0] != '.')
            presence = look_at(folder, entry->d_name, store);
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
    struct presence *presence;

    if (name == NULL)
        return find_only(folder, store, err);
    presence = look_at(folder, name, NULL);
    if (presence == NULL)
        err_set(err, ERR_NOT_FOUND,
                "no dashboard of yours runs there on this machine: start one "
                "with 'smtune dashboard'");
    return presence;
}

/* ---- addresses ---- */

const char *presence_folder(const struct presence *presence)
{
    return presence->folder;
}

const struct presence_about *presence_about(const struct presence *presence)
{
    return &presence->about;
}

/* What is behind the # stays in the browser: no log and no header has it. */
static char *address_with(const struct presence *presence, const char *secret)
{
    return mem_printf("%s/login#%s", presence->about.url, secret);
}

char *presence_operator_address(const struct presence *presence, int64_t now_ms,
                                struct err *err)
{
    char code[LOGIN_CODE_SIZE];

    if (presence->about.is_read_only ||
        login_code_make(presence->folder, now_ms, code, err) < 0)
        return NULL;
    return address_with(presence, code);
}

char *presence_viewer_address(const struct presence *presence, struct err *err)
{
    struct viewer_link *link =
        viewer_link_open(presence->about.store, presence->folder, err);
    char *address =
        link != NULL ? address_with(presence, viewer_link_text(link)) : NULL;

    viewer_link_close(link);
    return address;
}
