/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/command/shebang.h"

#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/word_list.h"

struct line {
    const char *program, *argument; /* within the script */
    size_t program_length, argument_length;
};

bool shebang_is_in(const char *script)
{
    return strncmp(script, "#!", 2) == 0;
}

/* As execve(2) of Linux: blanks around are cut off. */
static struct line read_line(const char *script)
{
    const char *end = script + strcspn(script, "\n");
    const char *at = script + 2 + strspn(script + 2, " \t");
    struct line line = {.program = at, .program_length = strcspn(at, " \t\n")};

    at += line.program_length;
    at += strspn(at, " \t");
    while (end > at && strchr(" \t\r", end[-1]) != NULL)
        end--;
    line.argument = at;
    line.argument_length = (size_t)(end - at);
    return line;
}

bool program_is_shell(const char *path, size_t length)
{
    static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh"};
    size_t begin = length;

    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (strlen(shells[i]) == length - begin &&
            memcmp(path + begin, shells[i], length - begin) == 0)
            return true;
    return false;
}

/* /usr/bin/env bash is bash, and so is env -S bash -e. */
bool shebang_is_shell(const char *script)
{
    struct line line;
    const char *name;

    if (!shebang_is_in(script))
        return false;
    line = read_line(script);
    if (program_is_shell(line.program, line.program_length))
        return true;
    if (line.program_length < 4 ||
        memcmp(line.program + line.program_length - 4, "/env", 4) != 0)
        return false;
    name = line.argument;
    if (line.argument_length > 2 && memcmp(name, "-S", 2) == 0)
        name += 2 + strspn(name + 2, " \t");
    return program_is_shell(name, strcspn(name, " \t\n"));
}

char **shebang_words(const char *script, const char *path)
{
    struct line line = read_line(script);
    size_t count = 0;
    char **words;

    if (line.program_length == 0)
        return NULL;
    words = mem_array(4, sizeof(*words));
    words[count++] = mem_copy_bytes(line.program, line.program_length);
    if (line.argument_length > 0)
        words[count++] = mem_copy_bytes(line.argument, line.argument_length);
    words[count++] = mem_copy_string(path);
    words[count] = NULL;
    return words;
}

char **script_words(const char *interpreter, const char *script)
{
    struct word_list words = {0};

    word_list_copy(&words, interpreter != NULL ? interpreter : "/bin/sh");
    if (interpreter != NULL) {
        word_list_copy(&words, "-eo");
        word_list_copy(&words, "pipefail");
    }
    word_list_copy(&words, "-c");
    word_list_copy(&words, script);
    return words.items;
}
