/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_CORE_H
#define SMTUNE_EXECUTORS_SLURM_CORE_H

#include <sys/queue.h>

#include "executors/job_label.h"
#include "executors/slurm/slurm_impl.h"

/*
 * The core of the executor slurm, for its own files alone: the modes see what
 * slurm_impl.h shows. Each part is a struct that is all zeroes at first, in a
 * file of its own.
 */

/* -- Names of jobs (names.c): STATE/slurm/token, .../numbers --------*/

enum { SLURM_TOKEN_SIZE = 9 };

struct slurm_names {
    char *folder; /* STATE/slurm */
    char token[SLURM_TOKEN_SIZE];
    char prefix[SLURM_NAME_SIZE]; /* "smt-TOKEN-" */
    int64_t next, end;            /* numbers that are ours to give */
    int64_t since_ms;             /* wall clock: no job of the run is older */
    bool is_old; /* an earlier engine of the run gave names out */
};

/* Makes the folder and the token, if they are not there. */
int slurm_names_open(struct slurm_names *names, const char *state_directory,
                     struct err *err);
void slurm_names_clear(struct slurm_names *names);

/* -- What people see of jobs (label.c) -------------------------------*/

struct slurm_labels {
    const char *run; /* its name; NULL: jobs have no labels */
    struct job_label *name, *comment;
    char *name_text, *comment_text; /* of the last job */
};

int slurm_labels_open(struct slurm_labels *labels,
                      const struct executor_options *options, struct err *err);
/* slurm_label() by these. */
void slurm_labels_set(struct slurm_labels *labels,
                      const struct attempt_spec *spec, bool is_array,
                      struct slurm_submission *submission);
void slurm_labels_clear(struct slurm_labels *labels);

/* -- News for the owner (events.c), told when the loop turns ----------*/

struct slurm_event;

struct slurm_events {
    struct slurm_event *first, **last;
    bool has_room; /* is to be told after the others */
};

/* Tells what there is, also what comes meanwhile, until is_closing. */
void slurm_events_tell(struct slurm *slurm);
/* It can start no more, for that reason. */
void slurm_events_break(struct slurm *slurm, const struct err *err);
void slurm_events_clear(struct slurm_events *news);

/* -- Attempts that were taken (flights.c) ---------------------------*/

struct slurm_flights {
    void *by_attempt; /* tsearch tree */
    LIST_HEAD(slurm_flight_list, slurm_flight) all;
    size_t count;
};

/* Copies the spec. */
struct slurm_flight *slurm_flight_create(const struct attempt_spec *spec);
void slurm_flight_destroy(struct slurm_flight *flight);
void slurm_flights_add(struct slurm_flights *flights,
                       struct slurm_flight *flight);
void slurm_flights_remove(struct slurm_flights *flights,
                          struct slurm_flight *flight);
/* NULL when there is none such. */
struct slurm_flight *slurm_flights_find(const struct slurm_flights *flights,
                                        int64_t attempt);
/* Whether any of the mode's has not started. */
bool slurm_flights_have_queued(const struct slurm_flights *flights,
                               const struct slurm_mode *mode);
void slurm_flights_clear(struct slurm_flights *flights);

/* -- Nodes to keep away from (nodes.c) ------------------------------*/

struct slurm_node_set {
    char **names; /* [count], NULL behind the last; NULL: none */
    size_t count;
};

struct slurm_nodes {
    struct slurm_node_set given; /* by the owner */
    struct slurm_node_set found; /* by us, since */
    const char **all;            /* NULL-ended, of both; NULL: none */
};

void slurm_nodes_give(struct slurm_nodes *nodes, const char *const *names);
/* Returns whether it is new. */
bool slurm_nodes_find(struct slurm_nodes *nodes, const char *name);
void slurm_nodes_clear(struct slurm_nodes *nodes);

/* -- What the accounting is asked for (account.c) -------------------*/

struct slurm_question;

struct slurm_accounts {
    struct slurm_question *first;
    bool is_asking;
};

/* Asks for all that is gathered, unless an answer is awaited already. */
void slurm_accounts_ask(struct slurm *slurm);
void slurm_accounts_clear(struct slurm_accounts *accounts);

/* -- Jobs to be cancelled (cancel.c) --------------------------------*/

struct slurm_cancel;

