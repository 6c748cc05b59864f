/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/temps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/fault/sim/site_impl.h"

void temps_read(struct site_attempt *attempt, const struct attempt_spec *spec)
{
    static const char name[] = TEMPS_VARIABLE "=";

    for (char *const *at = spec->envp; *at != NULL; at++)
        if (strncmp(*at, name, sizeof(name) - 1) == 0)
            attempt->temp = mem_copy_string(*at + sizeof(name) - 1);
}

void temps_leave(struct site_attempt *attempt)
{
    char *real;
    int fd;

    if (attempt->temp == NULL)
        return;
    fd = open(attempt->temp, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    real = realpath(attempt->temp, NULL);
    if (fd < 0 || real == NULL)
        world_fail("attempt %" PRId64 " has nowhere to leave a file",
                   attempt->id);
    close(fd);
    free(attempt->temp);
    attempt->temp = real;
    attempt->made_ms = attempt->site->world->now_ms;
}

/* -- In place of the C library's ------------------------------------------*/

static bool is_there(const struct site_attempt *attempt, const char *path)
{
    return attempt->made_ms > 0 && attempt->removed_ms == 0 &&
           strcmp(attempt->temp, path) == 0;
}

/* An engine crashes before the file is gone, or before that is recorded. */
static void note_removal(const char *path)
{
    struct world *world = world_get();
    struct site_attempt *a = world->site->first;
    bool is_temp = false;

    for (; a != NULL; a = a->next)
        is_temp |= is_there(a, path);
    if (!is_temp)
        return;
    world_step();
    for (a = world->site->first; a != NULL; a = a->next)
        if (is_there(a, path))
            a->removed_ms = world->now_ms;
    world_trace("'%s' is removed", path);
}

int unlink(const char *path)
{
    const struct world *world = world_get();

    if (world != NULL && world->site != NULL)
        note_removal(path);
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
