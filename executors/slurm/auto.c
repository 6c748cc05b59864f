/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mode of an attempt: a job of its own, a task of an array, or a pilot.
 *
 * The user's choice is only checked. For `auto` the rules are tried in order.
 * First come attempts that no pilot can run. Short attempts then share a
 * pilot's wait in the queue, and so do attempts that wait long compared with
 * their length. Without any measurement an attempt is queued, which is never
 * wrong, only slow. Each rule gives its reason, which becomes a note of the
 * run.
 */
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"
#include "base/units.h"
#include "executors/slurm/slurm_impl.h"
#include "executors/slurm/talk/extra.h"

enum {
    SHORT_MS = 10 * 60 * 1000, /* up to this a pilot is worth its while */
    SEEN_ENOUGH = 3,           /* attempts that have ended, to go by them */
    QUEUE_SHARE = 4, /* and where the queue takes so great a part of the time */
    WAVE_MIN = 32    /* so many at once are better one submission than each */
};

static const struct {
    const char *word;
    int choice; /* enum slurm_choice, -1: to be found */
} modes[] = {{"auto", -1},
             {"job", SLURM_BY_JOB},
             {"array", SLURM_BY_ARRAY},
             {"pilot", SLURM_BY_PILOT}};

static int find_mode(const char *word, int *choice, struct err *err)
{
    const char *words[ARRAY_LEN(modes)];

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        words[i] = modes[i].word;
        if (strcmp(word, words[i]) == 0) {
            *choice = modes[i].choice;
            return 0;
        }
    }
    return text_unknown("mode", word, words, ARRAY_LEN(words), ERR_FILE, err);
}

static const char *asked_mode(const struct attempt_spec *spec,
                              const struct slurm_options *options)
{
    if (spec->slurm != NULL && spec->slurm->mode != NULL)
        return spec->slurm->mode;
    return options->ask.mode != NULL ? options->ask.mode : "auto";
}

bool slurm_is_auto(const struct attempt_spec *spec,
                   const struct slurm_options *options)
{
    return strcmp(asked_mode(spec, options), "auto") == 0;
}

struct slurm_limit slurm_time_limit(const struct slurm_site *site,
                                    const struct slurm_options *options,
                                    const struct attempt_spec *spec)
{
    const struct slurm_ask ask = slurm_asked_by(spec->slurm, &options->ask);

    if (site == NULL)
        return (struct slurm_limit){.time_ms = 0};
    return slurm_limit_of(site, &ask);
}

/* Whether there is less of it in a pilot than is asked for; 0: not said. */
static bool is_beyond(int64_t wanted, int64_t there)
{
    return there > 0 && wanted > there;
}

static int check_time(const struct attempt_spec *spec,
                      const struct slurm_options *options, struct err *err)
{
    char limit[32], there[32];

    if (!is_beyond(spec->time_ms, options->pilot_time_ms))
        return 0;
    units_format_duration(spec->time_ms, limit, sizeof(limit));
    units_format_duration(options->pilot_time_ms, there, sizeof(there));
    return err_set(err, ERR_FAILED,
                   "a time limit of %s is longer than a pilot's time, %s: use "
                   "mode job, or a longer pilot.time",
                   limit, there);
}

/* An executor's --exclusive is for its pilots: each has its node for itself. */
static int check_extra(const struct attempt_spec *spec,
                       const struct slurm_options *options, struct err *err)
{
    bool is_own = spec->slurm != NULL && spec->slurm->extra_count > 0;
    struct slurm_ask ask = slurm_asked_by(spec->slurm, &options->ask);
    const char *option = slurm_extra_of_trial(&ask);

    if (option == NULL || (!is_own && !slurm_is_auto(spec, options) &&
                           strcmp(option, "--exclusive") == 0))
        return 0;
    return err_set(err, ERR_FAILED,
                   "extra: '%s' is for one trial, and a pilot runs several: "
                   "use mode job",
                   option);
}

