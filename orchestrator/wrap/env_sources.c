/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/wrap/env_sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"

/* Where a line is wrong, in one word each. */
static const char *find_fault(const char *line, size_t name)
{
    if (name == 0 || line[name] != '=')
        return "expected NAME=VALUE";
    return text_begins_with(line, "SMTUNE_")
               ? "smtune sets variables whose name begins with SMTUNE_"
               : NULL;
}

/* NAME=VALUE without the quotes around the value. */
static char *assignment_of(const char *line, size_t name, size_t length)
{
    const char *value = line + name + 1;
    size_t value_length = length - name - 1;

    if (value_length >= 2 && strchr("\"'", value[0]) != NULL &&
        value[value_length - 1] == value[0]) {
        value++;
        value_length -= 2;
    }
    return mem_printf("%.*s=%.*s", (int)name, line, (int)value_length, value);
}

static int add_line(const char *line, size_t length, struct word_list *list,
                    const char **fault)
{
    static const char export[] = "export ";
    size_t blanks = strspn(line, " \t"), name;

    line += blanks;
    length -= blanks;
    while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL)
        length--;
    if (length == 0 || line[0] == '#')
        return 0;
    if (text_begins_with(line, export)) {
        line += strlen(export);
        length -= strlen(export);
    }
    name = text_variable_length(line);
    *fault = find_fault(line, name);
    if (*fault != NULL)
        return -1;
    word_list_add(list, assignment_of(line, name, length));
    return 0;
}

static int add_lines(const char *path, const char *text, struct word_list *list,
                     struct err *err)
{
    const char *fault = NULL;

    for (int number = 1; *text != '\0'; number++) {
        size_t length = strcspn(text, "\n");
        char *line = mem_copy_bytes(text, length);
        int result = add_line(line, length, list, &fault);

        free(line);
        if (result != 0)
            return err_set(err, ERR_USAGE, "env_file '%s', line %d: %s", path,
                           number, fault);
        text += length + (text[length] == '\n');
    }
    return 0;
}

int env_sources_read_file(const struct job_spec *task, struct word_list *list,
                          struct err *err)
{
    struct buf text = BUF_INIT;
    struct err why;
    int result;

    if (task->env_file == NULL)
        return 0;
    result = fs_read_regular(task->env_file, ENV_FILE_MAX_BYTES, &text, &why);
    if (result != 0)
        err_set(err, ERR_USAGE, "env_file: %s", why.text);
    else if (memchr(buf_text(&text), '\0', text.length) != NULL)
        result = err_set(err, ERR_USAGE, "env_file '%s' contains a NUL byte",
                         task->env_file);
    else
        result = add_lines(task->env_file, buf_text(&text), list, err);
    buf_clear(&text);
    return result;
}

static const char *find(char *const *environment, const char *name)
{
    size_t length = strlen(name);

    for (; *environment != NULL; environment++)
        if (strncmp(*environment, name, length) == 0 &&
            (*environment)[length] == '=')
            return *environment;
    return NULL;
}

int env_sources_read(const struct job_spec *task, char *const *environment,
                     struct word_list *list, struct err *err)
{
    if (env_sources_read_file(task, list, err) != 0)
        return -1;
    for (size_t i = 0; i < task->env_from_count; i++) {
        const char *found = find(environment, task->env_from[i]);

        if (found == NULL)
            return err_set(err, ERR_USAGE,
                           "env_from: missing environment variable '%s': set "
                           "it where smtune runs",
                           task->env_from[i]);
        word_list_copy(list, found);
    }
    return 0;
}
