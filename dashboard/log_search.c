/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A log is read in blocks, and each block's complete lines are searched at
 * once: memmem over a block is several times as fast as over each line. Only a
 * line with a match is looked at by itself. Two kinds of blocks are searched
 * line by line: all where the pattern is a regular expression, which would
 * match across lines, and those with escape sequences, which may stand within a
 * match.
 *
 * What remains behind the last line end of a block stays for the next block. A
 * line that becomes longer than LOG_LINE_MAX_BYTES is searched in parts, which
 * share bytes, so that a text on the border of two is found. A hole in the file
 * is zero bytes, which nothing matches, and is skipped.
 *
 * The place that a search leaves is the beginning of a line, or lies within a
 * long one. The line number is always known, because every search begins at a
 * place that an earlier one left, or at the first line.
 */
#include "dashboard/log_search.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"

enum {
    BLOCK_BYTES = 256 << 10,
    SHARED_BYTES = LOG_PATTERN_MAX_BYTES, /* of two parts of a line */
    HOLE_MIN_BYTES = 64 << 10
};

enum step { GO_ON, AT_END, STOPPED, FAILED };

struct scan {
    struct log_search *search;
    struct log_place *place; /* of the block's first byte */
    int fd;
    int64_t end; /* of what is searched */
    struct buf block, folded, bare;
};

static bool is_late(const struct log_search *search)
{
    return clock_monotonic_ms() >= search->deadline_ms;
}

bool log_search_is_over(const struct log_search *search)
{
    return search->bytes_left <= 0 || is_late(search);
}

/* ---- lines ---- */

/* A line of the block, and where in its text the pattern is. */
struct found {
    size_t begin, end; /* of the line, without its newline */
    struct log_line line;
};

static int64_t count_newlines(const char *bytes, size_t length)
{
    const char *at = bytes, *end = bytes + length;
    int64_t count = 0;

    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        count++;
        at++;
    }
    return count;
}

/* Looks for the pattern in one line, without its escape sequences. */
static bool match_line(struct scan *scan, const char *bytes, size_t length,
                       struct log_line *line)
{
    int found;

    if (length > 0 && bytes[length - 1] == '\r')
        length--;
    line->text = bytes;
    line->length = length;
    if (escape_is_in(bytes, length)) {
        buf_truncate(&scan->bare, 0);
        escape_strip(bytes, length, &scan->bare);
        line->text = buf_text(&scan->bare);
        line->length = scan->bare.length;
    }
    found = log_pattern_find(scan->search->pattern, line->text, line->length,
                             &line->match);
    if (found < 0)
        scan->search->undecided++;
    return found > 0;
}

static size_t line_end(const char *bytes, size_t from, size_t length)
{
    const char *newline = memchr(bytes + from, '\n', length - from);

    return newline != NULL ? (size_t)(newline - bytes) : length;
}

/* The next line with a match, of those from `from` on. Where time is over,
 * found->begin is where it came to. */
static bool find_by_line(struct scan *scan, size_t from, size_t length,
                         struct found *found)
{
    const char *bytes = scan->block.data;

    while (from < length) {
        found->begin = from;
        found->end = line_end(bytes, from, length);
        if (match_line(scan, bytes + from, found->end - from, &found->line))
            return true;
        from = found->end + 1;
        if (is_late(scan->search))
            break;
    }
    found->begin = from;
    return false;
}

static bool find_in_block(const struct scan *scan, const char *folded,
                          size_t from, size_t length, struct found *found)
{
    const char *bytes = scan->block.data, *newline;
    struct log_match match;

    found->begin = length;
    if (!log_pattern_find_text(scan->search->pattern, folded + from,
                               length - from, &match))
        return false;
    newline = memrchr(bytes + from, '\n', match.start);
    found->begin = newline != NULL ? (size_t)(newline + 1 - bytes) : from;
    found->end = line_end(bytes, from + match.end, length);
    found->line.text = bytes + found->begin;
    found->line.length = found->end - found->begin;
    if (bytes[found->end - 1] == '\r')
        found->line.length--;
    match.start += from - found->begin;
    match.end += from - found->begin;
    found->line.match = match;
    return true;
}

/* Whether no more are wanted. */
static bool report(const struct scan *scan, struct log_line *line)
{
    const struct log_search *search = scan->search;

    line->line = scan->place->line;
    line->byte = scan->place->line_byte;
    scan->place->is_found = true;
    if (line->byte < search->from)
        return false;
    return search->found(search->user, line) != 0;
}

/* The place of a line's beginning, `begin` bytes into the block. */
static void set_place(struct scan *scan, int64_t first_byte, size_t begin)
{
    scan->place->byte = scan->place->line_byte = first_byte + (int64_t)begin;
    scan->place->is_found = false;
}

/* Searches the block's first `length` bytes, which end with a newline, and
 * drops those that are done: all, unless it is stopped. */
static enum step search_lines(struct scan *scan, size_t length)
{
    const char *bytes = scan->block.data, *folded = NULL;
    int64_t first_byte = scan->place->byte;
    size_t at = 0;
    bool is_stopped = false;

