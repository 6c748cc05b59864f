/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/serve/front_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/show/run/run_view.h"
#include "orchestrator/search/pareto_front.h"

json_t *front_to_json(const struct run_view *view, struct err *err)
{
    bool *maximize = mem_array(view->objective_count, sizeof(*maximize));
    double *reference = mem_array(view->objective_count, sizeof(*reference));
    struct pareto_front *front;
    json_t *json = NULL;

    for (size_t i = 0; i < view->objective_count; i++)
        maximize[i] = strcmp(view->goals[i], "maximize") == 0;
    front = pareto_front_create(maximize, view->objective_count);
    if (pareto_front_load(front, view->store, view->row.id, err) == 0) {
        double volume = pareto_front_hypervolume(front, reference);

        json = json_pack("{s:I, s:o}", "trials",
                         (json_int_t)pareto_front_count(front), "hypervolume",
                         isfinite(volume) ? json_real(volume) : json_null());
    }
    pareto_front_destroy(front);
    free(reference);
    free(maximize);
    return json;
}
