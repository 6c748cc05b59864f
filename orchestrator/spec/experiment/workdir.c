/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/workdir.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/expr/template.h"
#include "base/fs.h"

int workdir_expand(const struct job_spec *spec, const struct value *values,
                   char **path, struct err *err)
{
    struct buf text = BUF_INIT;
    int result;

    *path = NULL;
    if (spec->workdir == NULL)
        return 0;
    result = template_expand(spec->workdir, values, &text, err);
    if (result == 0 && text.length == 0)
        result = err_set(err, ERR_FILE, "the path is empty");
    if (result == 0) {
        char *joined = fs_join(spec->workdir_folder, buf_text(&text));

        *path = fs_absolute(joined);
        free(joined);
    } else {
        err_prefix(err, "workdir");
    }
    buf_clear(&text);
    return result;
}
