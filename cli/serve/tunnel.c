/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/serve/tunnel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/expr/template_shell.h"
#include "base/mem.h"
#include "base/system/user_name.h"

enum { HOST_MAX = 256 };

/* In an argument of -L, a colon ends the path, a backslash takes that from the
 * character behind it, and '%' begins a word that ssh replaces. */
static void add_path(const char *path, struct buf *out)
{
    for (; *path != '\0'; path++) {
        if (*path == ':' || *path == '\\')
            buf_add_char(out, '\\');
        else if (*path == '%')
            buf_add_char(out, '%');
        buf_add_char(out, *path);
    }
}

char *tunnel_command(int port, const char *socket)
{
    struct buf command = BUF_INIT, forward = BUF_INIT;
    char host[HOST_MAX] = "";
    char *user = user_name(geteuid());
    char *target;

    if (gethostname(host, sizeof(host) - 1) != 0)
        snprintf(host, sizeof(host), "HOST");
    target = mem_printf("%s@%s", user, host);
    buf_printf(&forward, "%d:", port);
    add_path(socket, &forward);
    buf_add_string(&command, "ssh -L ");
    shell_add_word(buf_text(&forward), &command);
    buf_add_char(&command, ' ');
    shell_add_word(target, &command);
    free(target);
    free(user);
    buf_clear(&forward);
    return buf_take(&command);
}
