/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_ENGINE_IMPL_H
#define SMTUNE_ORCHESTRATOR_ENGINE_ENGINE_IMPL_H

#include <uv.h>

#include "base/buf.h"
#include "orchestrator/engine/control.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/job/launch.h"
#include "orchestrator/job/trial.h"
#include "orchestrator/run/reopen_steps.h"
#include "orchestrator/search/told.h"
#include "orchestrator/steps/cache.h"
#include "orchestrator/steps/steps.h"
#include "strategies/schedules/scheduler.h"
#include "strategies/strategy.h"

/*
 * The engine's inside, shared by its files only:
 *
 *   engine.c    the loop, its handles, what happens once a turn
 *   engine_executors.c  the executors, and that attempts wait there or started
 *   engine_chain.c  links of chains that are queued ahead
 *   engine_nodes.c  nodes of clusters to keep away from
 *   ledger.c    the open transaction, states, live trials by attempt
 *   ending.c    the budget's verdict, the user's signals, pausing
 *   control_requests.c  what is asked for on the engine's socket
 *   dispatch.c  trials on their way in: prepared, handed over
 *   suggest.c   new trials
 *   scheduling.c  where a schedule says which trial goes on
 *   engine_steps.c  where a workflow does
 *   line_up.c   where jobs that are put back wait for their turn
 *   engine_steps_status.c  how its steps stand
 *   account.c   what a trial's end means to the tally and the strategy
 *   engine_share.c  jobs that have a share of files
 *   engine_cache.c  jobs whose result may be there already
 *   reuse.c     trials that need no attempt
 *   settle.c    trials on their way out: metrics, ends, retries
 *   recover.c   what an earlier engine left
 *   announce.c  what others are told
 *   engine_log.c  what the log has of jobs and turns
 *   idle.c      and why a turn started nothing
 *   idle_steps.c  likewise, of a workflow
 *   hold.c      waiting where there is no room: disk, processes, descriptors
 *
 * A trial that is not over is in exactly one of the lists:
 *
 *   ready -> prepared -> committed -> live -> (settled) -> gone
 *     ^                                 |
 *     +--------- waiting <--------------+  (a retry)
 *
 * A trial that its schedule has paused is in no list, and not in memory.
 *
 * prepared: its attempt is in the open transaction. committed: the attempt is
 * in the record, the executor has no room yet. live: the executor has it.
 * settled: its end is in the open transaction. engine_step(), once a turn of
 * the loop, moves trials along and decides when to commit; so whatever one
 * turn brings shares one commit, and nothing is started or told before that.
 */

enum engine_phase {
    PHASE_RUNNING,
    PHASE_DRAINING, /* nothing new starts; what runs may end */
    PHASE_ENDING,   /* what runs is being ended */
    PHASE_CLOSING,  /* the session's handles are being closed */
    PHASE_WAITING   /* for a new session to be possible, or for answers */
};

struct notifier;

enum { EXECUTORS_MAX = 4 };

struct steps_summary {
    struct engine_steps steps;
    char names[160];
    int64_t made_ms; /* monotonic; 0: not yet */
};

/* Up to `loop` it is a session's, from there on it is the engine's life. */
struct engine {
    struct run *run;
    struct store *store;                 /* the run's */
    const struct experiment *experiment; /* the run's */
    const struct engine_events *events;
    struct log *log; /* the events'; NULL: none */
    struct engine_result *result;
    struct launch_site site;
    struct workspaces *workspaces;
    struct pools *pools;
    char *program_path;
    struct metric_rules *reported;   /* what `smtune report` may say: all */
    struct strategy *strategy;       /* NULL: it is a workflow */
    struct scheduler *scheduler;     /* NULL: there is no schedule */
    struct convergence *convergence; /* NULL: nobody asks for it */
    struct steps *steps;             /* NULL: it is an experiment */
    struct steps_summary steps_summary;
    struct takeover *takeover;                 /* NULL: nothing is taken over */
    struct executor *executors[EXECUTORS_MAX]; /* the first: the default */
    size_t executor_count;
    struct notifier *notifier; /* NULL: nobody wants to be told */

