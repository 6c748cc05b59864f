/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/talk/trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"

static const char *const methods[] = {
    [FETCH_GET] = "GET",
    [FETCH_POST] = "POST",
    [FETCH_DELETE] = "DELETE",
};

static void begin(struct slurm_trace *trace, int64_t number)
{
    trace->number = number;
    trace->asked_ms = clock_monotonic_ms();
}

static int64_t took_ms(const struct slurm_trace *trace)
{
    return clock_monotonic_ms() - trace->asked_ms;
}

/* "NAME='TEXT' (cut, 9000 bytes)"; nothing of an empty text. */
static void add_answer(const struct log *log, const char *name,
                       const char *text, size_t length, struct buf *out)
{
    if (length == 0)
        return;
    buf_printf(out, " %s='", name);
    log_add_excerpt(log, text, length, SLURM_TRACE_BYTES, out);
    buf_add_char(out, '\'');
    if (length > SLURM_TRACE_BYTES)
        buf_printf(out, " (cut, %zu bytes)", length);
}

void slurm_trace_command(struct log *log, struct slurm_trace *trace,
                         int64_t number, char *const *words)
{
    struct buf text = BUF_INIT;

    begin(trace, number);
    if (!log_has(log, LOG_SLURM, LOG_DEBUG))
        return;
    for (; *words != NULL; words++)
        buf_printf(&text, strpbrk(*words, " '\"") != NULL ? " '%s'" : " %s",
                   *words);
    LOG(log, LOG_SLURM, LOG_DEBUG, 0, "call=%" PRId64 " run%s", number,
        buf_text(&text));
    buf_clear(&text);
}

void slurm_trace_result(struct log *log, const struct slurm_trace *trace,
                        const struct command_result *result)
{
    struct buf text = BUF_INIT;

    if (!log_has(log, LOG_SLURM, LOG_DEBUG))
        return;
    add_answer(log, "answer", result->output, result->output_length, &text);
    add_answer(log, "errors", result->errors, strlen(result->errors), &text);
    LOG(log, LOG_SLURM, LOG_DEBUG, 0,
        "call=%" PRId64 " ended exit=%d%s took_ms=%" PRId64 "%s", trace->number,
        result->exit_code, result->is_late ? " (timeout)" : "", took_ms(trace),
        buf_text(&text));
    buf_clear(&text);
}

void slurm_trace_request(struct log *log, struct slurm_trace *trace,
                         int64_t number, enum fetch_method method,
                         const char *url)
{
    begin(trace, number);
    LOG(log, LOG_SLURM, LOG_DEBUG, 0, "call=%" PRId64 " request %s %s", number,
        methods[method], url);
}

void slurm_trace_answer(struct log *log, const struct slurm_trace *trace,
                        const struct fetch_answer *answer)
{
    struct buf text = BUF_INIT;

    if (!log_has(log, LOG_SLURM, LOG_DEBUG))
        return;
    add_answer(log, "answer", answer->body, answer->body_bytes, &text);
    if (answer->status == 0)
        buf_printf(&text, " error='%s'", answer->text);
    LOG(log, LOG_SLURM, LOG_DEBUG, 0,
        "call=%" PRId64 " ended http=%d took_ms=%" PRId64 "%s", trace->number,
        answer->status, took_ms(trace), buf_text(&text));
    buf_clear(&text);
}

void slurm_trace_failure(struct log *log, const struct slurm_trace *trace,
                         const char *text)
{
    LOG(log, LOG_SLURM, LOG_DEBUG, 0, "call=%" PRId64 " could not start: %s",
        trace->number, text);
}
