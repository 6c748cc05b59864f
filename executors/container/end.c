/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The processes of a container of Docker are children of a daemon, and those of
 * Podman may be in a control group of their own. The end of what started them
 * is not theirs, so they are removed by name. A file `containers/NAME` holds
 * the host and the runtime's program. Another machine's are left to it, because
 * ranks of several nodes share a folder.
 */
#include "executors/container/end.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/system/process_hold.h"
#include "base/word_list.h"

#define FOLDER "containers"

enum { HOST_MAX = 256, NOTE_MAX = 8192, WAIT_MS = 10000 };

static char *note_path(const char *folder, const char *name)
{
    return mem_printf("%s/" FOLDER "/%s", folder, name);
}

static void host_name(char host[HOST_MAX])
{
    if (gethostname(host, HOST_MAX - 1) != 0)
        host[0] = '\0';
    host[HOST_MAX - 1] = '\0';
}

int container_end_note(const char *folder, const char *name,
                       const char *program, struct err *err)
{
    enum { MODE = 0600 };
    char host[HOST_MAX], *path = note_path(folder, name), *text;
    char *notes = fs_join(folder, FOLDER);
    int result = fs_make_shared_directories(notes, err);

    host_name(host);
    text = mem_printf("%s\n%s\n", host, program);
    if (result == 0)
        result = fs_write_atomic(path, text, strlen(text), MODE, err);
    free(text);
    free(notes);
    free(path);
    return result;
}

void container_end_forget(const char *folder, const char *name)
{
    char *path = note_path(folder, name);

    unlink(path);
    free(path);
}

/* Waits for the child, and kills it when it takes too long. */
static void await(pid_t pid)
{
    struct pollfd file = {.fd = child_watch(pid), .events = POLLIN};

    if (file.fd < 0 || poll(&file, 1, WAIT_MS) <= 0)
        kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (file.fd >= 0)
        close(file.fd);
}

/* With signals as a program expects them, and without a word. */
static void run(char *const *argv)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;

    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    if (posix_spawn(&pid, argv[0], &files, &attributes, argv, environ) == 0)
        await(pid);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
}

void container_end(const char *folder, const char *name)
{
    char *path = note_path(folder, name), host[HOST_MAX];
    struct buf note = BUF_INIT;
    char *program = NULL;

    host_name(host);
    if (fs_read_regular(path, NOTE_MAX, &note, NULL) == 0)
        program = strchr(note.data, '\n');
    if (program != NULL) {
        *program++ = '\0';
        program[strcspn(program, "\n")] = '\0';
    }
    if (program != NULL && strcmp(note.data, host) == 0) {
        struct word_list words = {0};

        word_list_copy(&words, program);
        word_list_copy(&words, "rm");
        word_list_copy(&words, "-f");
        word_list_copy(&words, name);
        run(words.items);
        words_free(words.items);
        unlink(path);
    }
    buf_clear(&note);
    free(path);
}

void container_end_all(const char *folder)
{
    char *path = fs_join(folder, FOLDER);
    DIR *notes = opendir(path);
    const struct dirent *entry;

    while (notes != NULL && (entry = readdir(notes)) != NULL)
        if (entry->d_name[0] != '.')
            container_end(folder, entry->d_name);
    if (notes != NULL)
        closedir(notes);
    free(path);
}