    struct trial_list ready, prepared, committed, settled;
    struct trial_list lined_up; /* until their step has room */
    struct trial_list asked;    /* a thread sees to what they need first */
    int64_t asked_count;
    struct sharing *sharing;   /* likewise */
    struct cache *cache;       /* NULL: it is an experiment */
    struct trial_list waiting; /* by due time */
    struct trial_list live;    /* has_more first, then as long not read */
    int64_t prepared_count, committed_count, live_count;
    int64_t running_count; /* of the live ones, those that have started */
    int64_t queued_count;  /* likewise, those that wait in a queue */
    int64_t adopted_count; /* likewise, those of an earlier engine */
    void *by_attempt;      /* tsearch tree of live trials */
    struct tally tally;
    int64_t told_count;     /* results (and what else is in told.h) so far */
    int64_t paused_trials;  /* by the schedule */
    int64_t given_up_count; /* by it, since the last commit */
    int64_t parallel;
    double mean_attempt_ms;   /* moving average; NaN: none ended yet */
    int64_t launch_errors;    /* in a row */
    char launch_error[256];   /* the last one's text */
    char executor_note[256];  /* what an executor said last for people; "" */
    struct buf avoided;       /* nodes, a line each, as executors know them */
    int64_t look_at_nodes_ms; /* monotonic: when next */

    char last_turn[256]; /* what the log has of it */
    size_t idle_reason;  /* likewise, why nothing starts: idle.c; 0: none */
    int64_t idle_about;

    enum engine_phase phase;
    enum trial_wish wish; /* for trials ended by the phase */
    bool exhausted;       /* the strategy has nothing more */
    bool lacks_resource;  /* the budget has too little for what is next */
    bool has_told_of_checkpoints;
    int64_t reopened_count; /* open trials that their user put back */
    bool is_beyond_budget;  /* it is used up, but for these */
    bool has_more_to_dispatch;
    int64_t paused_ms;     /* of the session, in all pauses that are over */
    int64_t reused_in_row; /* trials whose setting had a result already */
    int64_t started_ms;    /* monotonic */
    int64_t clock_gap_ms;  /* of the wall clock to the monotonic one */
    int64_t earlier_ms;    /* what earlier engines spent on the run */
    int64_t begun_ms;      /* monotonic, of the open transaction; 0: none */
    bool is_broken;
    struct err broken; /* why it cannot go on */

    uv_loop_t loop;
    uv_timer_t again; /* when a broken session is begun anew */
    uv_prepare_t step;
    uv_timer_t wake;  /* the next thing that is due */
    uv_timer_t watch; /* reads what running trials wrote */
    uv_idle_t busy;   /* keeps the loop turning while a file has more */
    uv_signal_t interrupt, terminate;
    int signals;             /* how many came */
    int64_t hold_ms;         /* how long starts were last held back; 0: not */
    int64_t held_until_ms;   /* monotonic: nothing is started before */
    char hold_text[512];     /* why */
    int64_t paused_since_ms; /* monotonic; 0: it is not paused */
    struct control *control; /* NULL: it could not be opened */
};

/* dispatch.c */
/* Wakes retries that are due, begins and prepares as many as may run: for a
 * while, and where that was not enough, has_more_to_dispatch. */
void engine_dispatch(struct engine *engine);
/* A trial that is in no list and has a due time waits for it. */
void engine_wait(struct engine *engine, struct trial *trial);
/* After a commit: hands what was prepared to the executor. */
void engine_submit(struct engine *engine);
/* At any time: what is in the record already, if the executor has room. */
void engine_start_committed(struct engine *engine);
/* Attempts that are prepared, committed or live. */
int64_t engine_active(const struct engine *engine);

/* suggest.c */
/* Whether there may be another new trial. */
bool engine_may_suggest(struct engine *engine);
/* A new trial, as its schedule (NULL: there is none) assigns it: what the
 * strategy suggests, or a step away from a parent's point. It goes into the
 * ready list; false when there is none to be had. */
