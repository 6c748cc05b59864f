/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_REPLAY_IMPL_H
#define SMTUNE_ORCHESTRATOR_PROOF_REPLAY_IMPL_H

#include <stdarg.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/json.h"
#include "orchestrator/proof/replay.h"

/* What the walk over the events (replay.c, replay_event.c) and its judges
 * share. */

/* From engine_started to the next one. */
struct engine_life {
    int64_t start_ms, last_ms, jumped_ms;
    bool has_ended; /* what follows is its user's doing, in a time of its own */
    bool was_edited; /* since it ended: another state of the run says nothing */
    bool may_close; /* the run ended in it before its steps, or it was killed */
    char state[16]; /* in which it ended, "": it was killed */
    char reason[128];
};

struct replay {
    struct store *store;
    int64_t run;
    const struct spec *spec; /* that holds now */
    /* The file was edited. Else the next two are of `spec` alone. */
    bool was_edited;
    bool had_resource;         /* budget.resource, in any of its versions */
    bool had_convergence;      /* budget.convergence, likewise */
    struct proof *proofs;      /* [PROOF_COUNT] */
    struct engine_life *lives; /* [life_count] */
    size_t life_count, life_capacity;
    size_t at;                     /* 1 + the life that the events are in */
    const struct event_row *event; /* the one that is read */
    json_t *detail;                /* replay_detail() gives it */
    struct err *err;
};

enum { REPLAY_DIFFERS = 1 };

/*
 * Proves a part. What returns an int returns 0, REPLAY_DIFFERS (which ends its
 * part), or -1 with an error.
 */
struct judge {
    enum proof_kind kind;
    /* Whether a run has something of the kind. */
    bool (*is_for)(const struct spec *spec);
    /* NULL with an error. Borrows the replay. */
    void *(*create)(struct replay *replay);
    void (*destroy)(void *self); /* NULL is none */
    /* An event, for the first time: what comes later is known then. NULL: it
     * does not look. */
    int (*look)(void *self);
    /* An event, once more. NULL: it judges at the end alone. */
    int (*judge)(void *self);
    /* Behind the last event. NULL: nothing is left. */
    int (*conclude)(void *self);
};

extern const struct judge judge_of_suggestions; /* and of the schedule */
extern const struct judge judge_of_flow;
extern const struct judge judge_of_decisions;

/* The life of an engine that the event is in, and the one before; NULL: there
 * is none. */
const struct engine_life *replay_life(const struct replay *replay);
const struct engine_life *replay_life_before(const struct replay *replay);

/* The event's detail, a JSON object; the replay's. */
const json_t *replay_detail(struct replay *replay);
int64_t detail_integer(const json_t *detail, const char *key, int64_t none);
/* NULL: there is none. */
const char *detail_string(const json_t *detail, const char *key);

/* The file that an event has: with prefix "" of the run's beginning, with
 * "edited_" of an edit. The caller clears it. */
int replay_parse_spec(struct replay *replay, const char *prefix,
                      struct spec *spec);
/* Before the first walk, and at each of its events: what some version of the
 * file had. */
int replay_find_edits(struct replay *replay);
int replay_note_spec(struct replay *replay);

/* Says what does not follow, of a trial or job (0: none), at the event that is
 * read. Returns REPLAY_DIFFERS. */
int replay_differ(struct replay *replay, enum proof_kind kind, int64_t number,
                  const char *format, ...) PRINTF_LIKE(4, 5);
int replay_differ_va(struct replay *replay, enum proof_kind kind,
                     int64_t number, const char *format, va_list arguments)
    PRINTF_LIKE(4, 0);

#endif
