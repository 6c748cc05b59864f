/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/file_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "workflows/matrix.h"

enum { FILE_MODE = 0644 };

/* A path that is there is no pattern, whatever it is called. */
static json_t *find_paths(const struct file_lists_site *site, const char *text,
                          struct err *err)
{
    char *path;
    json_t *list;

    if (text[0] == '[')
        return matrix_axis_from_text(text, err);
    path = fs_join(site->work_directory, text);
    if (matrix_is_pattern(text, path)) {
        list = matrix_axis_from_glob(path, err);
    } else {
        list = json_array();
        json_array_append_new(list, json_from_text(text));
    }
    free(path);
    return list;
}

static int add_path(const json_t *item, bool has_nuls, struct buf *out,
                    struct err *err)
{
    const struct value value = json_to_value(item);
    size_t before = out->length;

    value_print_argument(&value, out);
    if (!has_nuls && strchr(buf_text(out) + before, '\n') != NULL)
        return err_set(err, ERR_FILE,
                       "files(): a path contains a line break: use files0(), "
                       "which ends each path with a NUL");
    buf_add_char(out, has_nuls ? '\0' : '\n');
    return 0;
}

static int write_list(const json_t *list, const char *path, bool has_nuls,
                      struct err *err)
{
    struct buf text = BUF_INIT;
    int result = 0;
    json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        if (result == 0)
            result = add_path(item, has_nuls, &text, err);
    }
    if (result == 0)
        result =
            fs_write_below(path, buf_text(&text), text.length, FILE_MODE, err);
    buf_clear(&text);
    return result;
}

static int on_files(void *user, const char *path, const char *text,
                    bool has_nuls, struct err *err)
{
    const struct file_lists_site *site = user;
    json_t *list = find_paths(site, text, err);
    int result = -1;

    if (list == NULL)
        err_prefix(err, "files()");
    else if (json_array_size(list) == 0 && !site->allows_empty)
        err_set(err, ERR_FILE,
                "files(): no path in '%s' (allow_empty: true accepts that)",
                text);
    else
        result = write_list(list, path, has_nuls, err);
    json_decref(list);
    return result;
}

int file_lists_write(const struct job_spec *task, const struct value *values,
                     const struct file_lists_site *site, struct err *err)
{
    struct file_lists_site own = *site;
    int result = 0;

    if (task->command != NULL)
        result =
            template_each_files(task->command, values, on_files, &own, err);
    for (size_t i = 0; i < task->environment_count && result == 0; i++)
        result = template_each_files(task->environment[i].value, values,
                                     on_files, &own, err);
    return result;
}
