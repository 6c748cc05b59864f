/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/job_label.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/expr/template.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/value.h"

struct job_label {
    struct expr_env *env;
    struct template *template;
};

static const char *const names[] = {"run", "step", "job"};

struct job_label *job_label_create(const char *pattern, struct err *err)
{
    const struct expr_table table = {.columns = names,
                                     .column_count = ARRAY_LEN(names)};
    struct job_label *label = mem_zero(sizeof(*label));

    label->env = expr_env_create(err);
    if (label->env != NULL)
        label->template =
            template_create(label->env, pattern, TEMPLATE_TEXT, &table, 1, err);
    if (label->template != NULL)
        return label;
    job_label_destroy(label);
    return NULL;
}

void job_label_destroy(struct job_label *label)
{
    if (label == NULL)
        return;
    template_destroy(label->template);
    expr_env_destroy(label->env);
    free(label);
}

static struct value value_of(const char *text)
{
    return value_text(text != NULL ? text : "");
}

void job_label_print(struct job_label *label,
                     const struct job_label_values *values, size_t max,
                     struct buf *out)
{
    const struct value columns[ARRAY_LEN(names)] = {
        value_of(values->run), value_of(values->step), value_of(values->job)};
    struct buf text = BUF_INIT;
    struct err err;

    if (template_expand(label->template, columns, &text, &err) != 0)
        buf_truncate(&text, 0);
    buf_truncate(&text, text_cut(text.data, text.length, max));
    for (size_t i = 0; i < text.length; i++) {
        bool is_control =
            (unsigned char)text.data[i] < ' ' || text.data[i] == '\x7f';

        buf_add_char(out, is_control ? '_' : text.data[i]);
    }
    buf_clear(&text);
}
