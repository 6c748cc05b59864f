/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/shim_path.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

char *shim_path(struct err *err)
{
    static const char *const places[] = {"smtune-shim",
                                         "../lib/smtune/smtune-shim"};
    const char *chosen = getenv("SMTUNE_SHIM");
    char *directory;

    if (chosen != NULL && chosen[0] != '\0')
        return mem_copy_string(chosen);
    directory = fs_program_directory();
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        char *path = fs_join(directory, places[i]);

        if (access(path, X_OK) == 0) {
            free(directory);
            return path;
        }
        free(path);
    }
    err_set(err, ERR_FAILED,
            "no such file: smtune-shim is not in '%s' and not in "
            "'%s/../lib/smtune'",
            directory, directory);
    free(directory);
    return NULL;
}
