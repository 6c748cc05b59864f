/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/job/value_file.h"

/* One attempt's files, each read once however many outputs are in it. */
struct reader {
    const struct outputs_site *site;
    json_t *files; /* path: object */
};

/* `name` is what the file is called in the step's own words. */
static json_t *read_file(const char *path, const char *name, struct err *err)
{
    struct buf text = BUF_INIT;
    json_t *object = NULL;
    struct err why;

    if (fs_read_regular(path, VALUE_FILE_BYTES_MAX, &text, &why) == 0)
        object = value_file_parse(name, buf_text(&text), text.length, err);
    else if (why.kind == ERR_NOT_FOUND)
        err_set(err, ERR_FILE, "no such file: '%s'", name);
    else
        err_set(err, err_may_pass(&why) ? why.kind : ERR_FILE, "%s", why.text);
    buf_clear(&text);
    return object;
}

static const json_t *get_file(struct reader *reader, const char *path,
                              const char *name, struct err *err)
{
    json_t *object = json_object_get(reader->files, path);

    if (object != NULL)
        return object;
    object = read_file(path, name, err);
    if (object == NULL)
        return NULL;
    /* a path need not be UTF-8 to be known again */
    json_object_set_new_nocheck(reader->files, path, object);
    return object;
}

/* A value as results have it: what is none of a scalar becomes its text. */
static json_t *flat(const json_t *json)
{
    struct buf text = BUF_INIT;
    json_t *copy;

    if (json_typeof(json) != JSON_OBJECT && json_typeof(json) != JSON_ARRAY)
        return json_deep_copy(json);
    json_print(json, &text);
    copy = json_stringn(buf_text(&text), text.length);
    buf_clear(&text);
    return copy;
}

static json_t *read_value(struct reader *reader, const struct output *output,
                          const char *path, const char *name, struct err *err)
{
    const json_t *object = get_file(reader, path, name, err);
    const json_t *value;
    struct err why;

    if (object == NULL)
        return NULL;
    value = value_file_find(object, output->key, &why);
    if (value != NULL)
        return flat(value);
    err_set(err, ERR_FILE, "%s in '%s'", why.text, name);
    return NULL;
}

static json_t *read_reported(struct reader *reader, const struct output *output,
                             struct err *err)
{
    char *path = fs_join(reader->site->attempt_directory, OUTPUTS_FILE);
    json_t *value = NULL;

    if (fs_exists(path))
        value = read_value(reader, output, path, "$SMTUNE_OUTPUTS", err);
    else
        err_set(err, ERR_FILE, "nothing was written to $SMTUNE_OUTPUTS");
    free(path);
    return value;
}

static json_t *check_path(const char *path, const char *name, struct err *err)
{
    struct stat status;
    json_t *json;

    if (stat(path, &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            err_set(err, ERR_FILE, "no such file: '%s'", name);
        else
            err_set_errno(err, ERR_FILE, errno, "cannot read '%s'", name);
        return NULL;
    }
    json = json_string(path);
    if (json == NULL)
        err_set(err, ERR_FILE, "path '%s' is not UTF-8", name);
    return json;
}

static json_t *read_path(struct reader *reader, const struct output *output,
                         struct err *err)
{
    struct buf name = BUF_INIT;
    json_t *value = NULL;
    char *path;

    if (template_expand(output->path, reader->site->columns, &name, err) == 0) {
        path = fs_join(reader->site->work_directory, buf_text(&name));
        if (name.length == 0)
            err_set(err, ERR_FILE, "the path is empty");
        else if (output->kind == OUTPUT_FILE)
            value = check_path(path, buf_text(&name), err);
        else
            value = read_value(reader, output, path, buf_text(&name), err);
        free(path);
    }
    buf_clear(&name);
    return value;
}

static int check_size(const json_t *values, struct err *err)
{
    size_t bytes = json_dumpb(values, NULL, 0, JSON_COMPACT);

    if (bytes <= OUTPUTS_BYTES_MAX)
        return 0;
    return err_set(err, ERR_FILE,
                   "out of range: the outputs have %zu bytes, more than %d",
                   bytes, OUTPUTS_BYTES_MAX);
}

int outputs_read(const struct step *step, const struct outputs_site *site,
                 json_t *into, struct err *err)
{
    struct reader reader = {site, json_object()};
    int result = 0;

    for (size_t i = 0; i < step->output_count && result == 0; i++) {
        const struct output *output = &step->outputs[i];
        json_t *value = output->kind == OUTPUT_REPORTED
                            ? read_reported(&reader, output, err)
                            : read_path(&reader, output, err);

        if (value == NULL)
            result = err_prefix(err, "output '%s'", output->name);
        else
            json_object_set_new(into, output->name, value);
    }
    json_decref(reader.files);
    return result == 0 ? check_size(into, err) : -1;
}
