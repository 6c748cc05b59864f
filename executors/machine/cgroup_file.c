/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/cgroup_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/system/process_hold.h"

enum { DEPTH_MAX = 16, FREEZE_TRIES = 100 };

static int open_file(const char *directory, const char *name, int flags)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", directory, name) >=
        (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, flags | O_CLOEXEC);
}

int cgroup_write(const char *directory, const char *name, const char *value)
{
    size_t length = strlen(value);
    int fd = open_file(directory, name, O_WRONLY);
    int error = 0;

    if (fd < 0)
        return -1;
    if (write(fd, value, length) != (ssize_t)length)
        error = errno;
    close(fd);
    errno = error;
    return error == 0 ? 0 : -1;
}

int cgroup_write_number(const char *directory, const char *name, int64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRId64, number);
    return cgroup_write(directory, name, text);
}

static size_t read_text(int fd, char *text, size_t size)
{
    size_t length = 0;
    ssize_t got = 1;

    while (length + 1 < size && got > 0) {
        got = read(fd, text + length, size - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    text[length] = '\0';
    return length;
}

void cgroup_read(const char *directory, const char *name, char *text,
                 size_t size)
{
    int fd = open_file(directory, name, O_RDONLY);

    text[0] = '\0';
    if (fd < 0)
        return;
    read_text(fd, text, size);
    close(fd);
}

bool cgroup_has_word(const char *directory, const char *name, const char *word)
{
    char text[1024], *rest = text, *found;

    cgroup_read(directory, name, text, sizeof(text));
    while ((found = strsep(&rest, " \n")) != NULL) {
        if (strcmp(found, word) == 0)
            return true;
    }
    return false;
}

int64_t cgroup_line_number(const char *text, const char *key)
{
    size_t length = strlen(key);

    while (text != NULL && *text != '\0') {
        if (strncmp(text, key, length) == 0 && text[length] == ' ')
            return strtoll(text + length + 1, NULL, 10);
        text = strchr(text, '\n');
        if (text != NULL)
            text++;
    }
    return 0;
}

bool cgroup_each_process(const char *directory,
                         bool (*visit)(const void *user, pid_t pid),
                         const void *user)
{
    char line[32];
    bool goes_on = true;
    int fd = open_file(directory, "cgroup.procs", O_RDONLY);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

    if (file == NULL)
        return true;
    while (goes_on && fgets(line, sizeof(line), file) != NULL) {
        pid_t pid = (pid_t)strtol(line, NULL, 10);

        goes_on = pid <= 0 || visit(user, pid); /* 0: of an outer namespace */
    }
    fclose(file);
    return goes_on;
}

/* -- Trees ----------------------------------------------------------------*/

/* Calls `visit` with the directory and all below it, the deepest first. */
static void walk(const char *directory, int depth,
                 void (*visit)(const void *user, const char *directory),
                 const void *user)
{
    DIR *stream = depth < DEPTH_MAX ? opendir(directory) : NULL;
    struct dirent *entry;
    char path[PATH_MAX];

    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
            snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name) <
                (int)sizeof(path))
            walk(path, depth + 1, visit, user);
    }
    if (stream != NULL)
        closedir(stream);
    visit(user, directory);
}

static void remove_one(const void *user, const char *directory)
{
    (void)user;
    rmdir(directory);
}

bool cgroup_remove_tree(const char *directory)
{
    if (rmdir(directory) == 0 || errno == ENOENT)
        return true;
    walk(directory, 0, remove_one, NULL);
    return access(directory, F_OK) != 0;
}

/* -- Killing --------------------------------------------------------------*/

/* Whether the process is in the group or below it, now. Its trees may be
 * mounted anywhere, so the group is looked for by its name alone, which no
 * other has. */
static bool is_member(const char *directory, pid_t pid)
{
    char path[64], text[8192], pattern[NAME_MAX + 2];
    const char *name = strrchr(directory, '/');
    size_t length;

    if (name == NULL)
        return false;
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    cgroup_read(path, "cgroup", text, sizeof(text));
    length = (size_t)snprintf(pattern, sizeof(pattern), "%s", name);
    for (const char *at = strstr(text, pattern); at != NULL;
         at = strstr(at + 1, pattern)) {
        if (strchr("/\n", at[length]) != NULL)
            return true;
    }
    return false;
}

/* The hold keeps the pid's meaning between the question whether this is a
 * member and the signal. */
static bool kill_process(const void *user, pid_t pid)
{
    const char *group = user;
    struct process_hold process;

    if (process_hold(&process, pid) != 0)
        return true;
    if (is_member(group, pid))
        process_hold_signal(&process, SIGKILL);
    process_hold_release(&process);
    return true;
}

static void kill_one(const void *user, const char *directory)
{
    cgroup_each_process(directory, kill_process, user);
}

static bool is_frozen(const char *directory)
{
    char text[256];

    cgroup_read(directory, "cgroup.events", text, sizeof(text));
    return cgroup_line_number(text, "frozen") == 1 ||
           cgroup_has_word(directory, "freezer.state", "FROZEN");
}

/* Frozen processes do not fork. What cannot be frozen soon is killed as it
 * is. */
static void freeze(const char *directory)
{
    const struct timespec pause = {.tv_nsec = 200000};

    if (cgroup_write(directory, "cgroup.freeze", "1") != 0 &&
        cgroup_write(directory, "freezer.state", "FROZEN") != 0)
        return;
    for (int i = 0; i < FREEZE_TRIES && !is_frozen(directory); i++)
        nanosleep(&pause, NULL);
}

static void thaw(const char *directory)
{
    if (cgroup_write(directory, "cgroup.freeze", "0") != 0)
        cgroup_write(directory, "freezer.state", "THAWED");
}

void cgroup_kill_tree(const char *directory)
{
    if (cgroup_write(directory, "cgroup.kill", "1") == 0)
        return;
    freeze(directory);
    walk(directory, 0, kill_one, directory);
    thaw(directory);
}
