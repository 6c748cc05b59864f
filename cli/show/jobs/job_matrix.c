/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/jobs/job_matrix.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "workflows/matrix.h"

struct search {
    int64_t step;
    json_t *axes;
};

static int keep_matrix(void *user, const struct step_row *row)
{
    struct search *search = user;

    if (row->step == search->step && row->matrix != NULL)
        search->axes = json_parse_up_to(row->matrix, strlen(row->matrix),
                                        MATRIX_BYTES_MAX, NULL);
    return 0;
}

json_t *job_matrix_read(const struct run_view *view, int64_t step)
{
    struct search search = {.step = step};

    store_each_step(view->store, view->row.id, keep_matrix, &search, NULL);
    return search.axes;
}

json_t *job_matrix_values(const json_t *axes, int64_t copy)
{
    struct matrix *matrix = axes != NULL ? matrix_create(axes, NULL) : NULL;
    struct value *values;
    json_t *json, *axis;
    const char *name;
    size_t i = 0;

    if (matrix == NULL || copy < 0 || copy >= matrix_copies(matrix)) {
        matrix_destroy(matrix);
        return NULL;
    }
    values = mem_array(matrix_axis_count(matrix), sizeof(*values));
    matrix_values(matrix, copy, values);
    json = json_object();
    json_object_foreach((json_t *)(uintptr_t)axes, name, axis)
    {
        json_object_set_new(json, name, json_from_value(&values[i++]));
    }
    free(values);
    matrix_destroy(matrix);
    return json;
}