bool engine_suggest(struct engine *engine, const struct assignment *assignment,
                    const struct value *parent);

/* scheduling.c */
/* Takes one step that the schedule wants next. False when there is none before
 * others have ended. */
bool engine_schedule_next(struct engine *engine);
/* An attempt is about to begin: where it goes on from. */
void engine_schedule_begin(struct engine *engine, struct trial *trial);
/* A point of a curve has come; false: it lies beyond what the trial was given,
 * and counts for nothing. Then, once it is taken in, what follows from it. */
bool engine_schedule_follow(struct engine *engine, struct trial *trial,
                            const char *name, int64_t step);
void engine_schedule_decide(struct engine *engine, struct trial *trial);
/* A point of a curve alone, without what follows from it. */
void engine_schedule_reach(const struct engine *engine, struct trial *trial,
                           const char *name, int64_t step);
/* After a commit: what the schedule has given up is told to end. */
void engine_schedule_enforce(struct engine *engine);
/* An attempt has ended as the event says: what it used; and, once that is in
 * the record, what its schedule makes of it. */
int64_t engine_schedule_used(const struct engine *engine, struct trial *trial,
                             enum job_event event);
enum job_event engine_schedule_end(struct engine *engine, struct trial *trial,
                                   enum job_event event);
/* What the record has of a trial that is coming into memory: where it goes on
 * from, and whether it was to be stopped. */
int engine_schedule_take_up(const struct engine *engine, struct trial *trial,
                            struct err *err);
/* The run ends: so do trials that are paused, some of them a turn. */
void engine_schedule_close(struct engine *engine);

/* engine_steps.c */
/* Takes one step that the workflow wants next. False when there is none before
 * others have ended. */
bool engine_steps_next(struct engine *engine);
/* Its attempt has ended well: takes what it made; where something is missing it
 * has not ended well. -1 where that cannot be read now. */
int engine_steps_finish(struct engine *engine, struct trial *job,
                        struct err *err);
/* In the open transaction: a job of it has come to its end. */
void engine_steps_ended(struct engine *engine, struct trial *job);
/* In the open transaction: jobs of it have been put back. */
void engine_steps_reopen(struct engine *engine,
                         const struct reopen_steps *reopened);
/* The run ends: so do steps that have not come to theirs, some of them a turn.
 * False when there are no more. */
bool engine_steps_close(struct engine *engine);
/* The run is over: whether it failed, and why. */
void engine_steps_conclude(struct engine *engine);

/* line_up.c */
/* What was put back and is ready waits where its step has no room for it. */
void engine_line_up(struct engine *engine);
/* A job of the step is over: the next one takes its place. */
void engine_call_next(struct engine *engine, size_t step);
/* None waits any more: they are among those that are ready. */
void engine_end_line(struct engine *engine);

/* engine_steps_status.c */
/* NULL: it is an experiment. Valid until the next call. */
const struct engine_steps *engine_steps_status(struct engine *engine);

/* engine_cache.c */
/* A ready job waits among those that are asked for, and comes back first. */
void engine_set_aside(struct engine *engine, struct trial *job);
void engine_take_back(struct engine *engine, struct trial *job);
/* A ready job whose step has `cache` goes to those that are asked for; false
 * where it is to start. */
bool engine_cache_ask(struct engine *engine, struct trial *job);
/* They are ready jobs again. */
void engine_cache_give_up(struct engine *engine);
/* What a job made, which has ended well, is kept for others; false where there
 * is no need to wait for that. */
bool engine_cache_seal(struct engine *engine, struct trial *job);

/* engine_share.c */
/* Likewise, one of which each copy has a share of some files. */
bool engine_share_out(struct engine *engine, struct trial *job);
/* For sharing_create(). */
void engine_on_shared(void *owner, void *user, const struct err *err);

/* reuse.c */
/* Settles a new trial, in no list yet, with the results of another one. False
 * when the engine broke; then the trial is still the caller's. */
bool engine_reuse(struct engine *engine, struct trial *trial, int64_t same_as);

