/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_TRANSPORT_H
#define SMTUNE_EXECUTORS_SLURM_TALK_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "executors/executor.h"
#include "executors/slurm/talk/site.h"
#include "executors/slurm/talk/state.h"

/*
 * How Slurm is talked to: by its commands, or through slurmrestd. A transport
 * asks and answers, and decides nothing; it never blocks the loop. Every call
 * is answered once, from the loop, unless the transport was destroyed.
 *
 * A new transport is one file with one const struct slurm_transport_type and
 * one line in transport.c.
 */

enum slurm_answer {
    SLURM_DONE,    /* it was done, and the answer was understood */
    SLURM_REFUSED, /* it never will be as it was asked: the text says why */
    SLURM_LATER,   /* a limit of an account, a QOS or the cluster: not now */
    SLURM_SILENT   /* no information: it may have been done, or not at all */
};

enum { SLURM_TEXT_MAX = 512, SLURM_NAME_MAX = 64 };

struct slurm_reply {
    enum slurm_answer answer;
    char text[SLURM_TEXT_MAX]; /* of what is not done: one line, for people */
};

/* A job to be submitted; all is borrowed during the call. */
struct slurm_submission {
    const char *name;      /* [a-z0-9-], what it is found by later */
    const char *label;     /* before its name, for people; NULL, "": nothing */
    const char *comment;   /* for people; NULL, "": none */
    const char *directory; /* absolute: its working directory */
    const char *log;       /* absolute, what the script itself writes; may hold
                              any character, and no pattern of Slurm's in it is
                              expanded */
    const char *script;    /* the whole batch script */
    const struct slurm_ask *ask;      /* what the attempt asks for, or NULL */
    const struct slurm_ask *fallback; /* the executor's */
    int nodes;                        /* 0: 1 */
    int tasks;                        /* over all nodes; 0: 1 */
    int cpus;                         /* of the whole job, 0: Slurm's default */
    int gpus;                         /* of the whole job */
    int64_t memory_bytes;             /* on each node, 0: the default */
    int64_t time_ms;                  /* 0: the partition's default */
    int array;                        /* tasks 0 to array - 1; 0: no array */
    int64_t after;            /* starts when this job has ended not ok; 0 */
    const char *const *avoid; /* NULL-ended nodes; NULL: none */
    bool without_environment; /* the job does not inherit ours */
};

/* A job of ours, as a listing or the accounting has it. Texts live during the
 * call. */
struct slurm_job {
    int64_t id;       /* its own; the array's of a task that has not started */
    int64_t array;    /* id of the array it belongs to; 0: none */
    int task;         /* its index there; -1: none */
    const char *name; /* without its label */
    const struct slurm_state *state;
    const char *word;         /* of the state, as it came */
    const char *reason;       /* why it waits, or ended; "" */
    const char *nodes;        /* "n1", "n[1-3]", "" */
    const char *partition;    /* that it waits or runs in; "": not reported */
    int exit_code;            /* of the batch script; -1: not known */
    int signal;               /* that ended it, 0: none */
    int restarts;             /* how often Slurm put it back by itself */
    int64_t start_ms, end_ms; /* wall clock, 0: not known */
};

/* What it was submitted as: its own id, or its array's. */
static inline int64_t slurm_job_submitted(const struct slurm_job *job)
{
    return job->task < 0 ? job->id : job->array;
}

/* A job, or one task of an array. The last of an array's tasks to start has the
 * array's own id, so that an id does not tell one from the other. */
struct slurm_target {
    int64_t id; /* the job's; of a task the array's */
    int task;   /* its index; -1: the whole job, all tasks of an array */
};

struct slurm_transport;

typedef void slurm_submit_fn(void *user, const struct slurm_reply *reply,
                             int64_t id);
/* [count] rows; none but after SLURM_DONE, which says that these are all. */
typedef void slurm_list_fn(void *user, const struct slurm_reply *reply,
                           const struct slurm_job *jobs, size_t count);
