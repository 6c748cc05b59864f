/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mask.h"
#include "base/mem.h"
#include "base/text.h"

/*
 * A log belongs to the program that drives a run. It is no global: the program
 * creates it, the engine carries it, and executors get it with their options.
 * Where there is no log the pointer is NULL, so that LOG() costs one comparison
 * and evaluates none of its arguments.
 *
 * Each line is one write() to a file opened with O_APPEND, so that a run, its
 * child runs and the engines after it can share a file: their lines do not mix.
 * There is no buffer, so nothing is lost where the engine is killed.
 *
 * A line is made in three steps, in this order: the message is formatted, its
 * secrets are masked, its control bytes are escaped. Nothing is written that
 * has not passed all three.
 *
 * The log never fails. What cannot be written is counted; the owner hears of it
 * once, and the next line that can be written is preceded by the count. It
 * never waits either: the descriptor of a file does not block.
 *
 * It is used by one thread, the one that runs the loop.
 */

enum { LINE_MAX_BYTES = 16 << 10, EXCERPT_MARGIN = 1024 };

const char *const log_level_names[] = {"off",  "error", "warning",
                                       "info", "debug", NULL};

static const char *const part_names[] = {
#define X(symbol, word) word,
    LOG_PARTS(X)
#undef X
};

struct log_sink {
    char *run, *path; /* path NULL: standard error */
    int fd;           /* -1: it could not be opened */
    int error;        /* errno of that */
    int64_t lost;     /* lines, since the last that was written */
    bool is_cut;      /* of the last line, a part was written */
    bool has_told;
    log_trouble_fn *trouble;
    void *user;
    struct mask *mask;
};

/* -- What is logged -------------------------------------------------------*/

static int find_word(const char *const *words, size_t count, const char *what,
                     const char *word, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], word) == 0)
            return (int)i;
    }
    text_unknown(what, word, words, count, ERR_USAGE, err);
    return -1;
}

/* One element of the list, "LEVEL" or "PART=LEVEL"; changes it. */
static int take_element(char *element, struct log_setup *setup, struct err *err)
{
    char *sign = strchr(element, '=');
    int part = -1, level;

    if (sign != NULL) {
        *sign = '\0';
        part = find_word(part_names, LOG_PART_COUNT, "subsystem", element, err);
        if (part < 0)
            return -1;
        element = sign + 1;
    }
    level = find_word(log_level_names, LOG_DEBUG + 1, "level", element, err);
    if (level < 0)
        return -1;
    for (int i = 0; i < LOG_PART_COUNT; i++) {
        if (part < 0 || part == i)
            setup->levels[i] = (unsigned char)level;
    }
    return 0;
}

int log_setup_parse(const char *text, struct log_setup *setup, struct err *err)
{
    size_t length = strcspn(text, ":");
    char *list = mem_copy_bytes(text, length), *rest = list, *element;
    int result = 0;

    *setup = (struct log_setup){.path = NULL};
    while (result == 0 && (element = strsep(&rest, ",")) != NULL)
        result = take_element(element, setup, err);
    if (result == 0 && text[length] == ':' && text[length + 1] != '\0')
        setup->path = text + length + 1;
    if (result != 0) {
        *setup = (struct log_setup){.path = NULL};
        err_prefix(err, "SMTUNE_LOG");
    }
    free(list);
    return result;
}

void log_setup_set(struct log_setup *setup, const char *name)
{
    int level = find_word(log_level_names, LOG_DEBUG + 1, "level", name, NULL);

    for (int i = 0; i < LOG_PART_COUNT; i++)
        setup->levels[i] = (unsigned char)(level > 0 ? level : LOG_OFF);
}

bool log_setup_is_on(const struct log_setup *setup)
{
    for (int i = 0; i < LOG_PART_COUNT; i++) {
        if (setup->levels[i] > LOG_OFF)
            return true;
    }
    return false;
}

/* -- Where lines go -------------------------------------------------------*/

static void tell_trouble(struct log_sink *sink, int error)
{
    struct err err;

    if (sink->has_told)
        return;
    sink->has_told = true;
    err_set_errno(&err, ERR_FAILED, error, "cannot write the log %s",
                  sink->path != NULL ? sink->path : "to standard error");
    sink->trouble(sink->user, err.text);
}

