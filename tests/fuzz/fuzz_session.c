/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/diag.h"
#include "base/json.h"
#include "orchestrator/ask_tell/ask_tell.h"
#include "orchestrator/spec/experiment/experiment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Requests from another program, line by line: each is answered with one line,
 * which is a JSON object. A digit in front chooses a schedule.
 */

static const char *const schedules[] = {
    "none",
    "{method: asha, max: 9, type: promotion}",
    "{method: asha, max: 9, type: stopping, metric: b}",
    "{method: hyperband, max: 9}",
    "{method: median, min_trials: 2}",
    "{method: patient, patience: 2}",
    "{method: pbt, max: 4, population: 4}",
};

static const char file[] =
    "version: 1\n"
    "objective: [{metric: a}, {metric: b, goal: maximize}]\n"
    "outcomes: [{metric: c, max: 1}]\n"
    "parameters:\n"
    "  x: {type: float, min: 0, max: 1}\n"
    "  k: {type: categorical, values: [u, v]}\n"
    "  y: {type: int, min: 1, max: 9, when: \"k = 'v'\"}\n"
    "search: {method: random, duplicates: reuse}\n"
    "trial: {command: 'true', checkpoints: true}\n";

static struct experiment *parse(const char *schedule)
{
    struct diags *diags = diags_create("fuzz.yaml");
    struct buf text = BUF_INIT;
    struct experiment *experiment;

    buf_printf(&text, "%sschedule: %s\n", file, schedule);
    experiment = experiment_parse(
        &(struct experiment_source){
            .text = text.data, .length = text.length, .path = ""},
        diags, NULL);
    buf_clear(&text);
    diags_destroy(diags);
    assert(experiment != NULL);
    return experiment;
}

static void check_answer(const struct buf *out)
{
    json_t *answer;

    assert(out->length > 0 && out->data[out->length - 1] == '\n');
    assert(memchr(out->data, '\n', out->length - 1) == NULL);
    if (out->length > ASK_TELL_MAX_LINE)
        return; /* more trials than json_parse takes */
    answer = json_parse(out->data, out->length, NULL);
    assert(json_is_object(answer));
    json_decref(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *line = (const char *)data, *end = line + size;
    size_t chosen = 0;
    struct experiment *experiment;
    struct ask_tell *ask_tell;

    if (size > 0 && *line >= '1' && *line < '0' + (int)ARRAY_LEN(schedules))
        chosen = (size_t)(*line++ - '0');
    experiment = parse(schedules[chosen]);
    ask_tell = ask_tell_create(experiment, NULL, NULL);
    assert(ask_tell != NULL);
    while (line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((newline != NULL ? newline : end) - line);
        struct buf out = BUF_INIT;

        ask_tell_answer(ask_tell, 1, line, length, &out);
        check_answer(&out);
        buf_clear(&out);
        line += length + 1;
    }
    ask_tell_destroy(ask_tell);
    experiment_destroy(experiment);
    return 0;
}