/* Whether a pilot as it was asked for could ever run it. */
static int check_pilot(const struct attempt_spec *spec,
                       const struct slurm_options *options, struct err *err)
{
    int cpus = slurm_pilot_cpus(spec);
    char wanted[32], there[32];

    if (spec->nodes > 1)
        return err_set(err, ERR_FAILED,
                       "needs %d nodes, and a pilot has one: use mode job",
                       spec->nodes);
    if (is_beyond(cpus, options->pilot_cpus))
        return err_set(err, ERR_FAILED, "needs %d CPU%s, a pilot has %d", cpus,
                       units_plural(cpus), options->pilot_cpus);
    if (is_beyond(spec->gpus, options->pilot_gpus))
        return err_set(err, ERR_FAILED, "needs %d GPU%s, a pilot has %d",
                       spec->gpus, units_plural(spec->gpus),
                       options->pilot_gpus);
    if (is_beyond(spec->memory_bytes, options->pilot_memory_bytes)) {
        units_format_bytes(spec->memory_bytes, wanted, sizeof(wanted));
        units_format_bytes(options->pilot_memory_bytes, there, sizeof(there));
        return err_set(err, ERR_FAILED, "needs %s of memory, a pilot has %s",
                       wanted, there);
    }
    if (check_extra(spec, options, err) != 0)
        return -1;
    return check_time(spec, options, err);
}

/* Whether its time and what a pilot needs besides are more than is allowed. */
static bool is_too_long(const struct attempt_spec *spec,
                        const struct slurm_scene *scene)
{
    int64_t most_ms =
        slurm_time_limit(scene->site, scene->options, spec).time_ms;

    return most_ms > 0 && slurm_pilot_need_ms(spec) > most_ms;
}

/* What is known of how long it takes; 0: nothing. */
static int64_t expected_ms(const struct attempt_spec *spec,
                           const struct slurm_pace *pace)
{
    if (pace->ended >= SEEN_ENOUGH && pace->mean_ms > 0)
        return pace->mean_ms;
    return spec->time_ms;
}

static enum slurm_choice in_the_queue(int parallel)
{
    return parallel >= WAVE_MIN ? SLURM_BY_ARRAY : SLURM_BY_JOB;
}

static enum slurm_choice find_choice(const struct attempt_spec *spec,
                                     const struct slurm_scene *scene,
                                     const char **why)
{
    const struct slurm_pace *pace = scene->pace;
    int64_t length_ms = expected_ms(spec, pace);
    int parallel = scene->parallel;
    struct slurm_ask ask = slurm_asked_by(spec->slurm, &scene->options->ask);

    if (spec->nodes > 1) {
        *why = "an attempt needs several nodes";
        return SLURM_BY_JOB;
    }
    if (spec->reserve_count > 0) {
        *why = "a reserve is queued behind the attempt";
        return SLURM_BY_JOB;
    }
    if (slurm_extra_of_trial(&ask) != NULL) {
        *why = "an attempt asks in `extra` for what a pilot cannot divide";
        return in_the_queue(parallel);
    }
    if (is_too_long(spec, scene)) {
        *why = "an attempt needs all the time that a job may have";
        return in_the_queue(parallel);
    }
    if (check_pilot(spec, scene->options, NULL) != 0) {
        *why = "an attempt needs more than a pilot has";
        return in_the_queue(parallel);
    }
    if (length_ms == 0) {
        *why = "the duration of an attempt is not known yet";
        return in_the_queue(parallel);
    }
    if (length_ms <= SHORT_MS) {
        *why = "attempts are short, and a pilot waits in the queue only once";
        return SLURM_BY_PILOT;
    }
    if (pace->mean_queue_ms > length_ms / QUEUE_SHARE) {
        *why =
            "attempts wait in the queue for long, and a pilot waits only once";
        return SLURM_BY_PILOT;
    }
    *why = "attempts are long, and their wait in the queue is short";
    return in_the_queue(parallel);
}

int slurm_choose(const struct attempt_spec *spec,
                 const struct slurm_scene *scene, const char **why,
                 struct err *err)
{
    const struct slurm_options *options = scene->options;
    int choice = -1;

    if (find_mode(asked_mode(spec, options), &choice, err) != 0)
        return -1;
    if (choice < 0)
        return find_choice(spec, scene, why);
    *why = NULL;
    if (choice == SLURM_BY_PILOT && check_pilot(spec, options, err) != 0)
        return -1;
    return choice;
}

int slurm_check(const struct executor_options *options,
                const struct attempt_spec *spec, struct err *err)
{
    int choice = -1;

    if (find_mode(asked_mode(spec, options->slurm), &choice, err) != 0)
        return -1;
    return choice == SLURM_BY_PILOT ? check_pilot(spec, options->slurm, err)
                                    : 0;
}
