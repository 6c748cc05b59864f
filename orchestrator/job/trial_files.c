/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files that a trial finds in its folder, with its values in place.
 *
 * A file of a structured format is a tree: the template file's, or an empty
 * one, with the items of `set` put into it. A text that is nothing but one
 * ${{ }} becomes the value with its type, any other text is expanded. The item
 * of an inactive parameter is left out, as it is in a command. The tree is then
 * printed, so comments of a YAML or JSON file are lost. What YAML has without
 * quotes is printed as it is written: many programs read YAML 1.1, where `no`
 * is false, and a key may be a number. A TOML or text file is
 * expanded as text and keeps everything; in a TOML file, `set` then replaces
 * single values of the text.
 *
 * Template files are read again for each attempt: the record has the values,
 * and a file that is missing fails the trial and no reader of the record.
 */
#include "orchestrator/job/trial_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf/conf.h"
#include "base/conf/json.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/toml/toml.h"
#include "base/units.h"
#include "orchestrator/job/file_print.h"

enum { FILE_MODE = 0644 };

struct writing {
    const struct job_spec *spec;
    struct expr_table table;
    const struct value *values;
    bool is_as_written; /* plain scalars of a YAML file stay so */
    struct err *err;
};

/* ---- texts ---- */

/* The one expression that the text is, blanks aside; NULL: it is none. The
 * caller's to free. */
static char *find_whole(const char *text)
{
    const char *start = text + strspn(text, " \t\n");
    const char *expression, *end;
    size_t length;

    expression = template_find_expression(text, &length);
    if (expression == NULL || expression != start + strlen("${{"))
        return NULL;
    end = expression + length;
    if (strncmp(end, "}}", 2) != 0 || end[2 + strspn(end + 2, " \t\n")] != '\0')
        return NULL;
    return mem_copy_bytes(expression, length);
}

/* *json stays NULL where the value is that of an inactive parameter. */
static int evaluate(const struct writing *w, const char *text, json_t **json)
{
    struct expr *expr = expr_compile(w->spec->env, text, &w->table, 1, w->err);
    struct value value;
    int rc = -1;

    if (expr != NULL)
        rc = expr_eval(expr, w->values, &value, w->err);
    if (rc == 0 && value.type == VALUE_REAL)
        *json = file_print_real(value.real);
    else if (rc == 0 && value.type != VALUE_NULL)
        *json = json_from_value(&value);
    expr_destroy(expr);
    return rc;
}

/* 1 where it is null as a whole. */
static int expand(const struct writing *w, const char *text, struct buf *out)
{
    struct template *template = template_create(
        w->spec->env, text, TEMPLATE_TEXT, &w->table, 1, w->err);
    int null = -1, rc = -1;

    if (template != NULL)
        null = template_is_null(template, w->values, w->err);
    if (null >= 0)
        rc = template_expand(template, w->values, out, w->err);
    template_destroy(template);
    return rc < 0 ? -1 : null;
}

static int text_json(const struct writing *w, const char *text, json_t **json)
{
    char *whole = find_whole(text);
    struct buf out = BUF_INIT;
    int null;

    if (whole != NULL) {
        null = evaluate(w, whole, json);
        free(whole);
        return null;
    }
    null = expand(w, text, &out);
    if (null == 0)
        *json = json_from_text(buf_text(&out));
    buf_clear(&out);
    return null < 0 ? -1 : 0;
}

/* ---- trees ---- */

static int node_json(const struct writing *w, const struct conf_node *node,
                     json_t **json);

static int list_json(const struct writing *w, const struct conf_node *list,
                     json_t *to)
{
    for (size_t i = 0; i < list->count; i++) {
        json_t *item = NULL;

        if (node_json(w, list->items[i], &item) != 0)
            return -1;
        if (item != NULL)
            json_array_append_new(to, item);
    }
    return 0;
}

/* Whether the scalar has a tag that makes it text: !!str 5. */
static bool has_tag(const struct conf_node *scalar)
{
    struct conf_doc *doc;
    bool has_tag;

    if (scalar->type != CONF_TEXT)
        return false;
    doc = conf_parse(scalar->text, strlen(scalar->text), NULL);
    has_tag = doc == NULL || conf_root(doc)->type != CONF_TEXT;
    conf_destroy(doc);
    return has_tag;
}

/* Whether it is printed as it stands in the file. */
static bool is_plain(const struct writing *w, const struct conf_node *scalar)
{
    return w->is_as_written && !scalar->quoted && scalar->type != CONF_NULL &&
           strstr(scalar->text, "${{") == NULL &&
           strchr(scalar->text, '\n') == NULL && !has_tag(scalar);
}

