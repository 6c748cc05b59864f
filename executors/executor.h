/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_EXECUTOR_H
#define SMTUNE_EXECUTORS_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"

/*
 * An executor starts attempts somewhere, says when they end, ends them when
 * told, and finds them again after a restart. A new executor is one file with
 * one const struct executor_type (executor_impl.h) and one line in executor.c.
 *
 * Each attempt has a directory of its own, made by the caller. In it lie
 *     log    what the command wrote (stdout and stderr)
 *     claim  made with O_EXCL by whoever starts the command: one line of JSON
 *            {"attempt", "pid", "pid_start", "boot_id", "host", "time_ms",
 *            "shim_pid", "shim_start", "cgroup", "node", "job",
 *            "is_in_pilot"}, pid 0 where it was made so that the command never
 *            starts; flocked for as long as the attempt or a descendant lives
 *     exit   made by rename when it ended: one line of JSON, struct
 *            attempt_exit's fields; an `exit` of another attempt id is ignored
 *     sbatch what was submitted to a cluster for it: the batch script, with the
 *            options in a comment
 *     reason why a cluster has not started it: one line, a word of the
 *            cluster's; empty, or not there, where it does not wait
 * and these outlive both the engine and the executor.
 */

/* Why an attempt ended; the words are those of store, JSON and retry rules. */
#define ATTEMPT_CAUSES(X)                                                      \
    X(CAUSE_OK, "ok")           /* exit status 0 */                            \
    X(CAUSE_EXIT, "exit")       /* another exit status */                      \
    X(CAUSE_SIGNAL, "signal")   /* a signal nobody here sent */                \
    X(CAUSE_TIMEOUT, "timeout") /* its time limit */                           \
    X(CAUSE_OOM, "oom")         /* its memory limit */                         \
    X(CAUSE_NODE_FAIL, "node_fail")                                            \
    X(CAUSE_PREEMPTED, "preempted")                                            \
    X(CAUSE_LAUNCH_ERROR, "launch_error") /* the command could not start */    \
    X(CAUSE_LOST, "lost")                 /* ended, and nobody saw how */      \
    X(CAUSE_CANCELLED, "cancelled")       /* ended because it was told to */   \
    X(CAUSE_NO_METRIC, "no_metric")       /* ended well, never said metric */  \
    X(CAUSE_NO_OUTPUT, "no_output")       /* ended well, made no output */     \
    X(CAUSE_SETUP_FAILED, "setup_failed") /* a line before the command */

enum attempt_cause {
#define X(symbol, word) symbol,
    ATTEMPT_CAUSES(X)
#undef X
        CAUSE_COUNT
};

extern const char *const attempt_cause_names[CAUSE_COUNT + 1];

/* The cause of a word; -1 when there is none such. */
int attempt_cause_find(const char *word);

enum { EXECUTOR_NODE_MAX = 65 };

struct attempt_exit {
    int64_t attempt;
    enum attempt_cause cause;
    int exit_code;                /* -1 when it did not exit */
    int signal;                   /* 0 when none */
    int64_t started_ms, ended_ms; /* wall clock */
    int64_t cpu_ms;               /* user + system of the whole tree */
    int64_t max_rss_bytes;
    bool has_gpu_use; /* what follows was looked at */
    int64_t gpu_ms;   /* that its GPUs together were busy; -1: unknown */
    int64_t gpu_memory_bytes; /* the most in use of one of them; -1: unknown */
    char text[256];           /* what is known of why, and what is not; or "" */
    char node[EXECUTOR_NODE_MAX]; /* of the cluster where it ran, or "" */
    bool is_shortage; /* no process was to be had, or no room on the disk */
    /* What it ran in, or waited for, was taken away by the executor itself (an
     * allocation at its end, a queue that forgot it): it starts again, and that
     * is no retry. */
    bool is_displaced;
    /* It was cancelled, and by nobody of smtune's: by scancel. */
    bool is_outside;
};

struct buf;
struct log;
struct slurm_site;

/* Where an attempt runs. */
struct attempt_place {
    int64_t pid;        /* 0: not known */
    const char *node;   /* of the cluster; "": this machine */
    const char *handle; /* what it is called there: a Slurm job's id, "" */
};

/*
 * What Slurm is asked for: of an executor, or of one attempt, which comes
 * first. NULL and 0: not said.
 */
struct slurm_ask {
    const char *partition, *account, *qos, *constraint, *reservation;
    const char *mode;         /* auto, job, array, pilot */
    const char *gpu_type;     /* of an attempt's GPUs */
    const char *const *extra; /* further options of sbatch, [extra_count] */
    size_t extra_count;
};

