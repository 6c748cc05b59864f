/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_SLURM_IMPL_H
#define SMTUNE_EXECUTORS_SLURM_SLURM_IMPL_H

#include <sys/queue.h>
#include <uv.h>

#include "executors/attempt/agent_message.h"
#include "executors/attempt/pulse.h"
#include "executors/executor_impl.h"
#include "executors/slurm/talk/limit.h"
#include "executors/slurm/talk/transport.h"

/*
 * The inside of the executor slurm; only executors/slurm/ includes this.
 *
 * slurm.c holds the attempts and asks the controller; a mode brings them there:
 * a wave (wave.c) is one job an attempt, or an array of many, a pilot
 * (pilot.c) an allocation that runs many one after the other. Which mode
 * an attempt gets says auto.c.
 *
 * Files beside those of an attempt (executor.h): `order` (order_file.h), the
 * pulse's (pulse.h), and `slurm`, written before it is submitted: one line,
 * "NAME TASK\n", the name of the job and the index in its array, -1 for none;
 * for a pilot's attempts the pilot's name and -1; `reason`, why Slurm has not
 * started it, a word of squeue's, or empty. In the executor's own folder,
 * STATE/slurm/: `token`, and a folder for each wave and pilot, called as its
 * job: `script`, `tasks` (the directory of each attempt, a line each),
 * `job` (its id, as soon as that is known), and what pilot_spool.h says.
 *
 * Names of jobs: smt-TOKEN-KNUMBER, K being j, a (waves of one and of many),
 * r (reserves) or p (pilots), and TOKEN eight hexadecimal digits that stand for
 * the run: by them jobs are found whose id was never heard of. Slurm has them
 * behind a label for people, which counts for nothing (label.c).
 */

enum {
    SLURM_TICK_MS = 100, /* exit files and pulses of what runs are looked at */
    SLURM_NAME_SIZE = SLURM_NAME_MAX,
    SLURM_REASON_MAX = 128,
    SLURM_SUBMITS_MAX = 4,  /* on their way at once */
    PILOT_MARGIN_MS = 15000 /* of a pilot's time, to begin and to end */
};

/* The time of a pilot that an attempt needs; 0: the attempt has no limit. */
static inline int64_t slurm_pilot_need_ms(const struct attempt_spec *spec)
{
    return spec->time_ms > 0 ? spec->time_ms + spec->grace_ms + PILOT_MARGIN_MS
                             : 0;
}

struct slurm;
struct slurm_mode;

enum slurm_choice { SLURM_BY_JOB, SLURM_BY_ARRAY, SLURM_BY_PILOT };

/* An attempt that was taken and has not ended. */
struct slurm_flight {
    struct slurm_flight *sibling;  /* the mode's, for its own lists */
    LIST_ENTRY(slurm_flight) link; /* of all flights */
    /* Its spec, owned. argv and envp are NULL of one taken up again. envp: the
     * attempt's own variables alone. */
    struct attempt_request *request; /* those of its reserves follow it */
    const struct slurm_mode *mode;
    enum slurm_choice choice;
    void *carrier; /* the mode's: wave or pilot that it is in; NULL: none yet */
    int task;      /* its index there */
    int64_t job;   /* id of its job, 0: not known */
    int64_t array; /* id of the array that its job belongs to, 0: none */
    bool has_started, is_cancelled;
    enum cancel_mode cancel_mode; /* the last, if it is_cancelled */
    struct pulse_watch pulse;
    char node[EXECUTOR_NODE_MAX];  /* once it is known */
    char reason[SLURM_REASON_MAX]; /* that its file has */
};

/* What `slurm` in an attempt's directory says. */
struct slurm_handle {
    char name[SLURM_NAME_SIZE];
    int task;
};

/*
 * A way to bring attempts to the cluster. What is created is kept by the core
 * and handed to each slot as `self`. No slot may be NULL.
 */
