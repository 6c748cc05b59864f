/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drive/warm_start_view.h"

#include <inttypes.h>

#include "base/units.h"
#include "store/store.h"

int warm_start_view_read(const struct cli *cli,
                         const struct experiment *experiment,
                         struct warm_start **warm, struct err *err)
{
    struct store *store;

    *warm = NULL;
    if (experiment->earlier_run_count == 0)
        return 0;
    store = store_open(cli->store, STORE_READ, err);
    if (store != NULL)
        *warm = warm_start_read(store, experiment, err);
    store_close(store);
    return *warm != NULL ? 0 : -1;
}

void warm_start_view_print(FILE *file, const char *label,
                           const struct experiment *experiment,
                           const struct warm_start *warm)
{
    size_t count = warm != NULL ? warm_start_source_count(warm) : 0;

    for (size_t i = 0; i < count; i++) {
        const struct warm_source *source = warm_start_source(warm, i);

        fprintf(file, "%s%" PRId64 " trial%s of run '%s' %s", label,
                source->taken, units_plural(source->taken), source->run,
                experiment->earlier_guide ? "used to guide the search"
                                          : "counted as evaluated");
        if (source->left_out > 0)
            fprintf(file, ", %" PRId64 " outside this search space ignored",
                    source->left_out);
        fprintf(file, "\n");
    }
}

json_t *warm_start_view_json(const struct experiment *experiment,
                             const struct warm_start *warm)
{
    size_t count = warm != NULL ? warm_start_source_count(warm) : 0;
    const char *mode = experiment->earlier_guide ? "transfer" : "same";
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++) {
        const struct warm_source *source = warm_start_source(warm, i);

        json_array_append_new(
            list, json_pack("{s:s, s:s, s:I, s:I}", "run", source->run, "mode",
                            mode, "taken", (json_int_t)source->taken,
                            "left_out", (json_int_t)source->left_out));
    }
    return list;
}
