/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/run_version.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/spec.h"

struct version {
    char *text, *path, *overrides;
};

struct reading {
    int64_t job;
    struct version last, found; /* found: all NULL where there is none */
};

static void version_clear(struct version *version)
{
    free(version->text);
    free(version->path);
    free(version->overrides);
    *version = (struct version){NULL, NULL, NULL};
}

/* Where the event says nothing, what was before holds. */
static void take(char **text, const json_t *detail, const char *key)
{
    const char *given = json_string_value(json_object_get(detail, key));

    if (given == NULL)
        return;
    free(*text);
    *text = mem_copy_string(given);
}

static void take_version(struct version *version, const struct event_row *event,
                         bool is_edit)
{
    json_t *detail = json_parse(event->detail, strlen(event->detail), NULL);

    take(&version->text, detail, is_edit ? "edited_spec" : "spec");
    take(&version->overrides, detail,
         is_edit ? "edited_overrides" : "overrides");
    take(&version->path, detail, "spec_path");
    json_decref(detail);
}

static int on_event(void *user, const struct event_row *event)
{
    struct reading *reading = user;
    bool is_edit = strcmp(event->event, "edited") == 0;

    if (is_edit || strcmp(event->event, "run_created") == 0) {
        take_version(&reading->last, event, is_edit);
    } else if (event->job == reading->job &&
               strcmp(event->event, "attempt_starting") == 0) {
        version_clear(&reading->found);
        reading->found = (struct version){
            .text = mem_copy_string(reading->last.text),
            .path = mem_copy_string(reading->last.path),
            .overrides = mem_copy_string(reading->last.overrides)};
    }
    return 0;
}

static const char *or_empty(const char *text, const char *empty)
{
    return text != NULL ? text : empty;
}

struct experiment *run_read_version(struct store *store, int64_t run,
                                    int64_t job, struct err *err)
{
    struct reading reading = {.job = job};
    const struct version *found = &reading.found;
    struct experiment *experiment = NULL;
    struct spec spec;

    if (store_each_event(store, run, on_event, &reading, err) == 0) {
        if (found->text == NULL)
            experiment = run_read_experiment(store, run, err);
        else if (run_parse_spec(found->text, or_empty(found->path, ""),
                                or_empty(found->overrides, "[]"), &spec,
                                err) == 0)
            experiment = spec.experiment;
    }
    version_clear(&reading.last);
    version_clear(&reading.found);
    return experiment;
}
