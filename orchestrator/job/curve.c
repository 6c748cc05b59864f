/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which points of a long curve are kept.
 *
 * Memory and disk of a trial must not grow with the length of its output, and
 * nobody knows beforehand how long that is. A stride that doubles each time the
 * curve is full keeps an even spread of between a half and all of the room. The
 * last, smallest and largest points are not known before the end: each is held
 * in memory and recorded when the attempt ends, or when it lies on the stride.
 * After a crash of the engine the output is read again from its beginning.
 */
#include "orchestrator/job/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

void curve_init(struct job_curve *curve, const char *name)
{
    *curve = (struct job_curve){.name = mem_copy_string(name),
                                .hash = text_hash(name, strlen(name)),
                                .stride = 1,
                                .last = (double)NAN,
                                .least = (double)NAN,
                                .most = (double)NAN};
}

void curve_clear(struct job_curve *curve)
{
    free(curve->name);
}

static void hold(struct job_curve *curve, struct held_point *held,
                 const struct metric_new *point, bool is_recorded)
{
    held->is_held = !is_recorded;
    held->point = *point;
    held->point.name = curve->name;
}

/* Equal values are no new extremes: the first of them stays. */
static bool is_less(double value, double least)
{
    return isfinite(value) && !(least <= value);
}

void curve_count(struct job_curve *curve, double value)
{
    curve->points++;
    curve->kept++;
    curve->last = value;
    if (is_less(value, curve->least))
        curve->least = value;
    if (is_less(-value, -curve->most))
        curve->most = value;
}

bool curve_take(struct job_curve *curve, const struct metric_new *point)
{
    bool is_recorded = curve->points % curve->stride == 0;

    curve->points++;
    curve->kept += is_recorded;
    curve->last = point->value;
    hold(curve, &curve->held_last, point, is_recorded);
    if (is_less(point->value, curve->least)) {
        curve->least = point->value;
        hold(curve, &curve->held_least, point, is_recorded);
    }
    if (is_less(-point->value, -curve->most)) {
        curve->most = point->value;
        hold(curve, &curve->held_most, point, is_recorded);
    }
    return is_recorded;
}

bool curve_thins(struct job_curve *curve)
{
    if (curve->kept < CURVE_MAX_POINTS)
        return false;
    curve->kept /= 2;
    curve->stride *= 2;
    return true;
}

const struct metric_new *curve_release(struct job_curve *curve)
{
    struct held_point *const all[] = {&curve->held_last, &curve->held_least,
                                      &curve->held_most};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (!all[i]->is_held)
            continue;
        all[i]->is_held = false;
        return &all[i]->point;
    }
    return NULL;
}
