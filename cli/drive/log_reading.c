/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The output goes line by line through the same reader as that of a trial in a
 * run, so what is found here is what a run finds. The current line is kept
 * beside it: a value belongs to the line at whose end it appears.
 */
#include "cli/drive/log_reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/metrics/metrics.h"
#include "base/metrics/near.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/units.h"
#include "base/value.h"

enum { LINE_MAX_BYTES = 200 };

struct found {
    char *name;
    int64_t count;
    double first_step, last_step, last;
    int64_t line_number;
    bool is_counted; /* no line names the step */
    char *line;      /* the first */
};

struct log_reading {
    const struct experiment *experiment;
    struct metric_reader *reader;
    struct buf line;
    struct buf end; /* of what was read: for a metric that is missing */
    int64_t line_number;
    struct found *found;
    size_t count, capacity;
};

struct log_reading *log_reading_create(const struct experiment *experiment)
{
    struct log_reading *reading = mem_zero(sizeof(*reading));

    reading->experiment = experiment;
    reading->reader = metric_reader_create(experiment->task.metrics, 0);
    for (size_t i = 0; i < experiment->objective_count; i++)
        metric_reader_reserve(reading->reader,
                              experiment->objectives[i].metric);
    return reading;
}

void log_reading_destroy(struct log_reading *reading)
{
    if (reading == NULL)
        return;
    for (size_t i = 0; i < reading->count; i++) {
        free(reading->found[i].name);
        free(reading->found[i].line);
    }
    free(reading->found);
    buf_clear(&reading->line);
    buf_clear(&reading->end);
    metric_reader_destroy(reading->reader);
    free(reading);
}

static struct found *find(const struct log_reading *reading, const char *name)
{
    for (size_t i = 0; i < reading->count; i++)
        if (strcmp(reading->found[i].name, name) == 0)
            return &reading->found[i];
    return NULL;
}

/* The line that was just read, as a terminal shows it. */
static char *copy_line(const struct log_reading *reading)
{
    struct buf text = BUF_INIT;

    screen_line(buf_text(&reading->line), reading->line.length, &text);
    buf_truncate(&text, text_cut(text.data, text.length, LINE_MAX_BYTES));
    return buf_take(&text);
}

static void keep(void *user, const struct metric_point *point)
{
    struct log_reading *reading = user;
    struct found *found = find(reading, point->name);

    if (found == NULL) {
        reading->found = mem_grow(reading->found, reading->count,
                                  &reading->capacity, sizeof(*reading->found));
        found = &reading->found[reading->count++];
        *found = (struct found){.name = mem_copy_string(point->name),
                                .first_step = point->step,
                                .line_number = reading->line_number,
                                .is_counted = point->is_counted,
                                .line = copy_line(reading)};
    }
    found->count++;
    found->last_step = point->step;
    found->last = point->value;
}

/* The last METRIC_NEAR_BYTES, or up to twice as many. */
static void keep_end(struct log_reading *reading)
{
    struct buf *end = &reading->end;

    buf_add(end, buf_text(&reading->line), reading->line.length);
    buf_add_char(end, '\n');
    if (end->length > (size_t)2 * METRIC_NEAR_BYTES)
        buf_consume(end, end->length - METRIC_NEAR_BYTES);
}

static void end_line(struct log_reading *reading)
{
    reading->line_number++;
    keep_end(reading);
    metric_reader_feed(reading->reader, buf_text(&reading->line),
                       reading->line.length, keep, reading);
    metric_reader_feed(reading->reader, "\n", 1, keep, reading);
    buf_truncate(&reading->line, 0);
}

void log_reading_feed(struct log_reading *reading, const char *bytes,
                      size_t length)
{
    for (size_t at = 0; at < length;) {
        const char *end = memchr(bytes + at, '\n', length - at);
        size_t piece = end != NULL ? (size_t)(end - bytes) - at : length - at;

        buf_add(&reading->line, bytes + at, piece);
        at += piece;
        if (end == NULL)
            return;
        end_line(reading);
        at++;
    }
}

