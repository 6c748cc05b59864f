/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/log_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/regex.h"

/* A piece begins before the one before it ends. */
enum { PIECE_BYTES = 1024, SHARED_BYTES = 128 };

struct log_pattern {
    char *text; /* in small letters where case does not count */
    size_t length;
    bool ignores_case;
    struct regex *regex; /* NULL: it is a text */
    struct buf folded;   /* of a line */
};

static char fold_letter(char letter)
{
    unsigned int place = (unsigned char)letter - (unsigned int)'A';

    return (char)(letter + (place < 26 ? 'a' - 'A' : 0));
}

static int compile(struct log_pattern *pattern, struct err *err)
{
    char *text =
        mem_printf("%s%s", pattern->ignores_case ? "(?i)" : "", pattern->text);

    pattern->regex = regex_create(text, REGEX_SEARCH, err);
    free(text);
    if (pattern->regex != NULL)
        return 0;
    /* It is no file's. */
    if (err->kind == ERR_FILE)
        err->kind = ERR_USAGE;
    err->column = 0;
    return -1;
}

struct log_pattern *log_pattern_create(
    const char *text, const struct log_pattern_options *options,
    struct err *err)
{
    struct log_pattern *pattern;
    size_t length = strlen(text);

    if (length == 0 || length > LOG_PATTERN_MAX_BYTES) {
        err_set(err, ERR_USAGE,
                "the text to search for has %zu bytes; out of range 1..%d",
                length, LOG_PATTERN_MAX_BYTES);
        return NULL;
    }
    pattern = mem_zero(sizeof(*pattern));
    pattern->text = mem_copy_string(text);
    pattern->length = length;
    pattern->ignores_case = options->ignores_case;
    if (options->is_regex) {
        if (compile(pattern, err) == 0)
            return pattern;
        log_pattern_destroy(pattern);
        return NULL;
    }
    for (size_t i = 0; pattern->ignores_case && i < length; i++)
        pattern->text[i] = fold_letter(text[i]);
    return pattern;
}

void log_pattern_destroy(struct log_pattern *pattern)
{
    if (pattern == NULL)
        return;
    regex_destroy(pattern->regex);
    buf_clear(&pattern->folded);
    free(pattern->text);
    free(pattern);
}

bool log_pattern_is_regex(const struct log_pattern *pattern)
{
    return pattern->regex != NULL;
}

const char *log_pattern_fold(const struct log_pattern *pattern,
                             const char *bytes, size_t length,
                             struct buf *folded)
{
    char *to;

    if (!pattern->ignores_case)
        return bytes;
    buf_truncate(folded, 0);
    to = buf_reserve(folded, length);
    for (size_t i = 0; i < length; i++)
        to[i] = fold_letter(bytes[i]);
    folded->length = length;
    return to;
}

bool log_pattern_find_text(const struct log_pattern *pattern,
                           const char *folded, size_t length,
                           struct log_match *match)
{
    const char *at = memmem(folded, length, pattern->text, pattern->length);

    if (at == NULL)
        return false;
    match->start = (size_t)(at - folded);
    match->end = match->start + pattern->length;
    return true;
}

static int find_regex(const struct log_pattern *pattern, const char *line,
                      size_t length, struct log_match *match)
{
    size_t from = 0;

    for (;;) {
        size_t piece =
            length - from < PIECE_BYTES ? length - from : (size_t)PIECE_BYTES;
        bool is_last = from + piece == length;
        int found = regex_find_part(pattern->regex, line + from, piece,
                                    from == 0, is_last);

        if (found < 0)
            return -1;
        if (found > 0) {
            regex_group(pattern->regex, 0, &match->start, &match->end);
            if (match->end < match->start) /* by \K */
                match->end = match->start;
            match->start += from;
            match->end += from;
            return 1;
        }
        if (is_last)
            return 0;
        from += PIECE_BYTES - SHARED_BYTES;
    }
}

int log_pattern_find(struct log_pattern *pattern, const char *line,
                     size_t length, struct log_match *match)
{
    if (pattern->regex != NULL)
        return find_regex(pattern, line, length, match);
    return log_pattern_find_text(
        pattern, log_pattern_fold(pattern, line, length, &pattern->folded),
        length, match);
}