/* Of the executor slurm. Everything is borrowed for its life. */
struct slurm_options {
    struct slurm_ask ask;
    /* Of attempts that do not say it themselves: whoever starts them has put
     * these into their specs. 0: not said. */
    int nodes, tasks, gpus;
    int64_t time_ms;          /* 0: the partition's */
    const char *const *setup; /* of each attempt, before its own: job_spec.h */
    size_t setup_count;
    const char *health; /* a shell command that a node must pass; NULL */
    /* Patterns of their names and comments (job_label.h); NULL: the usual. */
    const char *job_name, *comment;
    bool without_environment; /* jobs do not inherit smtune's */
    int64_t heartbeat_ms;     /* between two signs of life of what runs */
    int64_t silence_ms;       /* after which its node counts as dead */
    int64_t poll_ms;          /* least time between two looks at the queue */
    const char *transport;    /* commands, rest */
    const char *url;          /* of slurmrestd: unix:/PATH, http://HOST:PORT */
    /* Allocations that many attempts share; 0: what the partition suggests */
    int pilot_cpus, pilot_gpus, pilot_max;
    int64_t pilot_memory_bytes, pilot_time_ms, pilot_idle_ms;
    struct log *log; /* of calls; NULL: there is none */
    /* For executor_preview(): the cluster; NULL: it was not asked. */
    const struct slurm_site *site;
};

/* A limit that runs may share: `size` slots, each a file in the directory that
 * is locked for as long as it is taken. */
struct attempt_pool {
    const char *directory; /* absolute; made where it is not there */
    int64_t amount;        /* slots to hold, 1 to the size */
    int64_t size;          /* at most POOL_SIZE_MAX */
};

enum { POOL_SIZE_MAX = 4096, ATTEMPT_POOLS_MAX = 16 };

/* Exit statuses; all zeroes: every one but 0, and every signal. */
struct exit_set {
    uint64_t bits[4]; /* status N: bit N % 64 of bits[N / 64] */
};

struct attempt_spec {
    int64_t attempt;       /* the attempt's id in the store */
    const char *directory; /* absolute; exists */
    const char *work_directory;
    char *const *argv; /* NULL-ended */
    char *const *envp; /* NULL-ended, complete */
    /* NULL-ended names of variables in it that the file of the run sets, which
     * a node does not have by itself; NULL: none. */
    const char *const *own;
    int cpus;         /* slots to hold, 0: none */
    int gpus;         /* slots to hold, 0: none */
    int gpu_permille; /* of one GPU that it shares; 0: whole ones */
    uint64_t gpu_set; /* bit i: it may have the executor's GPU i; 0: any. Set by
                         the executor, from the type of GPUs in `slurm` */
    bool pins;        /* to the CPUs of its slots, within a NUMA node */
    int64_t memory_bytes; /* of the whole tree, 0: no limit */
    int64_t time_ms;      /* 0: no limit */
    int64_t grace_ms;     /* between SIGTERM and SIGKILL */
    /* What it takes together with the CPUs and GPUs, all or none, for as long
     * as it lives. */
    const struct attempt_pool *pools; /* [pool_count], none twice */
    size_t pool_count;                /* at most ATTEMPT_POOLS_MAX */
    /* Sent to its processes once, so long before time_ms is over. */
    int warn_signal; /* 0: none */
    int64_t warn_before_ms;
    struct exit_set link_exits; /* exits after it that count as by its time */
    int nodes;                  /* machines of a cluster; 0, 1: one */
    int tasks;                  /* ranks, for what the cluster is asked for */
    const struct slurm_ask *slurm; /* NULL: the executor's own */
    const char *step, *job;   /* as people name them (job_label.h), or NULL */
    const char *const *avoid; /* NULL-ended nodes; NULL: none */
    /*
     * Attempts that shall follow this one should nobody be there to start them
     * when it ends at its time limit: queued with it, where the executor can.
     * Their numbers are negative, and they are no rows of the store yet.
     */
    const struct attempt_spec *reserves; /* [reserve_count] */
    size_t reserve_count;
    int64_t reserve; /* the number under which it was such a one; 0: never */
    int64_t more;    /* of its like that may follow it; -1: not known */
};

struct executor_options {
    const char *name;            /* local, slurm, fake */
    const char *state_directory; /* the run's own; for sockets and the like */
    const char *run;             /* its name, for people; NULL: none */
    int cpus;                    /* -1: as many as this process may use */
    int gpus;                    /* -1: as many as the machine has */
    int parallel;                /* attempts at once, at most */
    bool without_cgroups;        /* make no control groups */
    const char *script;          /* fake: a file (script.h), or NULL */
    const struct slurm_options *slurm; /* NULL for all others */
    struct log *log;                   /* borrowed; NULL: there is none */
};

