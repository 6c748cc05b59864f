/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run continues with the text in the record. Who has corrected the file and
 * forgot `smtune edit` reads so before the old command runs again. */
#include "cli/drive/file_difference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "orchestrator/run/edit.h"
#include "orchestrator/run/run.h"
#include "store/store.h"

enum { NAMED_MAX = 5 };

struct place {
    char *name, *path;
};

/* One without trials of its own cannot be edited. */
static int keep_place(void *user, const struct run_row *row)
{
    *(struct place *)user = (struct place){
        mem_copy_string(row->name),
        mem_copy_string(run_row_is_asked(row) ? "" : row->spec_path)};
    return 0;
}

static void name_keys(const struct spec_changes *changes, struct buf *out)
{
    for (size_t i = 0; i < changes->count && i < NAMED_MAX; i++)
        buf_printf(out, "%s'%s'", i > 0 ? ", " : "", changes->items[i].key);
    if (changes->count > NAMED_MAX)
        buf_printf(out, " and %zu more", changes->count - NAMED_MAX);
}

static void print(const struct place *place, const struct run_edit *edit)
{
    const char *name = strrchr(place->path, '/');
    struct buf keys = BUF_INIT;

    if (edit->changes.count == 0)
        return;
    name_keys(&edit->changes, &keys);
    fprintf(stderr,
            "smtune: %s differs from run '%s' in %s; the run continues as it "
            "was (%s: smtune edit %s)\n",
            name != NULL ? name + 1 : place->path, place->name, buf_text(&keys),
            spec_changes_refused(&edit->changes) != NULL
                ? "show why not all of it can change"
                : "apply the file",
            place->name);
    buf_clear(&keys);
}

void file_difference_warn(const struct cli *cli, struct store *store,
                          int64_t run)
{
    struct place place = {NULL, NULL};
    struct run_edit edit = {.path = NULL};
    struct spec now = {NULL, NULL};
    struct diags *diags;
    struct err ignored;

    if (cli->quiet ||
        store_get_run_uncounted(store, run, keep_place, &place, &ignored) != 0)
        return;
    diags = diags_create(place.path);
    if (place.path[0] == '\0' ||
        run_read_spec(store, run, &now, &ignored) != 0) {
        /* nothing to compare, or nothing to compare it with */
    } else if (run_edit_read(&now, &(struct run_edit_order){.path = place.path},
                             &edit, diags, &ignored) == 0) {
        print(&place, &edit);
    } else if (diags_count(diags) > 0) {
        fprintf(stderr,
                "smtune: %s has errors now; the run continues as it was (list "
                "them: smtune validate %s)\n",
                place.path, place.path);
    }
    run_edit_clear(&edit);
    spec_clear(&now);
    diags_destroy(diags);
    free(place.name);
    free(place.path);
}
