/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program can read its parameters from its environment, so a command without
 * them is no mistake. The script shows that. It is only looked for a few words:
 * what is found prevents a warning, and changes nothing else.
 */
#include "orchestrator/spec/command/script_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf/conf.h"
#include "base/fs.h"
#include "base/mem.h"

enum { SCRIPT_BYTES_MAX = 1 << 20, PATH_BYTES_MAX = 4096 };

static bool file_has(const char *path, const char *const *texts)
{
    struct buf script = BUF_INIT;
    bool has = false;

    if (fs_read_regular(path, SCRIPT_BYTES_MAX, &script, NULL) == 0)
        for (; *texts != NULL && !has; texts++)
            has = strstr(buf_text(&script), *texts) != NULL;
    buf_clear(&script);
    return has;
}

/* train.py, bin/train: other words are programs in PATH, options or values. */
static bool is_path(const char *word, size_t length)
{
    return length < PATH_BYTES_MAX && (memchr(word, '.', length) != NULL ||
                                       memchr(word, '/', length) != NULL);
}

static bool word_has(const char *word, size_t length, const char *const *texts)
{
    char *path;
    bool has;

    if (!is_path(word, length))
        return false;
    path = mem_copy_bytes(word, length);
    has = file_has(path, texts);
    free(path);
    return has;
}

bool command_script_has(const struct conf_node *command,
                        const char *const *texts)
{
    static const char between[] = " \t\n'\"=;|&()<>";
    const char *at = command != NULL ? command->text : NULL;

    for (size_t i = 0; command != NULL && i < command->count; i++)
        if (command_script_has(command->items[i], texts))
            return true;
    while (at != NULL && *(at += strspn(at, between)) != '\0') {
        size_t length = strcspn(at, between);

        if (word_has(at, length, texts))
            return true;
        at += length;
    }
    return false;
}