struct slurm_mode {
    const char *name;    /* for people */
    const char *letters; /* of the jobs that are its own */
    void *(*create)(struct slurm *slurm, struct err *err);
    /* Returns whether jobs may be left in the queue that wait for nobody. */
    bool (*destroy)(void *self);
    /* Takes the flight. START_FULL leaves it to the core, which destroys it. */
    enum start_result (*start)(void *self, struct slurm_flight *flight,
                               struct err *err);
    /* flight->is_cancelled and cancel_mode are set. */
    void (*cancel)(void *self, struct slurm_flight *flight);
    /* Takes up one that an earlier engine had given it, its claim not being
     * void and `exit` not there. */
    int (*reattach)(void *self, struct slurm_flight *flight,
                    const struct slurm_handle *handle, struct err *err);
    /* A job with one of its letters, of a listing or of the accounting. */
    void (*listed)(void *self, const struct slurm_job *job);
    /* A listing that was asked for at asked_ms (clock_monotonic_ms()) has been
     * gone through: what was submitted before and was not in it is gone. */
    void (*swept)(void *self, int64_t asked_ms);
    /* Every SLURM_TICK_MS; files are looked at here. */
    void (*tick)(void *self, int64_t now_ms);
};

extern const struct slurm_mode slurm_wave;
extern const struct slurm_mode slurm_pilot;

/* ---- small files (handle.c) ---- */

/* Replaces the file in the directory; not synced: what a power cut takes was
 * not claimed either. */
int slurm_file_write(const char *directory, const char *name, const char *text,
                     struct err *err);
/* `slurm` in an attempt's directory; read: -1 where it is not there, or not
 * whole. */
int slurm_handle_write(const char *directory, const struct slurm_handle *handle,
                       struct err *err);
int slurm_handle_read(const char *directory, struct slurm_handle *handle);
/* What the script of a wave or a pilot said last: a line of its `log`, or "".
 */
void slurm_last_words(const char *folder, char *line, size_t size);
/* Whether the node on which it should have begun did not pass its check, and
 * why; of an attempt's folder or a pilot's. */
bool slurm_is_unhealthy(const char *directory, char *why, size_t size);
/* `job` in the folder of a wave or a pilot; read: 0 where it is not there. */
int slurm_job_write(const char *folder, int64_t job, struct err *err);
int64_t slurm_job_read(const char *folder);

/* ---- what the core does for the modes ---- */

uv_loop_t *slurm_loop(const struct slurm *slurm);
const struct slurm_options *slurm_options(const struct slurm *slurm);
struct slurm_transport *slurm_transport(const struct slurm *slurm);
/* NULL until the cluster has been asked. */
const struct slurm_site *slurm_site(const struct slurm *slurm);
/* A job that asked for no partition is in the default one, which slurmrestd of
 * Slurm 24.05 to 25.11 does not report. */
void slurm_learn_default(struct slurm *slurm, const struct slurm_job *job);
/* STATE/slurm. */
const char *slurm_folder(const struct slurm *slurm);
/* "smt-TOKEN-KNUMBER", with a number that no job of the run had. */
void slurm_new_name(struct slurm *slurm, char letter,
                    char name[SLURM_NAME_SIZE]);
/* Sets what people see of a job (label.c): of the attempt, of an array of its
 * like, or of a pilot (NULL). Texts live until the next call. */
void slurm_label(struct slurm *slurm, const struct attempt_spec *spec,
                 bool is_array, struct slurm_submission *submission);
/* NULL-ended: to be kept away from by all, for struct slurm_submission; NULL
 * where there are none. Lives until the loop turns. */
const char *const *slurm_avoided(const struct slurm *slurm);
/* Those, and the attempt's own; never NULL, the caller's to free. */
const char **slurm_avoided_by(const struct slurm *slurm,
                              const struct attempt_spec *spec);
/* Whether attempts wait in the queue as jobs of their own. */
bool slurm_has_queued(const struct slurm *slurm);
/* At most so many attempts at once (executor_options.parallel). */
int slurm_parallel(const struct slurm *slurm);
/* Soon: something was submitted, or has come to its end. */
void slurm_look_soon(struct slurm *slurm);
/* At once, as far as few requests have been made of late. */
void slurm_look_now(struct slurm *slurm);
/*
 * Asks the accounting, once for all that is gathered in a turn, what became of
 * a job that the queue does not know any more. `answered` follows in the end,
 * after `listed` where it is known how the job ended; user has to last so long.
 */
void slurm_ask_account(struct slurm *slurm, const struct slurm_target *target,
                       void (*answered)(void *user, bool is_known), void *user);