/* What was seen of a node of a cluster. */
enum node_trouble {
    NODE_DIED,      /* Slurm says so, or its signs of life ended */
    NODE_UNHEALTHY, /* the health check failed there */
    NODE_REFUSED    /* a job could not be started there */
};

struct node_report {
    const char *node;
    enum node_trouble trouble;
    int64_t attempt;  /* 0: none in particular */
    const char *text; /* what was seen */
};

/* What the executor tells its owner, always from the loop, never from inside
 * a call into the executor. */
struct executor_events {
    /* Its place in a queue is known: not running yet. May come again. */
    void (*queued)(void *user, int64_t attempt, const char *handle);
    void (*started)(void *user, int64_t attempt,
                    const struct attempt_place *place);
    void (*ended)(void *user, const struct attempt_exit *end);
    void (*room)(void *user); /* a start may succeed now that was refused */
    void (*broken)(void *user, const struct err *err); /* can start no more */
    /* It is told once a node until executor_avoid() was called anew. */
    void (*node)(void *user, const struct node_report *report);
    /* For people: why a mode was chosen, that a controller does not answer. "":
     * the last is no longer so. */
    void (*note)(void *user, const char *text);
    void *user;
};

enum start_result {
    START_ERROR = -1,
    START_OK = 0,  /* taken; started or queued behind others, `started` comes */
    START_FULL = 1 /* no slot; try again after `room` */
};

/* What an attempt was refused for: there are too few of these slots. */
enum {
    LACKS_CPUS = 1,
    LACKS_GPUS = 2,
    LACKS_POOL = 4 /* << i: of its spec's i-th pool */
};

enum cancel_mode {
    CANCEL_TERM, /* SIGTERM, and SIGKILL after the attempt's grace period */
    CANCEL_KILL  /* SIGKILL now */
};

struct executor;

/*
 * The loop is borrowed, events are copied; what they tell of comes from the
 * loop, never during a call. NULL with an error, ERR_FILE for an unknown name.
 */
struct executor *executor_create(uv_loop_t *loop,
                                 const struct executor_options *options,
                                 const struct executor_events *events,
                                 struct err *err);
/*
 * Gives up what it holds on the loop; attempts that run go on running. The
 * memory is released, and `done` called, from the loop.
 */
void executor_destroy(struct executor *executor, void (*done)(void *user),
                      void *user);

/*
 * Copies what it needs of spec. With START_FULL it adds to *lacks, a set of
 * LACKS_CPUS and so on, what there is too little of; others that want none of
 * that may have room (backlog.h). Nothing is added where it will take no other
 * attempt either.
 */
enum start_result executor_start(struct executor *executor,
                                 const struct attempt_spec *spec,
                                 uint32_t *lacks, struct err *err);
/* `ended` follows, cause cancelled unless it ended by itself before. */
void executor_cancel(struct executor *executor, int64_t attempt,
                     enum cancel_mode mode);
/*
 * Takes up an attempt that an earlier engine started, known by its spec (argv
 * and envp may be NULL). `ended` follows in every case: at once where its exit
 * file is there; when it ends, where it still runs; as CAUSE_LOST where it is
 * gone without a word. Returns 0, 1 when it was never started (and now cannot
 * be any more: its claim is taken), -1 on error.
 */
int executor_reattach(struct executor *executor,
                      const struct attempt_spec *spec, struct err *err);

/* Nodes to keep away from, all that there are of them: NULL-ended, copied. */
void executor_avoid(struct executor *executor, const char *const *nodes);

/* Whether it makes anything of an attempt's reserves. */
bool executor_has_reserves(const struct executor *executor);

/* CPUs and GPUs it may hand out, for doctor and plan; 0: not known. */
int executor_cpus(const struct executor *executor);
int executor_gpus(const struct executor *executor);

/* Whether the executor could ever run the attempt, as far as the two themselves
 * say. -1 with ERR_FAILED, which says why not: "needs 4 CPUs, a pilot has 2".
 */
int executor_check(const struct executor_options *options,
                   const struct attempt_spec *spec, struct err *err);

/*
 * Appends what would be submitted for the attempt, as a shell's script.
 * `folder` is where the executor would keep its files. ERR_USAGE where the
 * executor of options->name submits nothing.
 */
int executor_preview(const struct executor_options *options,
                     const struct attempt_spec *spec, const char *folder,
                     struct buf *out, struct err *err);

/* NULL-ended. */
const char *const *executor_names(void);

#endif