void log_reading_finish(struct log_reading *reading)
{
    if (reading->line.length > 0)
        end_line(reading);
    metric_reader_finish(reading->reader, true, keep, reading);
}

bool log_reading_is_complete(const struct log_reading *reading)
{
    const struct experiment *experiment = reading->experiment;

    for (size_t i = 0; i < experiment->objective_count; i++)
        if (find(reading, experiment->objectives[i].metric) == NULL)
            return false;
    return true;
}

/* ---- showing ---- */

static bool is_objective(const struct experiment *experiment, const char *name)
{
    for (size_t i = 0; i < experiment->objective_count; i++)
        if (strcmp(experiment->objectives[i].metric, name) == 0)
            return true;
    return false;
}

static void print_steps(const struct experiment *experiment,
                        const struct found *found)
{
    const char *unit =
        experiment->schedule.is_on ? experiment->schedule.resource : "steps";

    if (found->first_step == found->last_step)
        printf(", %s %.15g", unit, found->last_step);
    else
        printf(", %s %.15g to %.15g", unit, found->first_step,
               found->last_step);
    if (experiment->schedule.is_on && found->is_counted)
        printf(" (no line names them, so values count)");
}

static void print_found(const struct experiment *experiment,
                        const struct found *found)
{
    printf("%s%s: %" PRId64 " value%s", found->name,
           is_objective(experiment, found->name) ? " (objective)" : "",
           found->count, units_plural(found->count));
    print_steps(experiment, found);
    printf(", the last is %g\n    line %" PRId64 ": %s\n", found->last,
           found->line_number, found->line);
}

static void print_missing(const struct log_reading *reading)
{
    const struct experiment *experiment = reading->experiment;

    for (size_t i = 0; i < experiment->objective_count; i++) {
        const char *name = experiment->objectives[i].metric;

        if (find(reading, name) == NULL)
            printf("%s (objective): no value in %" PRId64 " line%s of output\n",
                   name, reading->line_number,
                   units_plural(reading->line_number));
    }
}

/* As a run reports it (orchestrator/engine/core/metric.c). */
static void print_several(const struct log_reading *reading)
{
    struct metric_several several;

    if (!metric_reader_several(reading->reader, &several))
        return;
    if (several.left_out > 0)
        printf("    several processes print %s: those of rank 0 count, %" PRId64
               " value%s of rank %" PRId64 " or another not\n",
               several.name, several.left_out, units_plural(several.left_out),
               several.other_rank);
    else
        printf("    two values of %s at step %g (%g, %g), as several processes "
               "print them: the last one counts\n",
               several.name, several.step, several.replaced, several.value);
}

void log_reading_print(const struct log_reading *reading)
{
    for (size_t i = 0; i < reading->count; i++)
        print_found(reading->experiment, &reading->found[i]);
    print_several(reading);
    print_missing(reading);
}

void log_reading_print_near(const struct log_reading *reading)
{
    const struct experiment *experiment = reading->experiment;

    for (size_t i = 0; i < experiment->objective_count; i++) {
        const char *name = experiment->objectives[i].metric;
        struct buf text = BUF_INIT;
        struct metric_near near;

        if (find(reading, name) != NULL ||
            !metric_near_find(name, buf_text(&reading->end),
                              reading->end.length, &near))
            continue;
        metric_near_print(&near, name, &text);
        printf("    %s\n", buf_text(&text));
        buf_clear(&text);
    }
}

json_t *log_reading_json(const struct log_reading *reading)
{
    json_t *list = json_array();

    for (size_t i = 0; i < reading->count; i++) {
        const struct found *found = &reading->found[i];

        json_array_append_new(
            list, json_pack("{sosbsIsosososIso}", "name",
                            json_from_text(found->name), "objective",
                            (int)is_objective(reading->experiment, found->name),
                            "values", (json_int_t)found->count, "first_step",
                            json_from_any_real(found->first_step), "last_step",
                            json_from_any_real(found->last_step), "last",
                            json_from_any_real(found->last), "line",
                            (json_int_t)found->line_number, "text",
                            json_from_text(found->line)));
    }
    return list;
}