typedef void slurm_done_fn(void *user, const struct slurm_reply *reply);
/* After SLURM_DONE alone there is a whole site, which may be moved away
 * (slurm_site_move). */
typedef void slurm_site_fn(void *user, const struct slurm_reply *reply,
                           struct slurm_site *site);

struct slurm_transport_type {
    const char *name;
    struct slurm_transport *(*create)(uv_loop_t *loop,
                                      const struct slurm_options *options,
                                      struct err *err);
    /* Requests on their way are given up without an answer. */
    void (*destroy)(struct slurm_transport *transport, void (*done)(void *user),
                    void *user);
    void (*submit)(struct slurm_transport *transport,
                   const struct slurm_submission *submission,
                   slurm_submit_fn *done, void *user);
    /* All jobs of this user whose own name begins with the prefix, in any state
     * that the controller still knows, each array's task by itself. */
    void (*list)(struct slurm_transport *transport, const char *prefix,
                 slurm_list_fn *done, void *user);
    /* What the accounting has of jobs [count] that were submitted since; of the
     * id of an array, all its tasks that it knows. The last life alone of one
     * that Slurm put back. SLURM_REFUSED where there is no accounting. */
    void (*account)(struct slurm_transport *transport, const int64_t *ids,
                    size_t count, int64_t since_ms, slurm_list_fn *done,
                    void *user);
    /*
     * A signal to the batch scripts of jobs [count] (0: takes the jobs out of
     * the queue, or ends them, as scancel does). Jobs that are no more, and for
     * a signal those that have not started, count as done.
     */
    void (*cancel)(struct slurm_transport *transport,
                   const struct slurm_target *targets, size_t count, int signal,
                   slurm_done_fn *done, void *user);
    void (*describe)(struct slurm_transport *transport, slurm_site_fn *done,
                     void *user);
};

/* The first member of every transport. */
struct slurm_transport {
    const struct slurm_transport_type *type;
    int64_t requests; /* to the controller so far */
};

/* As options->transport says; NULL with ERR_FILE for an unknown one, or where
 * its programs are not there. */
struct slurm_transport *slurm_transport_create(
    uv_loop_t *loop, const struct slurm_options *options, struct err *err);

/* What is asked for: of each member one's own (NULL: nothing), or the
 * fallback's (NULL, too); `extra` as a whole. And the same of a submission. */
struct slurm_ask slurm_asked_by(const struct slurm_ask *own,
                                const struct slurm_ask *fallback);
struct slurm_ask slurm_asked(const struct slurm_submission *submission);

/* The size of a job as Slurm takes it, the same on each node; rounded up where
 * it cannot be. 0: the default. */
struct slurm_size {
    int nodes, tasks;   /* at least 1 */
    int tasks_per_node; /* 0: there is one task */
    int64_t cpus_per_task, gpus_per_node;
    int64_t memory_mib, time_min;
};

struct slurm_size slurm_size_of(const struct slurm_submission *submission);

/* The GPUs of a node as Slurm names them, "gpu:a100:2"; NULL: none. The
 * caller's to free. */
char *slurm_gres_of(const struct slurm_submission *submission);

/* Which answer the controller's message is, in whatever text it comes; SILENT
 * for what is not known. */
enum slurm_answer slurm_answer_of(const char *message);

/* The job's name as Slurm has it, "LABEL.NAME"; the caller's to free. And the
 * part of such a one that it is found by. */
char *slurm_full_name(const struct slurm_submission *submission);
const char *slurm_own_name(const char *full_name);

/* The path as sbatch's --output takes it, none of Slurm's patterns in it being
 * expanded. The caller's to free. */
char *slurm_escaped_path(const char *path);

/* Whether "NAME=..." is an option of Slurm's commands, or tells of a job that
 * we are in ourselves, which those that we submit are no part of. */
bool slurm_variable_is_own(const char *variable);

extern const struct slurm_transport_type slurm_commands;
extern const struct slurm_transport_type slurm_rest;

#endif
