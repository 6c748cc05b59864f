/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/order_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"

/* The first line: fields lie in the rest as this version has them in memory. */
static const char first_line[] = "smtune order " SMTUNE_VERSION "\n";

static bool path_in(char path[PATH_MAX], const char *directory,
                    const char *name)
{
    return snprintf(path, PATH_MAX, "%s/%s", directory, name) < PATH_MAX;
}

/* -- Environments ---------------------------------------------------------*/

static size_t count_strings(char *const *strings)
{
    size_t count = 0;

    while (strings[count] != NULL)
        count++;
    return count;
}

static bool has_name(const char *assignment, const char *name)
{
    size_t length = strlen(name);

    return strncmp(assignment, name, length) == 0 && assignment[length] == '=';
}

static bool has_name_of(const char *assignment, const char *other)
{
    size_t length = strcspn(other, "=");

    return strncmp(assignment, other, length) == 0 && assignment[length] == '=';
}

static bool has_variable(char *const *envp, const char *assignment)
{
    while (*envp != NULL && !has_name_of(*envp, assignment))
        envp++;
    return *envp != NULL;
}

static bool is_named(const char *assignment, const char *const *names)
{
    while (names != NULL && *names != NULL && !has_name(assignment, *names))
        names++;
    return names != NULL && *names != NULL;
}

char **order_own_variables(char *const *envp, char *const *inherited,
                           const char *const *names)
{
    char **own = mem_array(count_strings(envp) + 1, sizeof(*own));
    size_t count = 0;

    for (; *envp != NULL; envp++) {
        if (!text_list_has((const char *const *)inherited, *envp) ||
            is_named(*envp, names))
            own[count++] = *envp;
    }
    return own;
}

/* What the node has set up itself, whatever an order says. */
static bool is_the_nodes(const char *assignment)
{
    return has_name(assignment, "PATH") ||
           has_name(assignment, "CUDA_VISIBLE_DEVICES");
}

static bool is_an_outer_trials(const char *assignment)
{
    return strncmp(assignment, "SMTUNE_", strlen("SMTUNE_")) == 0 ||
           strncmp(assignment, "SM_", strlen("SM_")) == 0;
}

static char *path_with(const char *programs, char *const *node)
{
    while (*node != NULL && !has_name(*node, "PATH"))
        node++;
    return mem_printf("PATH=%s:%s", programs,
                      *node != NULL ? *node + strlen("PATH=")
                                    : "/usr/local/bin:/usr/bin:/bin");
}

char **order_environment(char *const *own, char *const *node,
                         const char *programs)
{
    size_t room = count_strings(own) + count_strings(node) + 2, count = 0;
    char **all = mem_array(room, sizeof(*all));

    all[count++] = path_with(programs, node);
    for (; *node != NULL; node++) {
        if (is_an_outer_trials(*node) || has_name(*node, "PATH") ||
            (has_variable(own, *node) && !is_the_nodes(*node)))
            continue;
        all[count++] = mem_copy_string(*node);
    }
    for (; *own != NULL; own++) {
        if (!is_the_nodes(*own))
            all[count++] = mem_copy_string(*own);
    }
    return all;
}

/* -- The file -------------------------------------------------------------*/

/* A new file each time, so that who reads has the one or the other; not synced:
 * what a power cut leaves of it is refused, and starts nothing. */
static int replace(const char *directory, const struct buf *bytes,
                   struct err *err)
{
    char path[PATH_MAX], temporary[PATH_MAX];
    int fd, result;

    if (!path_in(path, directory, "order") ||
        !path_in(temporary, directory, "order.tmp"))
        return err_set_errno(err, ERR_FAILED, ENAMETOOLONG, "%.200s...",
                             directory);
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
              0600);
    if (fd < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot create '%s'",
                             temporary);
    result = fs_write_all(fd, bytes->data, bytes->length);
    if (close(fd) != 0 || result != 0 || rename(temporary, path) != 0) {
        err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'", path);
        unlink(temporary);
        return -1;
    }
    return 0;
}

int order_write(const struct attempt_spec *spec, struct err *err)
{
    struct buf bytes = BUF_INIT;
    int result;

    buf_add_string(&bytes, first_line);
    result = agent_put_start(&bytes, spec, err);
    if (result == 0)
        result = replace(spec->directory, &bytes, err);
    buf_clear(&bytes);
    return result;
}

static struct attempt_request *parse(const struct buf *bytes)
{
    size_t at = strlen(first_line);
    struct agent_message message;

    if (agent_next(buf_text(bytes) + at, bytes->length - at, &message) !=
            (ptrdiff_t)(bytes->length - at) ||
        message.kind != AGENT_START)
        return NULL;
    return agent_get_start(&message);
}

struct attempt_request *order_read(const char *directory, struct err *err)
{
    struct attempt_request *request = NULL;
    struct buf bytes = BUF_INIT;
    char path[PATH_MAX];

    if (!path_in(path, directory, "order"))
        err_set_errno(err, ERR_FAILED, ENAMETOOLONG, "%.200s...", directory);
    else if (fs_read_regular(path, 2 * (size_t)AGENT_MESSAGE_MAX_BYTES, &bytes,
                             err) == 0) {
        if (bytes.length < strlen(first_line) ||
            memcmp(bytes.data, first_line, strlen(first_line)) != 0)
            err_set(err, ERR_FAILED,
                    "'%s' is damaged or was written by another version of "
                    "smtune (this is version " SMTUNE_VERSION ")",
                    path);
        else if ((request = parse(&bytes)) == NULL)
            err_set(err, ERR_FAILED, "'%s' is damaged", path);
    }
    buf_clear(&bytes);
    return request;
}
