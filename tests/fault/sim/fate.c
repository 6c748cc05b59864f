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

enum { STREAM_FATE = 2, MAX_STEPS = 5 };

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

/* Up to its resource, which stands in its setting, or beyond it. */
static int64_t draw_steps(const struct site_attempt *attempt,
                          const struct site_habits *habits, struct rng *rng)
{
    const char *resource = strrchr(attempt->setting, '=');

    if (habits->max_epochs == 0 || resource == NULL)
        return rng_between(rng, 1, MAX_STEPS);
    return rng_percent(rng, habits->overshoot)
               ? habits->max_epochs
               : strtoll(resource + 1, NULL, 10);
}

/* Lines with metrics, the last of which count. */
static void write_log(struct site_attempt *attempt,
                      const struct site_habits *habits, struct rng *rng)
{
    static const char *const names[SITE_METRICS] = {"loss", "size"};
    int64_t steps = draw_steps(attempt, habits, rng);
    struct buf text = BUF_INIT;
    char number[32];

    for (int64_t step = 1; step <= steps; step++) {
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
    attempt->log_length = 0;
    for (int i = 0; i < SITE_METRICS; i++)
        attempt->values[i] = NAN;
}

void fate_draw(struct site_attempt *attempt, const struct site_habits *habits,
               const struct attempt_spec *spec, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, (uint64_t)attempt->id, STREAM_FATE);
    attempt->setting = join(spec->argv);
    write_log(attempt, habits, &rng);
    draw_end(attempt, habits, &rng);
    attempt->is_slow_to_end = rng_percent(&rng, habits->ignore_term);
    attempt->end_ms = rng_magnitude(&rng, habits->min_ms, habits->max_ms);
    if (spec->time_ms == 0 || attempt->end_ms <= spec->time_ms ||
        attempt->end.cause == CAUSE_LAUNCH_ERROR)
        return;
    attempt->end_ms = spec->time_ms;
    attempt->end.cause = CAUSE_TIMEOUT;
    attempt->end.exit_code = -1;
    attempt->end.signal = SIGTERM;
}
