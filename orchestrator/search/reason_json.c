/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/search/reason_json.h"

#include <math.h>

static void set_text(json_t *json, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0')
        json_object_set_new(json, key, json_from_text(text));
}

static void set_real(json_t *json, const char *key, double real)
{
    if (isfinite(real))
        json_object_set_new(json, key, json_real(real));
}

json_t *reason_to_json(const struct reason *reason, bool maximize)
{
    json_t *json = json_object();

    set_text(json, "method", reason->method);
    set_text(json, "step", reason->step);
    set_real(json, "acquisition", reason->acquisition);
    set_real(json, "mean", maximize ? -reason->mean : reason->mean);
    set_real(json, "deviation", reason->deviation);
    if (reason->incumbent > 0)
        json_object_set_new(json, "incumbent",
                            json_integer((json_int_t)reason->incumbent));
    set_text(json, "note", reason->note);
    return json;
}