struct slurm_cancels {
    struct slurm_cancel *first;
    void *by_target;             /* tsearch tree */
    struct slurm_target *orders; /* [order_count] all that there ever were */
    size_t order_count, order_capacity;
};

/* Whether the job is to be taken out of the queue, or ended. */
bool slurm_cancels_have(const struct slurm *slurm, const struct slurm_job *job);
/* A job of ours, seen in a listing. */
void slurm_cancels_listed(struct slurm *slurm, const struct slurm_job *job);
/* After a listing that was asked for then: says again what is to be said. */
void slurm_cancels_swept(struct slurm *slurm, int64_t asked_ms);
void slurm_cancels_clear(struct slurm_cancels *cancels);

/* -- The queue is looked at (watch.c) -------------------------------*/

struct slurm_watch {
    uv_timer_t timer;
    int64_t asked_ms;    /* clock_monotonic_ms(), the last time */
    int64_t interval_ms; /* from then to the next */
    uint64_t digest;     /* of what was seen then */
    int64_t heard_ms;    /* when it answered last */
    int silent_count;    /* times without an answer, in a row */
    int64_t silent_ms;   /* when there was none, the last time; 0: never */
    int64_t allowance;   /* thousandths of a request that may be made at once */
    int64_t allowed_ms;  /* when that was counted */
    bool is_asking, is_urgent, was_noted, was_left_noted;
};

void slurm_watch_start(struct slurm *slurm);
/* Whether one more request may be made now; it counts as made then. */
bool slurm_watch_allows(struct slurm *slurm);
/* Rows of a listing or of the accounting, to the modes whose they are. */
void slurm_route(struct slurm *slurm, const struct slurm_job *job);

/* -- Jobs that Slurm holds back (held.c) ----------------------------*/

struct slurm_held_job {
    int64_t job; /* 0: none */
    char text[256];
};

struct slurm_held {
    struct slurm_held_job told;  /* the last note is of it */
    struct slurm_held_job other; /* of the listing that is gone through */
    bool is_seen;                /* the told one, in that */
};

/* After a listing: whether another is to be told, *now; 0 and "": none. */
bool slurm_held_take(struct slurm_held *held, struct slurm_held_job *now);

/* -- The cluster is asked what it is (describe.c) -------------------*/

/* Asks; without an answer, again some time later. */
void slurm_describe(struct slurm *slurm);
/* Whether no cluster has answered this run, for longer than anybody should wait
 * to hear that: an error, once. */
bool slurm_is_unreached(struct slurm *slurm, int64_t now_ms, struct err *err);

/* -- The last that is done (close.c) --------------------------------*/

/* Takes jobs out of the queue that are to be cancelled, and pilots that wait
 * in it. `done` follows, at once or from the loop. */
void slurm_withdraw_leftovers(struct slurm *slurm,
                              void (*done)(struct slurm *slurm));

/* -- All together (slurm.c) -----------------------------------------------*/

enum { SLURM_MODES = 2 };

/* All there are. */
extern const struct slurm_mode *const slurm_modes[SLURM_MODES];

struct slurm {
    struct executor base;
    struct executor_events events;
    struct slurm_options options;
    uv_loop_t *loop;
    struct slurm_transport *transport;
    struct slurm_site site;
    bool has_site;
    int64_t describe_ms;      /* when it is asked for next; 0: it is not */
    int64_t describe_wait_ms; /* that it waited for the last time */
    bool is_reached;          /* by this engine, or an earlier one of the run */
    int64_t opened_ms;        /* clock_monotonic_ms() */
    char silence[SLURM_TEXT_MAX]; /* what it answered last in place of that */
    int64_t beat_ms;              /* when its own pulse is touched next */
    int parallel;
    struct slurm_names names;
    struct slurm_labels labels;
    struct slurm_events news;
    struct slurm_flights flights;
    struct slurm_nodes nodes;
    struct slurm_accounts accounts;
    struct slurm_cancels cancels;
    struct slurm_watch watch;
    struct slurm_held held;
    struct slurm_pace pace;
    void *modes[SLURM_MODES];
    const char *why; /* the last reason for a mode that was told */
    uv_timer_t tick;
    uv_idle_t turn; /* active while there are news */
    bool was_refused, is_closing;
    int open_parts;
    void (*done)(void *user);
    void *done_user;
};

/* News are told, and what was gathered is asked, when the loop turns. */
void slurm_turn_soon(struct slurm *slurm);

#endif