static int map_json(const struct writing *w, const struct conf_node *map,
                    json_t *to)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct conf_node *key = map->keys[i];
        json_t *item = NULL;
        char *name;

        if (node_json(w, map->items[i], &item) != 0)
            return -1;
        if (item == NULL)
            continue;
        name = key->type != CONF_TEXT && is_plain(w, key)
                   ? file_print_plain_key(key->text)
                   : mem_copy_string(key->text);
        json_object_set_new(to, name, item);
        free(name);
    }
    return 0;
}

static int node_json(const struct writing *w, const struct conf_node *node,
                     json_t **json)
{
    if (node->text != NULL && is_plain(w, node)) {
        *json = file_print_plain(node->text);
        return 0;
    }
    switch (node->type) {
    case CONF_TEXT:
        return text_json(w, node->text, json);
    case CONF_LIST:
        *json = json_array();
        return list_json(w, node, *json);
    case CONF_MAP:
        *json = json_object();
        return map_json(w, node, *json);
    case CONF_REAL:
        *json = file_print_real(node->real);
        return 0;
    case CONF_BOOL:
    case CONF_INT:
    case CONF_NULL:
        break;
    }
    *json = conf_to_json(node);
    return 0;
}

/* Sets or, with NULL, removes an item of what a path leads to; takes it. */
static int set_item(struct err *err, json_t *at, const char *path,
                    json_t *item);

/* Of a list: the path begins with the number of an item. */
static int set_in_list(struct err *err, json_t *list, const char *path,
                       json_t *item)
{
    size_t digits = strspn(path, "0123456789");
    size_t number = strtoul(path, NULL, 10);
    int rc = 0;

    if (digits == 0 || digits != strcspn(path, ".") ||
        number >= json_array_size(list))
        rc = err_set(err, ERR_FILE, "no item '%.*s' in the list (%zu item%s)",
                     (int)strcspn(path, "."), path, json_array_size(list),
                     units_plural((int64_t)json_array_size(list)));
    if (rc == 0 && path[digits] == '.')
        return set_item(err, json_array_get(list, number), path + digits + 1,
                        item);
    if (rc == 0 && item != NULL)
        json_array_set(list, number, item);
    else if (rc == 0)
        json_array_remove(list, number);
    json_decref(item);
    return rc;
}

/* The map's key of that text, or the text; the caller's to free. */
static char *find_key(const json_t *map, const char *text, size_t length)
{
    char *copy = mem_copy_bytes(text, length);
    char *plain = file_print_plain_key(copy);
    bool has_plain = json_object_get(map, plain) != NULL;

    free(has_plain ? copy : plain);
    return has_plain ? plain : copy;
}

static int set_in_map(struct err *err, json_t *map, const char *path,
                      json_t *item)
{
    const char *dot = strchr(path, '.');
    char *key = find_key(map, path, strlen(path));
    json_t *inner;

    if (dot == NULL || json_object_get(map, key) != NULL) {
        if (item != NULL)
            json_object_set_new(map, key, item);
        else
            json_object_del(map, key);
        free(key);
        return 0;
    }
    free(key);
    key = find_key(map, path, (size_t)(dot - path));
    inner = json_object_get(map, key);
    if (item != NULL && (inner == NULL || json_is_null(inner))) {
        inner = json_object();
        json_object_set_new(map, key, inner);
    }
    free(key);
    return inner == NULL || json_is_null(inner)
               ? 0
               : set_item(err, inner, dot + 1, item);
}

static int set_item(struct err *err, json_t *at, const char *path, json_t *item)
{
    if (json_is_object(at))
        return set_in_map(err, at, path, item);
    if (json_is_array(at))
        return set_in_list(err, at, path, item);
    json_decref(item);
    return err_set(err, ERR_FILE, "no key '%s' in a value that is not a map",
                   path);
}

/* Of an error in a template file. */
static void prefix_place(const struct writing *w, const struct job_file *file)
{
    if (w->err != NULL && w->err->line > 0)
        err_prefix(w->err, "'%s', line %d, column %d", file->from, w->err->line,
                   w->err->column);
}

static int set_items(const struct writing *w, const struct conf_node *set,
                     json_t *object)
{
    for (size_t i = 0; set != NULL && i < set->count; i++) {
        const char *key = set->keys[i]->text;
        json_t *item = NULL;

        if (node_json(w, set->items[i], &item) != 0 ||
            set_item(w->err, object, key, item) != 0)
            return err_prefix(w->err, "'%s'", key);
    }
    return 0;
}

/* ---- TOML ---- */