static bool write_line(struct log_sink *sink, const struct buf *line)
{
    ssize_t written = -1;
    int error = sink->error;

    if (sink->fd >= 0) {
        do {
            written = write(sink->fd, line->data, line->length);
        } while (written < 0 && errno == EINTR);
        error = written < 0 ? errno : ENOSPC;
    }
    if (written == (ssize_t)line->length) {
        sink->is_cut = false;
        return true;
    }
    sink->is_cut |= written > 0;
    tell_trouble(sink, error);
    return false;
}

static void begin_line(const struct log_sink *sink, enum log_part part,
                       enum log_level level, int64_t job, struct buf *line)
{
    char time[32];

    clock_format_iso(clock_wall_ms(), time, sizeof(time));
    if (sink->is_cut)
        buf_add_char(line, '\n');
    buf_printf(line, "%s %s %s run=%s ", time, log_level_names[level],
               part_names[part], sink->run);
    if (job > 0)
        buf_printf(line, "job=%" PRId64 " ", job);
    else
        buf_add_string(line, "job=- ");
}

/* False where it cannot be written either. */
static bool write_lost(struct log_sink *sink)
{
    struct buf line = BUF_INIT;
    bool is_written;

    if (sink->lost == 0)
        return true;
    begin_line(sink, LOG_ENGINE, LOG_WARNING, 0, &line);
    buf_printf(&line, "lost lines that could not be written: %" PRId64 "\n",
               sink->lost);
    is_written = write_line(sink, &line);
    if (is_written)
        sink->lost = 0;
    buf_clear(&line);
    return is_written;
}

/* Newlines are shown as \n, other control bytes as \xHH. */
static void add_escaped(const char *text, struct buf *out)
{
    for (;;) {
        size_t length = strcspn(text, "\n");

        text_escape(text, length, out);
        text += length;
        if (*text == '\0')
            return;
        buf_add_string(out, "\\n");
        text++;
    }
}

void log_print(struct log *log, enum log_part part, enum log_level level,
               int64_t job, const char *format, ...)
{
    struct log_sink *sink = log->sink;
    struct buf line = BUF_INIT, message = BUF_INIT;
    bool is_written;
    va_list args;
    char *text;

    va_start(args, format);
    text = mem_vprintf(format, args);
    va_end(args);
    mask_add(sink->mask, text, strlen(text), &message);
    if (message.length > LINE_MAX_BYTES)
        buf_truncate(&message, LINE_MAX_BYTES);
    is_written = write_lost(sink);
    begin_line(sink, part, level, job, &line);
    add_escaped(buf_text(&message), &line);
    buf_add_char(&line, '\n');
    if (!is_written || !write_line(sink, &line))
        sink->lost++;
    buf_clear(&message);
    buf_clear(&line);
    free(text);
}

void log_add_excerpt(const struct log *log, const char *text, size_t length,
                     size_t max, struct buf *out)
{
    struct buf shown = BUF_INIT;
    size_t taken = length;

    if (taken > max + EXCERPT_MARGIN)
        taken = max + EXCERPT_MARGIN;
    mask_add(log->sink->mask, text, taken, &shown);
    if (shown.length > max)
        buf_truncate(&shown, max);
    buf_add(out, buf_text(&shown), shown.length);
    buf_clear(&shown);
}

/* -- Its life -------------------------------------------------------------*/

void log_hide(struct log *log, const char *name, const char *value)
{
    if (log != NULL)
        mask_hide(log->sink->mask, name, value);
}

static void open_file(struct log_sink *sink, const char *path)
{
    sink->path = mem_copy_string(path);
    sink->fd = open(
        path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
        0600);
    if (sink->fd >= 0)
        return;
    sink->error = errno;
    tell_trouble(sink, errno);
}

struct log *log_create(const struct log_setup *setup,
                       const struct log_owner *owner)
{
    struct log *log;
    struct log_sink *sink;

    if (!log_setup_is_on(setup))
        return NULL;
    log = mem_zero(sizeof(*log));
    sink = log->sink = mem_zero(sizeof(*sink));
    memcpy(log->levels, setup->levels, sizeof(log->levels));
    sink->run = mem_copy_string(owner->run);
    sink->trouble = owner->trouble;
    sink->user = owner->user;
    sink->mask = mask_create();
    mask_hide_environment(sink->mask, environ);
    if (setup->path != NULL)
        open_file(sink, setup->path);
    else
        sink->fd = STDERR_FILENO;
    return log;
}

void log_destroy(struct log *log)
{
    if (log == NULL)
        return;
    if (log->sink->path != NULL && log->sink->fd >= 0)
        close(log->sink->fd);
    mask_destroy(log->sink->mask);
    free(log->sink->path);
    free(log->sink->run);
    free(log->sink);
    free(log);
}