/* Whether an order of its own may have ended the job: it gave one for that id,
 * which a controller that was killed gives to another, or the controller was
 * away a moment ago. */
bool slurm_may_have_cancelled(const struct slurm *slurm,
                              const struct slurm_target *target);
/* scancel, gathered for a moment, verified by the listings that follow, and
 * said again while the job is there. signal as in the transport's cancel. */
void slurm_cancel_job(struct slurm *slurm, const struct slurm_target *target,
                      int signal);

/* Whether the controller does not answer, or has not since then, which is a
 * while ago. */
bool slurm_is_mute(const struct slurm *slurm, int64_t since_ms);
/* Tells people, once a silence, that jobs stay in a queue of which nothing is
 * heard. */
void slurm_note_left(struct slurm *slurm);

/* Tells the owner; the place's node and handle are the flight's. */
void slurm_flight_queued(struct slurm *slurm, struct slurm_flight *flight);
void slurm_flight_started(struct slurm *slurm, struct slurm_flight *flight,
                          int64_t pid);
/* Tells the owner (from the loop, not from inside a call into the executor) and
 * releases the flight. */
void slurm_flight_ended(struct slurm *slurm, struct slurm_flight *flight,
                        const struct attempt_exit *end);
/* Whether it was ended by a signal that no engine sent, nor an earlier one:
 * Slurm knows who did. */
bool slurm_is_unasked(const struct slurm_flight *flight,
                      const struct attempt_exit *end);

/* It was not started and is not going to be: its claim is made void, and its
 * end is that of a displaced attempt. One that turns out to have been claimed
 * is left alone: false. */
bool slurm_flight_displaced(struct slurm *slurm, struct slurm_flight *flight,
                            const char *why);
/* Keeps the node away from all that follows, and tells the owner. */
void slurm_report_node(struct slurm *slurm, const struct node_report *report);
void slurm_note(struct slurm *slurm, const char *format, ...) PRINTF_LIKE(2, 3);
/* Why its job waits, "" where it does no more: for its file (held.c). */
void slurm_flight_waits(struct slurm_flight *flight, const char *reason);
/* Tells people of a job ("job", "pilot") that Slurm holds back, one at a time,
 * for as long as a listing has it so. */
void slurm_held(struct slurm *slurm, const char *what,
                const struct slurm_job *job);
/* The job is not held back any more (events.c). */
void slurm_not_held(struct slurm *slurm, int64_t job);
/* There may be room for what was refused. */
void slurm_has_room(struct slurm *slurm);

/* ---- which mode ---- */

struct slurm_pace { /* what was seen of this run's attempts so far */
    int64_t ended;
    int64_t mean_ms;       /* of their durations */
    int64_t mean_queue_ms; /* from submission to start, of jobs and arrays */
};

struct slurm_scene { /* what a choice depends on besides the attempt */
    const struct slurm_options *options;
    const struct slurm_pace *pace;
    const struct slurm_site *site; /* NULL: not known yet */
    int parallel;
};

/* What the attempt's job may ask for at most; its name is the site's. */
struct slurm_limit slurm_time_limit(const struct slurm_site *site,
                                    const struct slurm_options *options,
                                    const struct attempt_spec *spec);

/* Whether the mode is smtune's choice. */
bool slurm_is_auto(const struct attempt_spec *spec,
                   const struct slurm_options *options);

/* The CPUs that it takes of a pilot: as Slurm has it for a job, one for each
 * rank where the number is not given. */
static inline int slurm_pilot_cpus(const struct attempt_spec *spec)
{
    return spec->cpus > 0 ? spec->cpus : spec->tasks;
}

/* executor_check(): only a pilot is too small for an attempt. Pure. */
int slurm_check(const struct executor_options *options,
                const struct attempt_spec *spec, struct err *err);

/*
 * Pure. For mode `auto` by the attempt's size (several nodes: a job), its
 * length (time limit, or what was seen) and how many there may be at once; else
 * what is asked for, and *why is NULL; else it is a static text for people. -1
 * with an error for an attempt that its mode cannot run (several nodes in a
 * pilot).
 */
int slurm_choose(const struct attempt_spec *spec,
                 const struct slurm_scene *scene, const char **why,
                 struct err *err);

#endif
