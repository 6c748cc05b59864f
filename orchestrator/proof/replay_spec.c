/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The versions of a run's file. The first one is in the event that created the
 * run, each later one in the event of its edit. A judge follows them event by
 * event. One that goes by rows only needs to know what any version had.
 */
#include <stdio.h>
#include <string.h>

#include "orchestrator/proof/replay_impl.h"
#include "orchestrator/run/run.h"

static const char *text_of(const json_t *detail, const char *prefix,
                           const char *key)
{
    char name[32];
    const char *text;

    snprintf(name, sizeof(name), "%s%s", prefix, key);
    text = detail_string(detail, name);
    return text != NULL ? text : "";
}

int replay_parse_spec(struct replay *replay, const char *prefix,
                      struct spec *spec)
{
    const json_t *detail = replay_detail(replay);

    return run_parse_spec(
        text_of(detail, prefix, "spec"), text_of(detail, "", "spec_path"),
        text_of(detail, prefix, "overrides"), spec, replay->err);
}

static void note(struct replay *replay, const struct spec *spec)
{
    const struct budget *budget = &spec->experiment->budget;

    replay->had_resource |= budget->resource > 0;
    replay->had_convergence |= budget->convergence;
}

static int keep_edited(void *user, const struct run_row *row)
{
    struct replay *replay = user;

    replay->was_edited = row->edited_spec[0] != '\0';
    return 0;
}

int replay_find_edits(struct replay *replay)
{
    note(replay, replay->spec);
    return store_get_run_uncounted(replay->store, replay->run, keep_edited,
                                   replay, replay->err);
}

int replay_note_spec(struct replay *replay)
{
    bool is_first = strcmp(replay->event->event, "run_created") == 0;
    struct spec spec;

    if (!replay->was_edited ||
        (!is_first && strcmp(replay->event->event, "edited") != 0))
        return 0;
    if (replay_parse_spec(replay, is_first ? "" : "edited_", &spec) != 0)
        return -1;
    note(replay, &spec);
    spec_clear(&spec);
    return 0;
}
