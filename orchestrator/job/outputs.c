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
    json_t *files; /* path: a list, see read_file() */
    json_t *into;
};

void outputs_put(json_t *outputs, const char *name, const struct value *value)
{
    json_t *texts = json_object_get(outputs, OUTPUT_TEXTS);

    json_object_set_new(outputs, name, json_from_value(value));
    if (value->type != VALUE_NUMERAL)
        return;
    if (texts == NULL) {
        texts = json_object();
        json_object_set_new(outputs, OUTPUT_TEXTS, texts);
    }
    json_object_set_new(texts, name, json_string(value->text));
}

struct value outputs_get(const json_t *outputs, const char *name)
{
    const json_t *texts = json_object_get(outputs, OUTPUT_TEXTS);
    const char *text = json_string_value(json_object_get(texts, name));

    return text != NULL ? value_numeral(text)
                        : json_to_value(json_object_get(outputs, name));
}

/* ---- files ---- */

/* `name` is what the file is called in the step's own words. The values and
 * their texts, as a list. */
static json_t *read_file(const char *path, const char *name, struct err *err)
{
    struct value_file file = {NULL, NULL};
    struct buf text = BUF_INIT;
    json_t *pair = NULL;
    struct err why;

    if (fs_read_regular(path, VALUE_FILE_BYTES_MAX, &text, &why) == 0) {
        if (value_file_parse(name, buf_text(&text), text.length, &file, err) ==
            0)
            pair = json_pack("[OO]", file.values, file.texts);
        value_file_clear(&file);
    } else if (why.kind == ERR_NOT_FOUND)
        err_set(err, ERR_FILE, "no such file: '%s'", name);
    else
        err_set(err, err_may_pass(&why) ? why.kind : ERR_FILE, "%s", why.text);
    buf_clear(&text);
    return pair;
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
static void put(struct reader *reader, const char *name, const json_t *json,
                const char *written)
{
    struct buf text = BUF_INIT;
    struct value value;

    if (written != NULL) {
        value = value_numeral(written);
        outputs_put(reader->into, name, &value);
    } else if (!json_is_object(json) && !json_is_array(json)) {
        json_object_set_new(reader->into, name, json_deep_copy(json));
    } else {
        json_print(json, &text);
        json_object_set_new(reader->into, name,
                            json_stringn(buf_text(&text), text.length));
        buf_clear(&text);
    }
}

static int read_value(struct reader *reader, const struct output *output,
                      const char *path, const char *name, struct err *err)
{
    const json_t *pair = get_file(reader, path, name, err);
    const json_t *value, *text;
    struct err why;

    if (pair == NULL)
        return -1;
    value = value_file_find(json_array_get(pair, 0), output->key, &why);
    if (value == NULL)
        return err_set(err, ERR_FILE, "%s in '%s'", why.text, name);
    text = json_object_get(json_array_get(pair, 1), output->key);
    put(reader, output->name, value, json_string_value(text));
    return 0;
}

static int read_reported(struct reader *reader, const struct output *output,
                         struct err *err)
{
    char *path = fs_join(reader->site->attempt_directory, OUTPUTS_FILE);
    int result;

    if (fs_exists(path))
        result = read_value(reader, output, path, "$SMTUNE_OUTPUTS", err);
    else
        result =
            err_set(err, ERR_FILE, "nothing was written to $SMTUNE_OUTPUTS");
    free(path);
    return result;
}

static int take_path(struct reader *reader, const struct output *output,
                     const char *path, const char *name, struct err *err)
{
    struct stat status;
    json_t *json;

    if (stat(path, &status) != 0 &&
        !(output->is_temp && reader->site->may_lack_temps))
        return errno == ENOENT || errno == ENOTDIR
                   ? err_set(err, ERR_FILE, "no such file: '%s'", name)
                   : err_set_errno(err, ERR_FILE, errno, "cannot read '%s'",
                                   name);
    json = json_string(path);
    if (json == NULL)
        return err_set(err, ERR_FILE, "path '%s' is not UTF-8", name);
    return json_object_set_new(reader->into, output->name, json);
}

static int read_path(struct reader *reader, const struct output *output,
                     struct err *err)
{
    struct buf name = BUF_INIT;
    int result = -1;
    char *path;

    if (template_expand(output->path, reader->site->columns, &name, err) == 0) {
        path = fs_join(reader->site->work_directory, buf_text(&name));
        if (name.length == 0)
            err_set(err, ERR_FILE, "the path is empty");
        else if (output->kind == OUTPUT_FILE)
            result = take_path(reader, output, path, buf_text(&name), err);
        else
            result = read_value(reader, output, path, buf_text(&name), err);
        free(path);
    }
    buf_clear(&name);
    return result;
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
    struct reader reader = {site, json_object(), into};
    int result = 0;

    for (size_t i = 0; i < step->output_count && result == 0; i++) {
        const struct output *output = &step->outputs[i];

        result = output->kind == OUTPUT_REPORTED
                     ? read_reported(&reader, output, err)
                     : read_path(&reader, output, err);
        if (result != 0)
            err_prefix(err, "output '%s'", output->name);
    }
    json_decref(reader.files);
    return result == 0 ? check_size(into, err) : -1;
}
