/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_PILOT_PILOT_IMPL_H
#define SMTUNE_EXECUTORS_SLURM_PILOT_PILOT_IMPL_H

#include "executors/attempt/pilot_spool.h"
#include "executors/slurm/slurm_impl.h"

/* The inside of the mode slurm_pilot; only slurm_pilot*.c include this. */

enum {
    PILOT_MAX = 256,       /* where options do not say */
    PILOT_PENDING_MAX = 4, /* in the queue at once */
    PILOT_UNHEARD_MAX = 3, /* that end in a row before their agents speak */
    PILOT_TAKEN_MAX = 20,  /* or that Slurm takes away before that */
    PILOT_IDLE_MS = 60000  /* where options do not say */
};

/* Attempts in a row, through their `sibling`. All zeroes: empty. */
struct pilot_list {
    struct slurm_flight *first, *last;
    size_t count;
};

void pilot_list_add(struct pilot_list *list, struct slurm_flight *flight);
void pilot_list_add_first(struct pilot_list *list, struct slurm_flight *flight);
void pilot_list_remove(struct pilot_list *list, struct slurm_flight *flight);

/* -- What there is of a pilot, and what an attempt takes (room.c)
 */

struct pilot_room {
    int cpus, gpus;
    int64_t memory_bytes; /* there: 0 is as much as Slurm gives by itself */
};

/* Of an attempt: one that asks for no CPUs takes one. */
struct pilot_room pilot_room_of(const struct attempt_spec *spec);
void pilot_room_add(struct pilot_room *room, const struct pilot_room *more);
void pilot_room_take(struct pilot_room *room, const struct pilot_room *less);
/* What there is too little of for one more, a set of LACKS_CPUS and so on;
 * `size` counts depth_permille / 1000 times. Memory counts as CPUs. */
uint32_t pilot_room_lacks(const struct pilot_room *size,
                          const struct pilot_room *used,
                          const struct pilot_room *cost,
                          int64_t depth_permille);
/* How many such attempts it has room for. */
int pilot_room_units(const struct pilot_room *size,
                     const struct pilot_room *cost);

/*
 * How many thousandths of what fits are given to a pilot, so that its slots are
 * not idle for the time from an end to the next start: the shorter attempts
 * are, the more of them wait there.
 */
int64_t pilot_depth_permille(int64_t mean_ms);

/* What tells the partition, account and so on that an attempt asks for by
 * itself from another's: a text, "" where it asks for none. */
void pilot_kind_of(const struct slurm_ask *ask, struct buf *kind);
/* Whether that of the attempt is the kind. */
bool pilot_is_of_kind(const struct slurm_flight *flight, const char *kind);

/* What a new pilot is to be. */
struct pilot_plan {
    struct pilot_room size;
    int64_t time_ms; /* that it will have; 0: no limit */
    bool says_time;  /* to Slurm: it is not what the partition gives anyway */
};

/* What it is for: attempts like one of those that wait. */
struct pilot_wish {
    const struct attempt_spec *spec;
    int units;      /* so many at once */
    int64_t rounds; /* one after the other, at most; 0: not known */
    struct slurm_limit limit;
};

/* Pure. Of what the options say or else a node of the partition (NULL: not
 * known) has. -1 with an error where the attempt's time limit is beyond all
 * that is allowed. */
int pilot_plan(struct pilot_plan *plan, const struct pilot_wish *wish,
               const struct slurm_options *options,
               const struct slurm_partition *partition, struct err *err);

/* -- Pilots ---------------------------------------------------------------*/

enum pilot_phase {
    PILOT_PENDING,  /* on its way into the queue, in it, or just beginning */
    PILOT_READY,    /* its agent has spoken */
    PILOT_DRAINING, /* takes no more */
    PILOT_OVER      /* ended, or held for dead */
};

struct pilot {
    struct pilot *next;
    struct pilots *pilots;
    enum pilot_phase phase;
    char name[SLURM_NAME_SIZE];
    char *folder;
    char *kind;
    int64_t job;        /* 0: not known */
    int64_t told_ms;    /* when the transport's answer to it came */
    bool is_submitting; /* that is yet to come */
    bool was_told;      /* those who wait for it, that they are in a queue */
    struct slurm_doubt doubt; /* that slurm will start it */
    bool was_listed;          /* since the last sweep */
    bool was_seen;            /* in any listing */
    bool was_heard;           /* its agent has spoken */
    bool is_asked;            /* the accounting, which is yet to answer */
    bool is_gone;             /* its job is not in the queue any more */
    bool is_fenced;           /* what it had may still live: wait for silence */
    int64_t signalled_ms; /* since when an end waits for Slurm's reason; 0 */
    int64_t over_ms;      /* since when it is PILOT_OVER */
    struct pilot_room size, used, planned;
    int64_t until_ms;  /* when it takes no more; 0: no limit */
    int64_t whole_ms;  /* from when its agent spoke until then */
    int64_t settle_ms; /* when what an earlier engine gave it is judged; 0 */
    struct pilot_list flights; /* that it was given */
    struct spool_writer inbox;
    struct spool_reader outbox;
    struct pulse_watch pulse;
    int64_t spare_ms;             /* since when nothing that waits fits it; 0 */
    char node[EXECUTOR_NODE_MAX]; /* "" until it is known */
    char reason[SLURM_REASON_MAX]; /* why it waits, "" */
    struct attempt_exit end; /* of PILOT_OVER: of attempts without an exit */
};

