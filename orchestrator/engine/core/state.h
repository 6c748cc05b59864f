/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_STATE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_STATE_H

#include <uv.h>

#include "base/buf.h"
#include "base/log.h"
#include "orchestrator/engine/core/events.h"
#include "orchestrator/job/job.h"
#include "orchestrator/job/launch.h"
#include "orchestrator/run/run.h"
#include "orchestrator/steps/cache.h"
#include "orchestrator/steps/cache_forecast.h"
#include "orchestrator/steps/earlier_results.h"
#include "orchestrator/steps/sharing.h"
#include "orchestrator/steps/steps.h"
#include "orchestrator/steps/temp_files.h"
#include "strategies/schedules/scheduler.h"
#include "strategies/strategy.h"

/*
 * What an engine holds in memory, for the files of orchestrator/engine/ only;
 * it has no code. The parts are small structs, so that each use of a field
 * names the part that it belongs to.
 *
 * A job that is not over is in exactly one of the lists:
 *
 *   ready -> prepared -> committed -> live -> (settled) -> gone
 *     ^                                 |
 *     +--------- waiting <--------------+  (a retry)
 *
 * From ready a job may go aside, to `asked` or `requeued`, and come back, from
 * asked also by way of `held`. A trial that its schedule has paused is in no
 * list, and not in memory.
 *
 * prepared: its attempt is in the open transaction. committed: the attempt is
 * in the record, the executor has no room yet. live: the executor has it.
 * settled: its end is in the open transaction. Once a turn of the loop jobs are
 * moved along, and it is decided whether to commit (turn.h): so whatever one
 * turn brings shares one commit, and nothing is started or reported before it.
 */

enum engine_phase {
    PHASE_RUNNING,
    PHASE_DRAINING, /* nothing new starts; what runs may end */
    PHASE_ENDING,   /* what runs is being ended */
    PHASE_CLOSING,  /* the session's handles are being closed */
    PHASE_WAITING   /* for a new session to be possible, or for answers */
};

/* queues.h */
struct engine_queues {
    struct job_list ready, prepared, committed, settled;
    struct job_list requeued; /* until their step has room */
    struct job_list asked;    /* a thread sees to what they need first */
    struct job_list held;     /* source/foresee.h */
    struct job_list waiting;  /* for a retry, by due time */
    struct job_list live;     /* has_more first, then as long not read */
    int64_t asked_count, prepared_count, committed_count, live_count;
    int64_t running_count;  /* of the live ones, those that have started */
    int64_t queued_count;   /* likewise, those that wait in a queue */
    int64_t adopted_count;  /* likewise, those of an earlier engine */
    void *by_attempt;       /* tsearch tree of the live ones */
    int64_t reopened_count; /* jobs in memory that their user put back */
    int64_t paused_trials;  /* by the schedule; not in memory */
    int64_t given_up_count; /* by it, since the last commit */
    int64_t cancel_count;   /* not live ones that their user ends, at most */
    bool has_more_to_dispatch;
};

/* transaction.h */
struct engine_transaction {
    int64_t begun_ms;     /* monotonic; 0: none is open */
    int64_t told_count;   /* results (and what else is in feedback.h) so far */
    int64_t clock_gap_ms; /* of the wall clock to the monotonic one */
    bool is_broken;
    struct err broken; /* why the session cannot go on */
};

/* pause.h, but for the last two. */
struct engine_clocks {
    int64_t started_ms;       /* monotonic, of the session */
    int64_t earlier_ms;       /* what earlier engines spent on the run */
    int64_t paused_ms;        /* of the session, in all pauses that are over */
    double mean_attempt_ms;   /* moving average; NaN: none ended yet */
    int64_t look_at_nodes_ms; /* monotonic: when next */
};

/* ending.h, and why nothing new comes. */
struct engine_wind_up {
    enum engine_phase phase;
    enum job_wish wish;     /* for jobs ended by the phase */
    bool is_beyond_budget;  /* it is used up; what was put back goes on */
    bool is_exhausted;      /* nothing more is suggested */
    bool lacks_resource;    /* the budget has too little for what is next */
    int64_t reused_in_row;  /* trials whose setting had a result already */
    int64_t launch_errors;  /* in a row */
    char launch_error[256]; /* the last one's text */
};