static int set_toml_value(const struct writing *w, const struct job_file *file,
                          const char *key, const json_t *item, struct buf *text)
{
    struct buf value = BUF_INIT;
    int rc;

    if (item != NULL && file_print_toml_value(item, &value, w->err) != 0) {
        buf_clear(&value);
        return -1;
    }
    if (item != NULL)
        rc = toml_set(text, key, buf_text(&value), w->err);
    else
        rc = toml_remove(text, key, w->err);
    if (rc != 0)
        prefix_place(w, file);
    buf_clear(&value);
    return rc;
}

/* Into the text of a TOML file. */
static int set_toml(const struct writing *w, const struct job_file *file,
                    struct buf *text)
{
    const struct conf_node *set = file->set;
    int rc = 0;

    for (size_t i = 0; set != NULL && i < set->count && rc == 0; i++) {
        const char *key = set->keys[i]->text;
        json_t *item = NULL;

        rc = node_json(w, set->items[i], &item);
        if (rc == 0)
            rc = set_toml_value(w, file, key, item, text);
        json_decref(item);
        if (rc != 0)
            err_prefix(w->err, "'%s'", key);
    }
    return rc;
}

/* ---- files ---- */

static int read_tree(const struct writing *w, const struct job_file *file,
                     const struct buf *text, json_t **json)
{
    struct diags *diags = diags_create(file->from);
    struct conf_doc *doc = conf_parse_tree(buf_text(text), text->length, diags);
    int rc = -1;

    if (doc == NULL) {
        diags_to_err(diags, w->err);
        prefix_place(w, file);
    } else if (conf_root(doc)->type != CONF_MAP) {
        err_set(w->err, ERR_FILE, "'%s' is not a map of keys", file->from);
    } else {
        struct writing tree = *w;

        tree.is_as_written = file->format == FILE_YAML;
        rc = node_json(&tree, conf_root(doc), json);
    }
    conf_destroy(doc);
    diags_destroy(diags);
    return rc;
}

static int print_tree(const struct writing *w, const struct job_file *file,
                      const struct buf *text, struct buf *out)
{
    json_t *json = NULL;
    int rc = 0;

    if (file->from != NULL)
        rc = read_tree(w, file, text, &json);
    else
        json = json_object();
    if (rc == 0)
        rc = set_items(w, file->set, json);
    if (rc == 0 && file->format == FILE_YAML)
        file_print_yaml(json, out);
    else if (rc == 0 && file->format == FILE_JSON)
        rc = file_print_json(json, out, w->err);
    else if (rc == 0)
        rc = file_print_toml(json, out, w->err);
    json_decref(json);
    return rc;
}

static bool is_expanded_as_text(const struct job_file *file)
{
    return file->format == FILE_TEXT ||
           (file->format == FILE_TOML && file->from != NULL);
}

static int make(const struct writing *w, const struct job_file *file,
                struct buf *out)
{
    struct buf text = BUF_INIT;
    int rc = 0;

    if (file->from != NULL)
        rc = fs_read_regular(file->from, CONF_MAX_BYTES, &text, w->err);
    if (rc == 0 && is_expanded_as_text(file))
        rc = expand(w, buf_text(&text), out) < 0 ? -1 : set_toml(w, file, out);
    else if (rc == 0)
        rc = print_tree(w, file, &text, out);
    buf_clear(&text);
    return rc;
}

static int make_one(const struct writing *w, const struct job_file *file,
                    struct trial_file *made)
{
    int rc = template_expand(file->path, w->values, &made->name, w->err);

    if (rc == 0)
        rc = make(w, file, &made->text);
    if (rc == 0)
        return 0;
    if (w->err != NULL)
        w->err->kind = ERR_FILE;
    return err_prefix(w->err, "file '%s'", template_source(file->path));
}

int trial_files_make(const struct job_spec *spec, size_t index,
                     const struct value *values, struct trial_file *made,
                     struct err *err)
{
    const struct writing w = {
        .spec = spec,
        .table = {.columns = spec->file_columns,
                  .column_count = spec->file_column_count},
        .values = values,
        .err = err,
    };

    *made = (struct trial_file){BUF_INIT, BUF_INIT};
    return make_one(&w, &spec->files[index], made);
}

void trial_file_clear(struct trial_file *file)
{
    buf_clear(&file->name);
    buf_clear(&file->text);
}

int trial_files_write(const struct job_spec *spec, const struct value *values,
                      const char *directory, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < spec->file_count && rc == 0; i++) {
        struct trial_file file;
        char *path;

        rc = trial_files_make(spec, i, values, &file, err);
        path = fs_join(directory, buf_text(&file.name));
        if (rc == 0)
            rc = fs_write_below(path, buf_text(&file.text), file.text.length,
                                FILE_MODE, err);
        free(path);
        trial_file_clear(&file);
    }
    return rc;
}
