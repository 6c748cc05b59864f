/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/metrics/name.h"

void *build_take(struct experiment_file *file, void *memory)
{
    file->taken = mem_grow(file->taken, file->taken_count,
                           &file->taken_capacity, sizeof(void *));
    file->taken[file->taken_count++] = memory;
    return memory;
}

const char *build_take_text(struct experiment_file *file, char *text)
{
    return build_take(file, text);
}

const char *build_resolve_path(struct experiment_file *file, const char *path)
{
    const char *own = file->experiment.path;
    const char *slash = strrchr(own, '/');
    char *folder =
        mem_copy_bytes(own, slash != NULL ? (size_t)(slash - own) : 0);
    char *joined = fs_join(folder, path);
    char *absolute = fs_absolute(joined);

    free(joined);
    free(folder);
    return build_take_text(file, absolute);
}

int build_add_error(struct build *build, const struct conf_node *scalar,
                    const struct err *err)
{
    struct diag_place place =
        conf_place_in(build->file->doc, scalar, err->line > 0 ? err->line : 1,
                      err->column > 0 ? err->column : 1);

    return diags_add(build->diags, place, NULL, "%s", err->text);
}

bool build_check_metric_name(struct build *build, const struct conf_node *name)
{
    if (*name->text == '\0') {
        diags_add(build->diags, name->place, NULL, "missing name of a metric");
        return false;
    }
    if (metric_is_quoted_name(name->text, strlen(name->text)))
        return true;
    diags_add(
        build->diags, name->place,
        "no control characters, no blank first or last, at most 128 bytes",
        "'%s' is not a valid name for a metric: no line of output can "
        "have it",
        name->text);
    return false;
}

void build_check_setup_line(struct build *build, const struct conf_node *line)
{
    if (strstr(line->text, "${{") != NULL)
        diags_add(build->diags, line->place,
                  "set a variable under 'env', and write $NAME here",
                  "a line of 'setup' cannot have a template");
}
