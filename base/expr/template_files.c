/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ${{ files(...) }}: a list too long for a command, in a file of its own. The
 * path is a function of the value, so an expansion writes nothing, and equal
 * lists share a file. Whoever starts the command writes the files first.
 */
#include <string.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/expr/template_parts.h"

enum { NAME_LENGTH = 16 };

static void print_path(const struct template *template, const struct part *part,
                       const char *text, const struct value *values,
                       struct buf *out)
{
    char hex[DIGEST_HEX_SIZE];

    digest_of(text, strlen(text), hex);
    value_print(&values[template->directory], out);
    buf_printf(out, "/lists/%.*s.%s", NAME_LENGTH, hex,
               part->files == FILES_NULS ? "nul" : "txt");
}

void template_print_files(const struct template *template,
                          const struct part *part, const struct value *value,
                          const struct value *values, struct buf *out)
{
    struct buf text = BUF_INIT;

    value_print_argument(value, &text);
    print_path(template, part, buf_text(&text), values, out);
    buf_clear(&text);
}

bool template_has_files(const struct template *template)
{
    for (size_t i = 0; i < template->part_count; i++)
        if (template->parts[i].files != FILES_NONE)
            return true;
    return false;
}

/* One part's, unless it is null. */
static int tell(const struct template *template, const struct part *part,
                const struct value *values, template_files_fn *each, void *user,
                struct err *err)
{
    struct buf text = BUF_INIT, path = BUF_INIT;
    struct value value;
    int result = 0;

    if (expr_eval(part->expr, values, &value, err) < 0)
        return -1;
    if (!value_is_null(&value)) {
        value_print_argument(&value, &text);
        print_path(template, part, buf_text(&text), values, &path);
        result = each(user, buf_text(&path), buf_text(&text),
                      part->files == FILES_NULS, err);
    }
    buf_clear(&text);
    buf_clear(&path);
    return result;
}

int template_each_files(struct template *template, const struct value *values,
                        template_files_fn *each, void *user, struct err *err)
{
    for (size_t i = 0; i < template->part_count; i++) {
        const struct part *part = &template->parts[i];

        if (part->files != FILES_NONE &&
            tell(template, part, values, each, user, err) != 0)
            return -1;
    }
    return 0;
}