/* shortage.h */
struct engine_shortage {
    int64_t last_ms;  /* how long starts were last held back; 0: not */
    int64_t until_ms; /* monotonic: nothing is started before */
    char text[512];   /* why */
};

struct control;
struct convergence;
struct notifier;
struct source;

/* source/foresee.h: what becomes of a step's results whose temporary outputs
 * are missing. */
struct foreseen {
    enum forecast_fate fate;
    size_t needed_by;      /* a step; SIZE_MAX: not known */
    bool matters, decides; /* as in struct forecast_step */
};

struct foresight {
    struct cache_forecast *forecast; /* under way; NULL: none */
    struct foreseen *steps;          /* by the last one; NULL: there was none */
    bool is_due;                     /* another one, */
    int64_t begun_ms, not_before_ms; /* monotonic */
};

enum { EXECUTORS_MAX = 4 };

struct steps_summary {
    struct engine_steps steps;
    char names[160];
    int64_t made_ms; /* monotonic; 0: not yet */
};

/* Up to `loop` it is a session's, from there on it is the engine's life. */
struct engine {
    /* Links to the outside: the run and what it starts and reports to. */
    struct run *run;
    struct store *store;                 /* the run's */
    const struct experiment *experiment; /* the run's */
    const struct engine_events *events;
    struct log *log;   /* the events'; NULL: none */
    struct mask *mask; /* of secrets in the texts of ends */
    struct engine_result *result;
    struct launch_site site;
    struct workspaces *workspaces;
    struct pools *pools;
    char *program_path;
    struct metric_rules *reported;             /* of `smtune report`: all */
    struct executor *executors[EXECUTORS_MAX]; /* the first: the default */
    size_t executor_count;
    int64_t parallel;
    char executor_note[256];   /* an executor's last message, or "" */
    struct buf avoided;        /* nodes, a line each, as executors have them */
    struct notifier *notifier; /* NULL: the run has no receivers */

    /* What is next (source.h), and what its row has opened; the rest is NULL.
     */
    const struct source *source;
    bool is_open;     /* it was opened */
    bool is_edited;   /* the run's file: another session follows, with it */
    bool looks_ahead; /* what it gives does not depend on results */
    struct strategy *strategy;
    struct convergence *convergence; /* NULL: nobody asks for it */
    struct scheduler *scheduler;
    bool has_told_of_checkpoints, has_told_of_curves, has_told_of_names;
    bool has_told_of_counting; /* of lines, in place of steps */
    bool has_told_of_buffering;
    bool has_told_of_several; /* processes of a trial */
    bool has_told_of_restart;
    struct steps *steps;
    struct steps_summary steps_summary;
    struct earlier_results *earlier_results; /* NULL: nothing is taken over */
    struct sharing *sharing;
    struct cache *cache;
    struct foresight foresight;
    struct temp_files *temp_files;
    int64_t removals;      /* steps whose temporary outputs are being removed */
    bool has_shared_temps; /* that stayed, since another run has them, too */

    struct tally tally;
    struct engine_queues queues;
    struct engine_transaction transaction;
    struct engine_clocks clocks;
    struct engine_wind_up wind_up;

    char last_turn[256]; /* what the log has of it */
    size_t idle_reason;  /* likewise, why nothing starts: idle.c; 0: none */
    int64_t idle_about;

    uv_loop_t loop;
    bool was_edited;  /* the session follows an edit: the run is not new */
    uv_timer_t again; /* when a broken session is begun anew */
    uv_prepare_t step;
    uv_timer_t wake;  /* the next thing that is due */
    uv_timer_t watch; /* reads what running jobs wrote */
    uv_idle_t busy;   /* keeps the loop turning while a file has more */
    uv_signal_t interrupt, terminate;
    int signals;             /* how many came */
    int64_t paused_since_ms; /* monotonic; 0: it is not paused */
    struct engine_shortage shortage;
    struct control *control; /* NULL: it could not be opened */
};

#endif