/* engine_executors.c */
/* How many attempts at once: as the file has it, or the executors. */
int64_t engine_find_parallel(const struct run *run);
int engine_open_executors(struct engine *engine, struct err *err);
void engine_on_started(void *user, int64_t attempt,
                       const struct attempt_place *place);
/* It waits in no queue any more. */
void engine_dequeue(struct engine *engine, struct trial *trial);
/* A trial that is in no list, and not in the record yet. */
struct trial *engine_create_trial(struct engine *engine, int64_t number);
/* The same for a job of a workflow's step. */
struct trial *engine_create_job(struct engine *engine, size_t step,
                                int64_t number);

/* engine_chain.c */
/* Adds to a trial's launch the links that shall be queued behind it. */
bool engine_add_reserves(struct engine *engine, struct trial *trial,
                         struct err *err);
/* Its last attempt has ended so: whether its next one is among the reserves of
 * that. */
void engine_follow_reserves(struct trial *trial,
                            const struct attempt_exit *end);
/* Whether the link behind its last attempt has begun by itself. */
bool engine_is_overtaken(const struct engine *engine,
                         const struct trial *trial);

/* engine_nodes.c */
/* Tells the executors what to keep away from; and again where that has changed,
 * if it was not looked at just now. */
int engine_avoid_nodes(struct engine *engine, struct err *err);
void engine_look_at_nodes(struct engine *engine);
void engine_on_node(void *user, const struct node_report *report);
void engine_on_note(void *user, const char *text);

/* settle.c */
void engine_on_ended(void *user, const struct attempt_exit *end);
/* Reads the files of `count` live trials, of all in turn; whether some have
 * more at once. */
bool engine_read_trials(struct engine *engine, int64_t count);
/* Reads those that had more; whether some still have. */
bool engine_read_on(struct engine *engine);
/* After a commit: tells of the settled trials and forgets them. */
void engine_report_settled(struct engine *engine);
/* Settles a job whose end has waited for that. */
void engine_settle_sealed(struct engine *engine, struct trial *job);
/* Tells of a trial that its schedule lets go on. */
void engine_report_promoted(struct engine *engine, struct trial *trial);
/* Ends a trial that never reached the executor; why is NULL where it was not
 * to start. */
void engine_settle_unstarted(struct engine *engine, struct trial *trial,
                             const struct err *why);

/* account.c */
/* Puts a trial that is over into the tally; tells the strategy and the schedule
 * of it, or of what else there is, in its place. Whether it is the new best.
 * verdict is as told_tell()'s. */
bool engine_account(struct engine *engine, const struct told_item *item,
                    struct verdict *verdict);
/* The same for a trial that has just come to its end. */
void engine_account_ended(struct engine *engine, struct trial *trial,
                          bool was_paused);
/* Takes one that has been put back out of the tally; the strategy learns of it
 * when it has come to another end. */
int engine_account_reopened(struct engine *engine,
                            const struct reopening *reopening, struct err *err);

/* recover.c */
int engine_recover(struct engine *engine, struct err *err);
/* A trial that was not in memory goes into the ready list, in a state. */
int engine_take_up(struct engine *engine, int64_t number, enum job_state state,
                   struct err *err);

/* announce.c */
/* Records messages, in the open transaction. */
void engine_announce_run(struct engine *engine, enum notify_event event);
void engine_announce_ended(struct engine *engine, const struct trial *trial);
/* Records which messages have arrived. */
void engine_record_answers(struct engine *engine);
/* At the end: gives what is left some seconds to arrive. */
void engine_deliver(struct engine *engine);

/* engine_log.c */
/* Of a session that begins; hides the run's secrets from the log first. */
void engine_log_begin(const struct engine *engine);
/* A job has come to a new state by the event; cause: of its attempt's end, or
 * NULL. */
void engine_log_change(const struct engine *engine, const struct trial *trial,
                       enum job_event event, const char *cause);
/* An executor has read the end of the job's attempt. */
void engine_log_exit(const struct engine *engine, const struct trial *trial,
                     const struct attempt_exit *end);