    if (!log_pattern_is_regex(scan->search->pattern) &&
        !escape_is_in(bytes, length))
        folded = log_pattern_fold(scan->search->pattern, bytes, length,
                                  &scan->folded);
    if (scan->place->is_found) {
        at = line_end(bytes, 0, length) + 1;
        scan->place->line++;
        set_place(scan, first_byte, at);
    }
    while (at < length && !is_stopped) {
        struct found found = {0};
        bool is_found = folded != NULL
                            ? find_in_block(scan, folded, at, length, &found)
                            : find_by_line(scan, at, length, &found);

        scan->place->line += count_newlines(bytes + at, found.begin - at);
        if (found.begin > at)
            set_place(scan, first_byte, found.begin);
        at = found.begin;
        if (!is_found)
            break;
        is_stopped = report(scan, &found.line) ||
                     (folded == NULL && is_late(scan->search));
        at = found.end + 1;
        scan->place->line++;
        set_place(scan, first_byte, at);
    }
    buf_consume(&scan->block, at);
    return is_stopped || at < length ? STOPPED : GO_ON;
}

/* Searches all of the block, a part of a line or the last one, which has no
 * end, and drops it but for `shared` bytes. */
static enum step search_part(struct scan *scan, size_t shared)
{
    struct log_line line = {0};
    bool is_stopped = false;
    size_t done;

    if (!scan->place->is_found && scan->block.length > 0 &&
        match_line(scan, scan->block.data, scan->block.length, &line))
        is_stopped = report(scan, &line);
    if (scan->place->is_found || shared > scan->block.length)
        shared = 0;
    done = scan->block.length - shared;
    scan->place->byte += (int64_t)done;
    buf_consume(&scan->block, done);
    return is_stopped ? STOPPED : GO_ON;
}

/* ---- blocks ---- */

static int64_t block_end(const struct scan *scan)
{
    return scan->place->byte + (int64_t)scan->block.length;
}

/* Where the file has bytes next; where it cannot say, here. */
static int64_t next_data(const struct scan *scan, int64_t at)
{
    off_t data = lseek(scan->fd, (off_t)at, SEEK_DATA);

    if (data < 0)
        return errno == ENXIO ? scan->end : at;
    return data < scan->end ? (int64_t)data : scan->end;
}

/* A hole belongs to the line that it is in. */
static enum step skip_hole(struct scan *scan)
{
    int64_t at = block_end(scan), data = next_data(scan, at);
    enum step step;

    if (data - at < HOLE_MIN_BYTES)
        return GO_ON;
    step = search_part(scan, 0);
    if (step == GO_ON)
        scan->place->byte = data;
    return step;
}

/* One more block behind what is there. */
static enum step read_block(struct scan *scan, struct err *err)
{
    int64_t at = block_end(scan);
    size_t length = scan->end - at < BLOCK_BYTES ? (size_t)(scan->end - at)
                                                 : (size_t)BLOCK_BYTES;
    ssize_t got;

    do
        got = pread(scan->fd, buf_reserve(&scan->block, length), length,
                    (off_t)at);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        err_set_errno(err, ERR_FAILED, errno, "cannot read a log");
        return FAILED;
    }
    scan->block.length += (size_t)got;
    scan->block.data[scan->block.length] = '\0';
    scan->search->bytes_left -= got;
    return got == 0 ? AT_END : GO_ON; /* it has become shorter */
}

static enum step search_block(struct scan *scan)
{
    const char *newline =
        memrchr(buf_text(&scan->block), '\n', scan->block.length);
    enum step step;

    if (newline != NULL)
        step = search_lines(scan, (size_t)(newline + 1 - scan->block.data));
    else if (scan->block.length < LOG_LINE_MAX_BYTES)
        return GO_ON;
    else
        step = search_part(scan, SHARED_BYTES);
    if (step == GO_ON && log_search_is_over(scan->search))
        step = STOPPED;
    return step;
}

static enum step go_on(struct scan *scan, struct err *err)
{
    enum step step = skip_hole(scan);

    if (step == GO_ON && block_end(scan) < scan->end)
        step = read_block(scan, err);
    else if (step == GO_ON)
        step = AT_END;
    if (step == GO_ON)
        return search_block(scan);
    /* The last line may have no end. */
    if (step == AT_END && search_part(scan, 0) == STOPPED)
        step = STOPPED;
    return step;
}

int log_search_file(struct log_search *search, int fd, struct log_place *place,
                    struct err *err)
{
    struct scan scan = {.search = search, .place = place, .fd = fd};
    enum step step = GO_ON;
    struct stat status;

    if (fstat(fd, &status) != 0)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot read the size of a log");
    scan.end = status.st_size;
    if (search->until > 0 && search->until < scan.end)
        scan.end = search->until;
    if (place->byte >= scan.end)
        return 1;
    while (step == GO_ON)
        step = go_on(&scan, err);
    buf_clear(&scan.block);
    buf_clear(&scan.folded);
    buf_clear(&scan.bare);
    return step == FAILED ? -1 : step == AT_END ? 1 : 0;
}
