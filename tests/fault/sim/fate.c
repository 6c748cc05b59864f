/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/fate.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { STREAM_FATE = 2, STREAM_WORDS = 5, STREAM_LEVEL = 6, MAX_STEPS = 5 };

static char *join(char *const *words)
{
    struct buf text = BUF_INIT;

    for (; *words != NULL; words++)
        buf_printf(&text, "%s%s", text.length > 0 ? " " : "", *words);
    return buf_take(&text);
}

/* The better, the smaller the numbers of its setting are; and some noise, so
 * that no two attempts say the same. */
static double draw_value(const char *setting, struct rng *rng)
{
    double sum = 0.0;

    for (const char *c = setting; *c != '\0' && *c != '=';) {
        char *end;
        double number = strtod(c, &end);

        sum += end != c ? fabs(number) : 0.0;
        c = end != c ? end : c + 1;
    }
    return sum / (1.0 + sum) + 0.1 * rng_uniform(rng);
}

/* Which stands in its setting; 0: there is no schedule. */
static int64_t resource_of(const struct site_attempt *attempt,
                           const struct site_habits *habits)
{
    const char *resource = strrchr(attempt->setting, '=');

    return habits->max_epochs > 0 && resource != NULL
               ? strtoll(resource + 1, NULL, 10)
               : 0;
}

/* Up to its resource, or beyond it. */
static int64_t draw_steps(const struct site_attempt *attempt,
                          const struct site_habits *habits, struct rng *rng)
{
    int64_t resource = resource_of(attempt, habits);

    if (resource > 0 && attempt->level >= resource)
        return resource;
    if (resource == 0)
        return rng_between(rng, 1, MAX_STEPS);
    return rng_percent(rng, habits->overshoot) ? habits->max_epochs : resource;
}

/* Lines with metrics, the last of which count. */
static void write_log(struct site_attempt *attempt,
                      const struct site_habits *habits, struct rng *rng)
{
    static const char *const names[SITE_METRICS] = {"loss", "size"};
    struct buf text = BUF_INIT;
    char number[32];

    for (int i = 0; i < habits->metric_count; i++)
        attempt->values[i] = NAN;
    for (int64_t step = attempt->level + 1; step <= attempt->steps; step++) {
        if (rng_percent(rng, 20))
            buf_add_string(&text, "some words of no account\n");
        if (habits->max_epochs > 0 && !habits->is_stepless)
            buf_printf(&text, "epoch=%" PRId64 " ", step);
        for (int i = 0; i < SITE_METRICS && i < habits->metric_count; i++) {
            snprintf(number, sizeof(number), "%.9g",
                     draw_value(attempt->setting, rng));
            attempt->values[i] = strtod(number, NULL);
            buf_printf(&text, "%s=%s%s", names[i], number,
                       i + 1 < habits->metric_count ? " " : "\n");
        }
    }
    if (rng_percent(rng, 20) && text.length > 0)
        buf_truncate(&text, text.length - 1); /* ends without a newline */
    attempt->log_length = text.length;
    attempt->log = buf_take(&text);
}

void fate_speak(struct site_attempt *attempt, const struct site_habits *habits,
                uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, (uint64_t)attempt->id, STREAM_WORDS);
    attempt->steps = draw_steps(attempt, habits, &rng);
    write_log(attempt, habits, &rng);
    if (!attempt->is_silent)
        return;
    attempt->log_length = 0;
    for (int i = 0; i < SITE_METRICS; i++)
        attempt->values[i] = NAN;
}

int64_t fate_level(const struct site_attempt *attempt,
                   const struct site_habits *habits, uint64_t seed)
{
    int64_t resource = resource_of(attempt, habits);
    struct rng rng;

    rng_init(&rng, seed, (uint64_t)attempt->id, STREAM_LEVEL);
    return attempt->end.cause == CAUSE_OK || attempt->steps > resource ||
                   attempt->level >= resource
               ? resource
               : rng_between(&rng, attempt->level, resource - 1);
}

static enum attempt_cause draw_cause(const struct site_habits *habits,
                                     struct rng *rng)
{
    int sum = 0, cause = 0;
    int64_t drawn;

    for (int i = 0; i < SITE_CAUSES; i++)
        sum += habits->weights[i];
    drawn = rng_between(rng, 0, sum - 1);
    while (drawn >= habits->weights[cause])
        drawn -= habits->weights[cause++];
    return (enum attempt_cause)cause;
}

static void draw_end(struct site_attempt *attempt,
                     const struct site_habits *habits, struct rng *rng)
{
    static const int statuses[] = {1, 2, 75};
    static const int signals[] = {SIGKILL, SIGSEGV};
    struct attempt_exit *end = &attempt->end;

    end->cause = draw_cause(habits, rng);
    end->exit_code = -1;
    if (end->cause == CAUSE_OK || end->cause == CAUSE_NO_METRIC)
        end->exit_code = 0;
    else if (end->cause == CAUSE_EXIT)
        end->exit_code = statuses[rng_below(rng, ARRAY_LEN(statuses))];
    else if (end->cause == CAUSE_SIGNAL)
        end->signal = signals[rng_below(rng, ARRAY_LEN(signals))];
    else if (end->cause == CAUSE_LAUNCH_ERROR)
        snprintf(end->text, sizeof(end->text), "no such command");
    if (end->cause != CAUSE_NO_METRIC)
        return;
    end->cause = CAUSE_OK;
    attempt->is_silent = true;
}

static char *find_checkpoints(char *const *envp)
{
    static const char name[] = "SMTUNE_CHECKPOINT_DIR=";

    while (*envp != NULL && strncmp(*envp, name, sizeof(name) - 1) != 0)
        envp++;
    if (*envp == NULL)
        world_fail("there is no %s in the environment", name);
    return mem_copy_string(*envp + sizeof(name) - 1);
}

/* It saves what it has when it is warned, and asks to be started again. */
static void heed_warning(struct site_attempt *attempt,
                         const struct attempt_spec *spec, struct rng *rng)
{
    attempt->end_ms = spec->time_ms - spec->warn_before_ms +
                      rng_between(rng, 0, spec->warn_before_ms - 1);
    attempt->end.cause = CAUSE_EXIT;
    attempt->end.exit_code = 75;
    attempt->end.signal = 0;
}

static void meet_limit(struct site_attempt *attempt,
                       const struct attempt_spec *spec, struct rng *rng)
{
    if (spec->time_ms == 0 || attempt->end_ms <= spec->time_ms ||
        attempt->end.cause == CAUSE_LAUNCH_ERROR)
        return;
    attempt->end_ms = spec->time_ms;
    attempt->end.cause = CAUSE_TIMEOUT;
    attempt->end.exit_code = -1;
    attempt->end.signal = SIGTERM;
    if (spec->warn_signal != 0 && rng_percent(rng, 50))
        heed_warning(attempt, spec, rng);
}

void fate_draw(struct site_attempt *attempt, const struct site_habits *habits,
               const struct attempt_spec *spec, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, (uint64_t)attempt->id, STREAM_FATE);
    attempt->setting = join(spec->argv);
    draw_end(attempt, habits, &rng);
    attempt->is_slow_to_end = rng_percent(&rng, habits->ignore_term);
    attempt->end_ms = rng_magnitude(&rng, habits->min_ms, habits->max_ms);
    meet_limit(attempt, spec, &rng);
    if (habits->saves == 0)
        return;
    attempt->checkpoints = find_checkpoints(spec->envp);
    attempt->saves = rng_percent(&rng, habits->saves);
}
