/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every command prints text from outside: names and notes of a store that
 * somebody else filled, a trial's last line, what Slurm answers. Most of it is
 * escaped where it is printed (text_escape), which is also right for a pipe.
 * This is the wall behind that: between stdio and a terminal.
 *
 * From the bytes it cannot tell a cursor movement of smtune's own from another,
 * so it lets only colours through, and what draws (cli/term/panel.c) goes past
 * it. A colour can be cut between two writes; what may be the first part of
 * one waits for the rest.
 */
#include "cli/term/guarded_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/fs.h"
#include "base/mem.h"
#include "cli/term/term.h"

struct guarded_file {
    int fd;
    struct buf rest; /* not shown yet: a colour or a character that may go on */
    bool is_coloured; /* the last colour was not the terminal's own */
};

static void note_colour(struct guarded_file *file, const struct buf *shown)
{
    const char *plain = term_style(STYLE_PLAIN, true);
    const char *last = memrchr(buf_text(shown), '\033', shown->length);

    if (last != NULL)
        file->is_coloured = strncmp(last, plain, strlen(plain)) != 0;
}

/* The descriptor may have become a file's (`export -o`, a run that goes to the
 * background), which has the bytes as they are. */
static int show(struct guarded_file *file, bool is_end)
{
    struct buf *rest = &file->rest, shown = BUF_INIT;
    size_t taken = rest->length;
    int status;

    if (isatty(file->fd)) {
        taken = escape_show(buf_text(rest), rest->length, is_end, &shown);
        note_colour(file, &shown);
        if (is_end && file->is_coloured)
            buf_add_string(&shown, term_style(STYLE_PLAIN, true));
    } else {
        buf_add(&shown, buf_text(rest), rest->length);
    }
    status = fs_write_all(file->fd, buf_text(&shown), shown.length);
    buf_consume(rest, taken);
    buf_clear(&shown);
    return status;
}

static ssize_t on_write(void *cookie, const char *bytes, size_t length)
{
    struct guarded_file *file = cookie;

    buf_add(&file->rest, bytes, length);
    return show(file, false) == 0 ? (ssize_t)length : 0;
}

static int on_close(void *cookie)
{
    struct guarded_file *file = cookie;
    int status = show(file, true);

    buf_clear(&file->rest);
    free(file);
    return status;
}

FILE *guarded_file_open(int fd)
{
    cookie_io_functions_t functions = {.write = on_write, .close = on_close};
    struct guarded_file *guarded = mem_zero(sizeof(*guarded));
    FILE *file;

    guarded->fd = fd;
    file = fopencookie(guarded, "w", functions);
    if (file == NULL)
        free(guarded);
    return file;
}

FILE *guarded_file_bypass(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *file = copy >= 0 ? fdopen(copy, "w") : NULL;

    if (file == NULL && copy >= 0)
        close(copy);
    return file;
}

/* ---- stdout and stderr ---- */

#ifdef __GLIBC__

/* What was there before, or NULL. */
static FILE *guard(FILE **stream, int fd, int buffering)
{
    FILE *before = *stream;
    FILE *file = isatty(fd) ? guarded_file_open(fd) : NULL;

    if (file == NULL)
        return NULL;
    setvbuf(file, NULL, buffering, 0);
    *stream = file;
    return before;
}

static void restore(FILE **stream, FILE *before)
{
    if (before == NULL)
        return;
    fclose(*stream);
    *stream = before;
}

void guarded_output_begin(struct guarded_output *output)
{
    output->out = guard(&stdout, STDOUT_FILENO, _IOLBF);
    output->err = guard(&stderr, STDERR_FILENO, _IONBF);
}

void guarded_output_end(struct guarded_output *output)
{
    restore(&stdout, output->out);
    restore(&stderr, output->err);
}

#else /* constants, so each printer escapes for itself */

void guarded_output_begin(struct guarded_output *output)
{
    *output = (struct guarded_output){NULL, NULL};
}

void guarded_output_end(struct guarded_output *output)
{
    (void)output;
}

#endif
