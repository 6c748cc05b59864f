/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_REST_IMPL_H
#define SMTUNE_EXECUTORS_SLURM_TALK_REST_IMPL_H

#include <sys/types.h>

#include "base/json.h"
#include "base/net/fetch.h"
#include "executors/slurm/talk/transport.h"

struct buf;

/*
 * What is said to slurmrestd, and what it says; pure. Only
 * executors/slurm/talk/rest*.c include this.
 *
 * From version 39 on a number may be {"set", "infinite", "number"} and a state
 * a list of words. What is not there, or is no such thing, counts as not known.
 */

/* The newest version of what /openapi/v3 lists that smtune knows (REST_VERSIONS
 * of rest_link.h), 37 for "v0.0.37"; 0 with an error. */
int slurm_rest_version(const struct fetch_answer *answer, struct err *err);

/* -- Values: integers, or those objects -- */

int64_t slurm_rest_number(const json_t *json); /* -1: not known; 0: infinite */
int64_t slurm_rest_known(const json_t *json);  /* 0: not known, or infinite */
int slurm_rest_count(const json_t *json);      /* the same */
int64_t slurm_rest_time_ms(const json_t *json, int64_t unit_ms); /* the same */
const char *slurm_rest_text(const json_t *json);                 /* or "" */
const char *slurm_rest_state(const json_t *json); /* of one or several words */
const json_t *slurm_rest_inner(const json_t *json, const char *a,
                               const char *b); /* json[a][b], or NULL */

/* -- Answers -- */

/* The array that is the member `name`: `each` gets the text of one element
 * after the other, and may say -1: it is not what it should be. */
struct slurm_rest_part {
    const char *name;
    int (*each)(void *user, const char *item, size_t length);
    void *user;
};

/*
 * Gives text, which is an object, to the part, and puts what is left of it into
 * *rest, the part being empty there. -1 when it is no whole object. Jobs of
 * everybody are a lot of text, of which little is ours.
 */
int slurm_rest_cut(const char *text, size_t length,
                   const struct slurm_rest_part *part, struct buf *rest);

/*
 * What an answer means. Returns the JSON that came, without the part (which may
 * be NULL), or NULL when it was none. Its errors count by their numbers:
 * slurmrestd says HTTP 500 for a partition that is not there as for a
 * controller that is not. *number is that of an error, -1 for one without, 0:
 * there was none.
 */
json_t *slurm_rest_judge(const struct fetch_answer *answer,
                         const struct slurm_rest_part *part, int64_t *number,
                         struct slurm_reply *reply);
/* For an answer that says it is one, and has not what it should. */
void slurm_rest_set_garbled(struct slurm_reply *reply);

/* Jobs, and the JSON in which their texts lie. */
struct slurm_rest_rows {
    struct slurm_job *jobs; /* [count] */
    size_t count, capacity;
    json_t *kept;
};

/* Of the queue: those of the user whose name begins with the prefix. A task of
 * an array that waits is a row as well. */
void slurm_rest_read_jobs(const struct fetch_answer *answer, const char *prefix,
                          uid_t uid, struct slurm_rest_rows *rows,
                          struct slurm_reply *reply);
/*
 * Appends what the accounting has of one job, or of all tasks of an array, that
 * were submitted since. Until version 38 it says 0 for each exit status: that
 * is as good as nothing.
 */
void slurm_rest_read_account(const struct fetch_answer *answer,
                             int64_t since_ms, struct slurm_rest_rows *rows,
                             struct slurm_reply *reply);
void slurm_rest_rows_clear(struct slurm_rest_rows *rows);

/* Of the answers to /partitions, after that to /nodes, and then to the
 * accounting's /clusters. */
void slurm_rest_read_partitions(const struct fetch_answer *answer,
                                struct slurm_site *site,
                                struct slurm_reply *reply);
void slurm_rest_read_nodes(const struct fetch_answer *answer,
                           struct slurm_site *site, struct slurm_reply *reply);
void slurm_rest_read_clusters(const struct fetch_answer *answer,
                              struct slurm_site *site);

/* Of the accounting's /qos: their limits of time; and of /associations those of
 * the user on this cluster. */
void slurm_rest_read_qos(const struct fetch_answer *answer,
                         struct slurm_site *site);
void slurm_rest_read_associations(const struct fetch_answer *answer,
                                  const char *user, struct slurm_site *site);

/* Later versions take a job in the words of the controller's own request. */
enum { SLURM_REST_LAST_OF_OPTIONS = 38 };

/* "n1,n2" as a list. */
json_t *slurm_rest_list(const char *text);
/* A number as later versions write those that may be none. */
json_t *slurm_rest_optional(int64_t number);
/* The first option of `extra` that no field can express; NULL: all are. */
const char *slurm_rest_refused_extra(const struct slurm_ask *ask);
/* Sets what the words, a list of options that are not refused, ask for. */
void slurm_rest_set_extra(json_t *job, const json_t *words, int version);

/* The body of a submission, in the words of version 38; NULL where a path or
 * the script is no UTF-8, which JSON cannot say. */
json_t *slurm_rest_job(const struct slurm_submission *submission);
/* The same in another version's words; takes it over. */
json_t *slurm_rest_job_adapt(json_t *body, int version);

#endif
