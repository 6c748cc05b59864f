/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_WAVE_WAVE_H
#define SMTUNE_EXECUTORS_SLURM_WAVE_WAVE_H

#include <sys/queue.h>

#include "executors/slurm/slurm_impl.h"

/*
 * Waves: jobs of one attempt each, and arrays of many. wave.c is the
 * mode, submit.c brings a wave to Slurm, split.c in
 * pieces that it takes, queue.c takes what the queue says,
 * look.c looks at the files of attempts, and
 * end.c says how one ended.
 */

enum { WAVE_DESCRIBE_MS = 5000 }; /* for the cluster to report its limits */

enum wave_stage {
    WAVE_GATHERING, /* others may join it */
    WAVE_READY,     /* to be submitted */
    WAVE_SENT,      /* the answer is awaited */
    WAVE_UNSURE,    /* it may have been submitted: looked for by its name */
    WAVE_QUEUED     /* Slurm has it, or had it */
};

enum task_fate {
    TASK_LIVE,   /* for all that is known */
    TASK_MISSED, /* the queue does not know it: the accounting is asked */
    TASK_OVER,   /* Slurm says that it is over; or knows nothing (no state) */
    TASK_FENCED  /* held for dead: revoked, its job cancelled */
};

/* An attempt in a wave. */
struct wave_task {
    TAILQ_ENTRY(wave_task) link; /* of waves.waiting or waves.running */
    struct wave *wave;
    struct slurm_flight *flight; /* NULL: it has ended */
    enum task_fate fate;
    int64_t since_ms;                /* of the fate; clock_monotonic_ms() */
    const struct slurm_state *state; /* that Slurm gave it last, or NULL */
    char word[32];                   /* the same, as it came */
    int exit_code, signal;           /* of its job, once it is over */
    int64_t claim_job;               /* that has claimed it; 0: not known */
    int64_t claimed_ms;              /* when its claim was seen */
    int64_t told_ms;                 /* when its flight was cancelled */
    int64_t cancelled_ms; /* when Slurm was last told to; 0: not yet */
    int64_t exit_ms;      /* when an `exit` was seen that Slurm is to explain */
    const char *mark;     /* in place of Slurm's signals; NULL: none yet */
    struct slurm_doubt doubt; /* that Slurm will start it */
    bool has_reserves;
    bool was_told; /* its owner, that it is queued */
    bool is_claimed;
    bool is_running; /* it is in waves.running */
    bool is_listed;  /* in the listing that is gone through */
    bool is_back;    /* it waits there, though it was started */
    bool is_asked;   /* the accounting, and it has not answered */
};

struct wave {
    TAILQ_ENTRY(wave) link;  /* of waves.all */
    TAILQ_ENTRY(wave) queue; /* of waves.gathering and waves.ready */
    struct waves *waves;
    char name[SLURM_NAME_SIZE];
    enum wave_stage stage;
    int64_t since_ms; /* of the stage */
    int misses;       /* listings without it, in WAVE_UNSURE */
    bool is_array;
    bool is_taken_up;         /* it was submitted before it was made here */
    bool is_reserve;          /* its job waited for another one to end */
    bool is_doubtful;         /* it may be in the queue twice: one of these that
                                 was cancelled was so by an engine */
    bool was_noted;           /* that it is in an unknown state */
    int64_t job;              /* its id, 0: not known */
    struct wave_task **tasks; /* [count], by their index; NULL: none */
    size_t count, capacity;
    size_t left;  /* that have not ended */
    size_t asked; /* that await the accounting */
};

struct reserve; /* reserve.h */

TAILQ_HEAD(reserve_list, reserve);
TAILQ_HEAD(wave_list, wave);
TAILQ_HEAD(wave_task_list, wave_task);

struct waves {
    struct slurm *slurm;
    struct wave_list all, gathering, ready;
    struct reserve_list reserves;
    void *by_name; /* tsearch tree */
    /* To be looked at, the first first. */
    struct wave_task_list waiting, running;
    int on_way;      /* submissions */
    int64_t hold_ms; /* that it is waited after a limit, 0: none */
    int64_t held_ms; /* when that was reached; clock_monotonic_ms() */
    bool was_hold_noted;
    size_t array_limit; /* tasks that limits let through; 0: not known */
};

/* -- wave.c ---------------------------------------------------------*/

struct wave *wave_create(struct waves *waves, const char *name,
                         enum wave_stage stage);
/* NULL when there is none such. */
struct wave *waves_find(const struct waves *waves, const char *name);
/* Drops it once nobody is in it any more and nothing is awaited. */
void wave_release_if_done(struct wave *wave);
/* The task is a running one: it is looked at often. */
void wave_task_runs(struct wave_task *task);
/* What Slurm is told to cancel it; -1 where its job is not known. */
int wave_task_target(const struct wave_task *task, struct slurm_target *target);
/* Its place in the queue is told, the first time. */
void wave_task_queued(struct wave_task *task);
/* Tells Slurm to end it, as its flight's cancel_mode says. */
void wave_task_cancel(struct wave_task *task);
/* The folder of the wave; the caller's to free. */
char *wave_folder(const struct wave *wave);

/* -- submit.c --------------------------------------------------*/

/* Whether the two may be of one array. */
bool wave_may_join(const struct slurm_flight *a, const struct slurm_flight *b);
/* It is ready, and goes as soon as the others on their way leave room. */
void wave_make_ready(struct wave *wave);
/* A job as it is submitted; all is borrowed during the call. */
struct wave_job {
    const char *name, *folder;
    const struct attempt_spec *spec; /* its size, or that of each task */
    const char *const *arguments;    /* for smtune-shim, NULL-ended */
    int array;
    int64_t after;
};

/* Writes its script, and submits it. */
int wave_submit_job(struct waves *waves, const struct wave_job *job,
                    slurm_submit_fn *done, void *user, struct err *err);
/* One of them has ended: a limit may let the next in soon. */
void waves_note_freed(struct waves *waves);
/* Submits what is ready. */
void waves_pump(struct waves *waves, int64_t now_ms);

/* -- queue.c ---------------------------------------------------*/

/* What a listing says, and what it does not: the mode's slots. */
void waves_listed(void *self, const struct slurm_job *job);
void waves_swept(void *self, int64_t asked_ms);

/* -- split.c ---------------------------------------------------*/

/* As many tasks as an array may have now. */
size_t waves_array_max(const struct waves *waves);
/* Makes what it has beyond that another wave, which is ready. */
void wave_split(struct wave *wave);
/* It was refused for a limit: the next are half as large. False where it has
 * one task only. */
bool wave_halve(struct wave *wave);
/* One of so many tasks was taken. */
void waves_array_taken(struct waves *waves, size_t count);

/* -- look.c ----------------------------------------------------*/

/* Looks at files, for a bounded time. */
void waves_look(struct waves *waves, int64_t now_ms);

/* -- end.c -----------------------------------------------------*/

/* It ended for this cause; what else is known is found out. The task is
 * released. */
void wave_task_end_as(struct wave_task *task, enum attempt_cause cause,
                      const char *format, ...) PRINTF_LIKE(3, 4);
/* Its `exit` is there. Returns whether it was taken. */
bool wave_task_take_exit(struct wave_task *task, struct attempt_exit *end,
                         int64_t now_ms);
/* Its job is over, and it has no `exit`: concludes where it is time to. */
void wave_task_judge(struct wave_task *task, int64_t now_ms);
/* Holds what runs for dead, which is seen to: it is revoked, its job cancelled,
 * its node (if any) reported. */
void wave_task_fence(struct wave_task *task, const char *why, int64_t now_ms);

#endif
