/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/channels.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/expr/template.h"
#include "base/fs.h"
#include "base/mem.h"

static char *resolve(const struct channel *channel, const char *path)
{
    char *joined = fs_join(channel->folder, path);
    char *absolute = fs_absolute(joined);

    free(joined);
    return absolute;
}

static int find_path(const struct channel *channel, const struct value *values,
                     char **path, struct err *err)
{
    struct buf text = BUF_INIT;
    int result = template_expand(channel->path, values, &text, err);

    if (result == 0 && text.length == 0)
        result = err_set(err, ERR_FILE, "the path is empty");
    if (result == 0)
        *path = resolve(channel, buf_text(&text));
    else
        err_prefix(err, "channel '%s'", channel->name);
    buf_clear(&text);
    return result;
}

char **channels_paths(const struct job_spec *spec, const struct value *values,
                      struct err *err)
{
    char **paths = mem_array(spec->channel_count + 1, sizeof(*paths));

    for (size_t i = 0; i < spec->channel_count; i++) {
        if (find_path(&spec->channels[i], values, &paths[i], err) == 0)
            continue;
        channels_free_paths(spec, paths);
        return NULL;
    }
    return paths;
}

void channels_free_paths(const struct job_spec *spec, char **paths)
{
    for (size_t i = 0; paths != NULL && i < spec->channel_count; i++)
        free(paths[i]);
    free(paths);
}