/* At the end of a turn. */
void engine_log_turn(struct engine *engine);

/* idle.c */
/* Why nothing starts, where that is another reason than the last time. */
void engine_log_idle(struct engine *engine);

/* idle_steps.c */
/* Whether it is that no step of a workflow can start a job; in words, and
 * *about is a number that differs when these do. */
bool engine_idle_steps(const struct engine *engine, int64_t *about,
                       struct buf *out);

/* hold.c */
/* Nothing starts for a while, longer each time until something has started. */
void engine_hold(struct engine *engine, const char *why);
void engine_end_hold(struct engine *engine);
bool engine_is_held(const struct engine *engine);
/* What broke the session was of the kind that may pass: waits a while. False
 * when the user would not. */
bool engine_wait_to_begin_again(struct engine *engine);

/* ledger.c */
/* Opens the transaction if it is not open. False when the engine broke. */
bool engine_begin(struct engine *engine);
/* Likewise; what is open is committed. */
bool engine_commit(struct engine *engine);
/* Into the open transaction: that the wall clock jumped, if it did. What is
 * told of times in the record stands by it; *now_ms is the clock's then. */
int engine_note_clock(struct engine *engine, int64_t *now_ms, struct err *err);
/* The store or the executor failed: remembers why, winds up. */
void engine_break(struct engine *engine, const struct err *err);
/* Applies an event to a trial in memory and in the open transaction. */
bool engine_change_trial(struct engine *engine, struct trial *trial,
                         enum job_event event, const char *cause);
void engine_track_live(struct engine *engine, struct trial *trial);
struct trial *engine_find_live(struct engine *engine, int64_t attempt);
void engine_untrack_live(struct engine *engine, struct trial *trial);

/* ending.c */
/* Ends the run; but where its user has put trials back, there are no new ones,
 * and what is open goes on. */
void engine_use_up_budget(struct engine *engine, enum budget_verdict verdict);
/* Winding up: ends trials that no executor has, as the wish says. */
void engine_end_idle(struct engine *engine);
/* Nothing can be started here at all. */
void engine_finish_hopeless(struct engine *engine);
void engine_stop_by_signal(struct engine *engine, int signal);
/* Ends what runs (or, with CANCEL_KILL, kills it). */
void engine_end_all(struct engine *engine, enum cancel_mode mode);
/* As by Ctrl-C, and by SIGTERM. */
void engine_interrupt(struct engine *engine, int signal);
void engine_terminate(struct engine *engine, int signal);
void engine_on_interrupt(uv_signal_t *handle, int signal);
void engine_on_terminate(uv_signal_t *handle, int signal);

/*
 * Starts nothing new; at_once, what runs is ended too, to start again later.
 * And going on. False when that is not in the record; then the engine broke.
 */
bool engine_pause(struct engine *engine, bool at_once);
bool engine_resume(struct engine *engine);
bool engine_is_paused(const struct engine *engine);
/* For how long the session was paused. */
int64_t engine_paused_ms(const struct engine *engine);
/* Of the run, all engines together: not what was paused. */
int64_t engine_elapsed_ms(const struct engine *engine);

/* control_requests.c */
/* Without a socket, on a file system that has none, the engine does as well. */
void engine_open_control(struct engine *engine, const char *run_directory,
                         const struct engine_events *events);
/* To the engine's owner and all who have subscribed. */
void engine_tell_status(struct engine *engine);
void engine_tell_trial(struct engine *engine, const struct engine_trial *trial);
/* The last word to those: the run's end, where it is in the record. */
void engine_close_control(struct engine *engine);

/* engine.c */
/* Commits what is open, and does what had to wait for it. False when the engine
 * broke. */
bool engine_commit_now(struct engine *engine);
/* Whether the results so far end the run; then it is being ended. */
void engine_check_budget(struct engine *engine);
/* Turns the loop until every file has been read to its end. */
void engine_keep_reading(struct engine *engine);
void engine_status_fill(struct engine *engine, struct engine_status *status);

#endif
