/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/util/json_file.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/fs.h"

json_t *json_file_read(const char *path, size_t max_bytes, struct err *err)
{
    struct buf text = BUF_INIT;
    json_t *json = NULL;

    if (fs_read_regular(path, max_bytes, &text, err) == 0) {
        json = json_parse_up_to(buf_text(&text), text.length, max_bytes, err);
        if (json == NULL)
            err_prefix(err, "'%s'", path);
    }
    buf_clear(&text);
    return json;
}

int json_file_write(const char *folder, const char *name, json_t *json,
                    struct err *err)
{
    char *path = fs_join(folder, name);
    struct buf text = BUF_INIT;
    int status;

    json_print_pretty(json, &text);
    json_decref(json);
    status = fs_write_atomic(path, buf_text(&text), text.length, 0644, err);
    buf_clear(&text);
    free(path);
    return status;
}
