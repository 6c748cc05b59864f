/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/matrix.h"

#include <glob.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"

struct matrix {
    json_t *axes; /* a copy, which `lists` point into */
    const json_t **lists;
    size_t axis_count;
    int64_t copies;
};

enum { SHOWN_BYTES = 60 };

static bool is_scalar(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
    case JSON_NULL:
        return false;
    case JSON_STRING:
    case JSON_INTEGER:
    case JSON_REAL:
    case JSON_TRUE:
    case JSON_FALSE:
    default:
        return true;
    }
}

static int refuse_element(const json_t *element, size_t place, struct err *err)
{
    struct buf text = BUF_INIT;

    json_print(element, &text);
    err_set(err, ERR_FILE,
            "type mismatch: element %zu must be a number, text or "
            "boolean, not '%.*s'",
            place + 1, SHOWN_BYTES, buf_text(&text));
    buf_clear(&text);
    return -1;
}

static int check_list(const json_t *list, struct err *err)
{
    if (json_typeof(list) != JSON_ARRAY)
        return err_set(err, ERR_FILE, "type mismatch: not a list");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!is_scalar(json_array_get(list, i)))
            return refuse_element(json_array_get(list, i), i, err);
    return 0;
}

static int add_axis(struct matrix *matrix, const char *name, const json_t *list,
                    struct err *err)
{
    if (check_list(list, err) < 0)
        return err_prefix(err, "matrix axis '%s'", name);
    if (json_array_size(list) > MATRIX_COPIES_MAX)
        return err_set(
            err, ERR_FILE,
            "out of range: matrix axis '%s' has %zu values, more than "
            "%d",
            name, json_array_size(list), MATRIX_COPIES_MAX);
    matrix->copies *= (int64_t)json_array_size(list);
    if (matrix->copies > MATRIX_COPIES_MAX)
        return err_set(err, ERR_FILE,
                       "out of range: with axis '%s' the matrix has %" PRId64
                       " copies, more than %d",
                       name, matrix->copies, MATRIX_COPIES_MAX);
    matrix->lists[matrix->axis_count++] = list;
    return 0;
}

struct matrix *matrix_create(const json_t *axes, struct err *err)
{
    struct matrix *matrix;

    if (axes != NULL && json_typeof(axes) != JSON_OBJECT) {
        err_set(err, ERR_FILE,
                "type mismatch: a matrix must be an object of lists");
        return NULL;
    }
    matrix = mem_zero(sizeof(*matrix));
    matrix->copies = 1;
    if (axes == NULL)
        return matrix;
    matrix->axes = json_deep_copy(axes);
    matrix->lists =
        mem_array(json_object_size(axes) + 1, sizeof(const json_t *));
    for (void *axis = json_object_iter(matrix->axes); axis != NULL;
         axis = json_object_iter_next(matrix->axes, axis)) {
        if (add_axis(matrix, json_object_iter_key(axis),
                     json_object_iter_value(axis), err) < 0) {
            matrix_destroy(matrix);
            return NULL;
        }
    }
    return matrix;
}

void matrix_destroy(struct matrix *matrix)
{
    if (matrix == NULL)
        return;
    json_decref(matrix->axes);
    free(matrix->lists);
    free(matrix);
}

int64_t matrix_copies(const struct matrix *matrix)
{
    return matrix->copies;
}

size_t matrix_axis_count(const struct matrix *matrix)
{
    return matrix->axis_count;
}

void matrix_values(const struct matrix *matrix, int64_t copy,
                   struct value *values)
{
    for (size_t i = matrix->axis_count; i-- > 0;) {
        size_t size = json_array_size(matrix->lists[i]);

        values[i] = json_to_value(
            json_array_get(matrix->lists[i], (size_t)copy % size));
        copy /= (int64_t)size;
    }
}

static void leave_out_nulls(json_t *list)
{
    json_t *kept = json_array();

    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_typeof(json_array_get(list, i)) != JSON_NULL)
            json_array_append(kept, json_array_get(list, i));
    json_array_clear(list);
    json_array_extend(list, kept);
    json_decref(kept);
}

json_t *matrix_axis_from_text(const char *text, struct err *err)
{
    json_t *list = json_parse_up_to(text, strlen(text), MATRIX_BYTES_MAX, err);

    if (list == NULL)
        return NULL;
    if (json_typeof(list) == JSON_ARRAY)
        leave_out_nulls(list);
    if (check_list(list, err) == 0)
        return list;
    json_decref(list);
    return NULL;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int refuse_path(const char *path, struct err *err)
{
    struct buf shown = BUF_INIT;

    text_escape(path, strlen(path), &shown);
    err_set(err, ERR_FILE, "path '%s' is not UTF-8", buf_text(&shown));
    buf_clear(&shown);
    return -1;
}

static int add_paths(json_t *list, char *const *paths, size_t count,
                     struct err *err)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += strlen(paths[i]);
    if (count > MATRIX_COPIES_MAX || bytes > MATRIX_BYTES_MAX)
        return err_set(err, ERR_FILE,
                       "out of range: too many paths match (%zu)", count);
    for (size_t i = 0; i < count; i++) {
        if (json_array_append_new(list, json_string(paths[i])) < 0)
            return refuse_path(paths[i], err);
    }
    return 0;
}

json_t *matrix_axis_from_glob(const char *pattern, struct err *err)
{
    json_t *list = json_array();
    glob_t found = {0};
    int rc = glob(pattern, GLOB_NOSORT, NULL, &found);

    /* what cannot be looked into has no paths, and is no error */
    if (rc == GLOB_NOSPACE) {
        rc = err_set(err, ERR_FAILED, "out of memory while looking for '%s'",
                     pattern);
    } else {
        if (found.gl_pathc > 0)
            qsort(found.gl_pathv, found.gl_pathc, sizeof(char *),
                  compare_paths);
        rc = add_paths(list, found.gl_pathv, found.gl_pathc, err);
    }
    globfree(&found);
    if (rc == 0)
        return list;
    json_decref(list);
    return NULL;
}

bool matrix_is_pattern(const char *text, const char *path)
{
    return strpbrk(text, "*?[") != NULL && !fs_exists(path);
}
