/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A short name of a schedule with the options that matter to its method. Two
 * schedules with the same label behave the same way, and `smtune whatif` relies
 * on that.
 */
#include "cli/show/run/schedule_label.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"

static const struct {
    const char *method;
    struct schedule_concerns by;
} methods[] = {
    {"asha", {.eta = true, .type = true}},
    {"hyperband", {.eta = true}},
    {"median", {.rule = true}},
    {"patient", {.patience = true}},
};

struct schedule_concerns schedule_concerns_of(const char *method)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (strcmp(method, methods[i].method) == 0)
            return methods[i].by;
    }
    return (struct schedule_concerns){0};
}

const char *schedule_type_word(enum schedule_type type)
{
    return type == SCHEDULE_PROMOTION ? "promotion" : "stopping";
}

void schedule_label(const struct schedule_options *options, char *label)
{
    struct schedule_concerns by = schedule_concerns_of(options->method);
    struct buf text = BUF_INIT;

    buf_add_string(&text, options->method);
    if (by.eta)
        buf_printf(&text, " eta %" PRIu64, options->eta);
    if (by.type)
        buf_printf(&text, " %s", schedule_type_word(options->type));
    if (by.rule)
        buf_printf(&text, " %s", options->rule);
    if (by.patience)
        buf_printf(&text, " %" PRIu64, options->patience);
    snprintf(label, SCHEDULE_LABEL_SIZE, "%s", buf_text(&text));
    buf_clear(&text);
}
