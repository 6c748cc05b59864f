/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of a plan on their way out. */
#include "cli/plan/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mask.h"
#include "base/secret.h"
#include "base/value.h"
#include "cli/cmd.h"
#include "orchestrator/spec/spec_mask.h"

struct mask *shown_mask(const struct cli *cli,
                        const struct experiment *experiment,
                        const struct workflow *workflow)
{
    return cli->with_secrets ? NULL : spec_mask_create(experiment, workflow);
}

void shown_print(const struct mask *mask, const char *text)
{
    char *shown = mask_show(mask, text);

    fputs(shown, stdout);
    free(shown);
}

static void show_text(const struct mask *mask, json_t *json)
{
    char *shown = mask_show(mask, json_string_value(json));
    json_t *text = json_from_text(shown);

    json_string_set(json, json_string_value(text));
    json_decref(text);
    free(shown);
}

void shown_json(const struct mask *mask, json_t *json)
{
    const char *key;
    json_t *item;
    size_t i;

    if (mask == NULL)
        return;
    json_object_foreach(json, key, item)
    {
        shown_json(mask, item);
    }
    json_array_foreach(json, i, item)
    {
        shown_json(mask, item);
    }
    if (json_is_string(json))
        show_text(mask, json);
}

struct value shown_param(const struct mask *mask, const char *name,
                         const struct value *value)
{
    return mask != NULL && value->type == VALUE_TEXT &&
                   secret_is_name(name, strlen(name))
               ? value_text(MASKED)
               : *value;
}
