/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event that a replay reads, as its judges see it: the life of the engine
 * that wrote it, its detail, and the difference that a judge reports there. The
 * walk and the table of judges are in replay.c, so that no judge depends on the
 * others.
 */
#include <stdarg.h>
#include <stdio.h>

#include "orchestrator/proof/replay_impl.h"

const struct engine_life *replay_life(const struct replay *replay)
{
    return replay->at > 0 ? &replay->lives[replay->at - 1] : NULL;
}

const struct engine_life *replay_life_before(const struct replay *replay)
{
    return replay->at > 1 ? &replay->lives[replay->at - 2] : NULL;
}

const json_t *replay_detail(struct replay *replay)
{
    if (replay->detail == NULL)
        replay->detail = json_loads(replay->event->detail, 0, NULL);
    if (!json_is_object(replay->detail)) {
        json_decref(replay->detail);
        replay->detail = json_object();
    }
    return replay->detail;
}

int64_t detail_integer(const json_t *detail, const char *key, int64_t none)
{
    const json_t *item = json_object_get(detail, key);

    return json_is_integer(item) ? json_integer_value(item) : none;
}

const char *detail_string(const json_t *detail, const char *key)
{
    return json_string_value(json_object_get(detail, key));
}

int replay_differ_va(struct replay *replay, enum proof_kind kind,
                     int64_t number, const char *format, va_list arguments)
{
    struct proof *proof = &replay->proofs[kind];

    proof->differs = true;
    proof->seq = replay->event != NULL ? replay->event->seq : 0;
    proof->number = number;
    vsnprintf(proof->text, sizeof(proof->text), format, arguments);
    return REPLAY_DIFFERS;
}

int replay_differ(struct replay *replay, enum proof_kind kind, int64_t number,
                  const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    replay_differ_va(replay, kind, number, format, arguments);
    va_end(arguments);
    return REPLAY_DIFFERS;
}