struct pilots {
    struct slurm *slurm;
    struct pilot *first;
    struct pilot_list waiting; /* for room in a pilot */
    uv_timer_t *turn;          /* outlives this until it is closed */
    int64_t wait_ms;           /* until the next turn */
    int64_t mean_ms;           /* of the last attempts' durations */
    int64_t watched_ms;        /* when pulses were looked at */
    int64_t again_ms;          /* no submission before; 0: at once */
    int64_t spared_ms;         /* when idle ones were looked for */
    int64_t hold_ms; /* that was waited after the last that came to nothing */
    int unheard;     /* in a row whose agents never spoke */
    int taken;       /* in a row that Slurm took away before that */
    char text[SLURM_TEXT_MAX]; /* of the last failure, told already */
};

/* Something is to be done when the loop turns. */
void pilots_turn_soon(struct pilots *pilots);
/* Ends an attempt that nobody has started and nobody will. */
void pilots_refuse(struct pilots *pilots, struct slurm_flight *flight,
                   enum attempt_cause cause, const char *text);

/* -- One pilot and its agent (link.c) -------------------------*/

/* Makes the folder, or takes over that of an earlier engine, and opens the
 * streams. NULL with an error. */
struct pilot *pilot_create(struct pilots *pilots, const char *name,
                           struct err *err);
/* Forgets it: what runs there goes on. Its attempts are the caller's. */
void pilot_destroy(struct pilot *pilot);
/* Whether it is on a node to be kept away from by all. */
bool pilot_is_avoided(const struct pilot *pilot);
bool pilot_suits(const struct pilot *pilot, const struct slurm_flight *flight,
                 const char *kind, int64_t now_ms);
/* Returns -1 where it cannot be given, which is the attempt's fault. */
int pilot_give(struct pilot *pilot, struct slurm_flight *flight,
               struct err *err);
/* Counts the attempt as one of its own. */
void pilot_hold(struct pilot *pilot, struct slurm_flight *flight);
void pilot_let_go(struct pilot *pilot, struct slurm_flight *flight);
void pilot_cancel(struct pilot *pilot, struct slurm_flight *flight);
/* It takes no more, and ends when nothing runs there. */
void pilot_drain(struct pilot *pilot);
/* Sends what was put; reads what has come. Returns whether anything did. */
void pilot_flush(struct pilot *pilot);
bool pilot_read(struct pilot *pilot);

/* Whether it asks for no partition. */
bool pilot_is_for_default(const struct pilot *pilot);

/* -- How many there are (scale.c) -----------------------------*/

/* -1 where no pilot, of the partition that the attempt is for, could have what
 * it needs. */
int pilots_check(const struct pilots *pilots, const struct attempt_spec *spec,
                 struct err *err);
/* Submits what is wanting. */
void pilots_scale(struct pilots *pilots, int64_t now_ms);
enum pilot_failure {
    PILOT_PUT_OFF, /* there was no room for it, or no answer */
    PILOT_TAKEN,   /* so did its job, before its agent spoke */
    PILOT_UNHEARD, /* it ended by itself before its agent spoke */
    PILOT_REFUSED  /* it can never be: those who wait for it end */
};

/* Somebody cancelled it before it ran anything: what waits for it is over, but
 * for what suits another pilot. */
void pilots_note_cancelled(struct pilots *pilots, const struct pilot *pilot,
                           const char *text);
/* One that ran has ended: a limit may let the next in soon. */
void pilots_note_freed(struct pilots *pilots);
/* One came to nothing: the next comes later. */
void pilots_note_failure(struct pilots *pilots, const struct pilot *pilot,
                         enum pilot_failure failure, const char *text);

/* -- Those that are not needed (spare.c) ----------------------*/

/* Withdraws pilots in the queue, and drains idle ones, that nothing which waits
 * fits. */
void pilots_spare(struct pilots *pilots, int64_t now_ms);
/* The end of the session: none stays that has nothing to do, not even one that
 * an earlier engine left and nobody has met. Returns whether some may be left
 * in the queue. */
bool pilots_leave(struct pilots *pilots);

/* -- How one ends (end.c) -------------------------------------*/

/* It is over, or held for dead: each of its attempts ends as its files say,
 * and one that has no exit with this cause. is_fenced: wait for silence first,
 * as nobody has seen the end of what ran there. */
void pilot_lose(struct pilot *pilot, enum attempt_cause cause, bool is_fenced,
                const char *text);
/* Whether the end is all that is to be known: one by a signal that no engine
 * sent waits for what Slurm says of the pilot's job, and then takes its reason
 * from that. */
bool pilot_explain(struct pilot *pilot, const struct slurm_flight *flight,
                   struct attempt_exit *end);
/* Its job is to end, or never to begin. */
void pilot_withdraw(struct pilot *pilot);
/* Why it waits, for those who wait for it; "": it waits no more. */
void pilot_waits(struct pilot *pilot, const char *reason);
/* What Slurm says of its job. */
void pilot_note_job(struct pilot *pilot, const struct slurm_job *job);
/* Its job is not in the queue any more, and nobody knows how it ended. */
void pilot_note_vanished(struct pilot *pilot);
/* Looks at pulses and files; is_watch: this time at those of the living. */
void pilot_look(struct pilot *pilot, int64_t now_ms, bool is_watch);

#endif
