/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_COMMANDS_IMPL_H
#define SMTUNE_EXECUTORS_SLURM_TALK_COMMANDS_IMPL_H

#include "executors/attempt/command.h"
#include "executors/slurm/talk/transport.h"

/* The inside of the transport by Slurm's commands; only
 * executors/slurm/talk/commands*.c include this. */

/* No information, the text being what is known of why. */
void slurm_reply_silent(struct slurm_reply *reply, const char *text);

/* What the end of a program says by itself; DONE where that was well. */
void slurm_reply_take(struct slurm_reply *reply,
                      const struct command_result *result);

/* Whether scancel, which failed, did so for nothing but jobs that are no more,
 * or have no script yet to be signalled. */
bool slurm_cancel_is_done(const struct command_result *result);

/* Words of a command line, owned, with room for the NULL behind. */
struct slurm_words {
    char **words; /* NULL-ended once there is one */
    size_t count, capacity;
};

void slurm_words_add(struct slurm_words *words, const char *format, ...)
    PRINTF_LIKE(2, 3);
void slurm_words_clear(struct slurm_words *words);

/* sbatch and its options; the script comes on its standard input. */
void slurm_submit_words(const struct slurm_submission *submission,
                        struct slurm_words *words);

/* The number in what `sbatch --parsable` prints, "ID\n" or "ID;CLUSTER\n",
 * behind what a site may greet with; 0 for anything else. */
int64_t slurm_submit_id(const char *output);

/* scancel and what it is to be done to targets [count]. */
void slurm_cancel_words(const struct slurm_target *targets, size_t count,
                        int signal, struct slurm_words *words);

/* What is asked of the cluster, one after the other. */
struct slurm_site_question {
    const char *program;
    bool (*is_asked)(const struct slurm_site *site); /* NULL: always */
    void (*words)(const struct slurm_site *site, struct slurm_words *words);
    /* What it prints then, [length] bytes, which are changed. -1 where it is
     * not that. */
    int (*take)(struct slurm_site *site, char *text, size_t length);
    int64_t limit_ms; /* then it is skipped, as without its program; 0: all
                         depends on it */
};

extern const struct slurm_site_question slurm_site_questions[];
extern const size_t slurm_site_question_count;

/* What they take: `scontrol show config`, and sinfo; */
int slurm_site_take_config(struct slurm_site *site, char *text, size_t length);
int slurm_site_take_nodes(struct slurm_site *site, char *text, size_t length);
/* the QOS of partitions, from `scontrol show partition`; */
int slurm_site_take_partitions(struct slurm_site *site, char *text,
                               size_t length);
/* each QOS, and what our user is associated with, from sacctmgr; */
int slurm_site_take_qos(struct slurm_site *site, char *text, size_t length);
int slurm_site_take_user(struct slurm_site *site, char *text, size_t length);
/* the limits of each QOS, from `scontrol show assoc_mgr`. */
int slurm_site_take_cache(struct slurm_site *site, char *text, size_t length);

/* Our environment without what would speak to Slurm's commands in the user's
 * place, NULL-ended; the caller's to free, with each of its strings. The first
 * is for those that list alone. */
char **slurm_environment(void);

/* The path of a program in PATH, the caller's to free; NULL: there is none. */
char *slurm_program(const char *name);

#endif
