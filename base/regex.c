/* SPDX-License-Identifier: GPL-3.0-or-later */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "base/regex.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

enum {
    PATTERN_MAX_BYTES = 4096,
    DEPTH_LIMIT = 10000,
    HEAP_LIMIT_KIB = 1024,
    JIT_STACK_MIN_BYTES = 32 << 10,
    JIT_STACK_MAX_BYTES = 512 << 10,
    STEPS_A_LOOK = 1024 /* at the clock */
};

/* For each place where a match may begin, of which a text has more. */
static const uint32_t match_limits[] = {
    [REGEX_LINE] = 100000, [REGEX_SEARCH] = 5000, [REGEX_TEXT] = 20000};

struct regex {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack; /* NULL: without JIT */
    /* Of REGEX_SEARCH, in one line: */
    uint32_t steps;
    int64_t deadline_ms; /* of clock_thread_ms; 0: the clock was not needed */
};

static int no_memory(struct err *err)
{
    return err_set(err, ERR_FAILED, "no memory for a regular expression");
}

static pcre2_code *compile_text(const char *pattern, uint32_t options,
                                int *code, PCRE2_SIZE *offset)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    pcre2_code *compiled;

    if (context == NULL) {
        *code = PCRE2_ERROR_HEAP_FAILED;
        return NULL;
    }
    pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
    compiled = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                             options | PCRE2_MULTILINE, code, offset, context);
    pcre2_compile_context_free(context);
    return compiled;
}

static int compile(struct regex *regex, const char *pattern,
                   enum regex_scope scope, struct err *err)
{
    const uint32_t options = PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C |
                             (scope == REGEX_SEARCH ? PCRE2_AUTO_CALLOUT : 0);
    PCRE2_UCHAR message[256];
    PCRE2_SIZE offset;
    int code;

    if (strlen(pattern) > PATTERN_MAX_BYTES)
        return err_set(err, ERR_FILE,
                       "the regular expression is longer than %d bytes",
                       PATTERN_MAX_BYTES);
    regex->code =
        scope == REGEX_TEXT
            ? compile_text(pattern, options, &code, &offset)
            : pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options,
                            &code, &offset, NULL);
    if (regex->code != NULL)
        return 0;
    if (code == PCRE2_ERROR_HEAP_FAILED)
        return no_memory(err);
    pcre2_get_error_message(code, message, sizeof(message));
    err_set(err, ERR_FILE, "bad regular expression: %s", (char *)message);
    if (err != NULL)
        err->column = (int)offset + 1;
    return -1;
}

/* Before each item of the pattern that is tried. */
static int on_step(pcre2_callout_block *block, void *user)
{
    struct regex *regex = user;

    (void)block;
    if (++regex->steps % STEPS_A_LOOK != 0)
        return 0;
    if (regex->deadline_ms == 0)
        regex->deadline_ms = clock_thread_ms() + REGEX_SEARCH_MAX_MS;
    return clock_thread_ms() < regex->deadline_ms ? 0 : PCRE2_ERROR_CALLOUT;
}

struct regex *regex_create(const char *pattern, enum regex_scope scope,
                           struct err *err)
{
    struct regex *regex = mem_zero(sizeof(*regex));

    if (compile(regex, pattern, scope, err) < 0) {
        regex_destroy(regex);
        return NULL;
    }
    regex->data = pcre2_match_data_create_from_pattern(regex->code, NULL);
    regex->context = pcre2_match_context_create(NULL);
    if (regex->data == NULL || regex->context == NULL) {
        no_memory(err);
        regex_destroy(regex);
        return NULL;
    }
    pcre2_set_match_limit(regex->context, match_limits[scope]);
    pcre2_set_depth_limit(regex->context, DEPTH_LIMIT);
    pcre2_set_heap_limit(regex->context, HEAP_LIMIT_KIB);
    if (scope == REGEX_SEARCH)
        pcre2_set_callout(regex->context, on_step, regex);
    if (pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE) == 0)
        regex->stack = pcre2_jit_stack_create(JIT_STACK_MIN_BYTES,
                                              JIT_STACK_MAX_BYTES, NULL);
    if (regex->stack != NULL)
        pcre2_jit_stack_assign(regex->context, NULL, regex->stack);
    return regex;
}

void regex_destroy(struct regex *regex)
{
    if (regex == NULL)
        return;
    pcre2_jit_stack_free(regex->stack);
    pcre2_match_context_free(regex->context);
    pcre2_match_data_free(regex->data);
    pcre2_code_free(regex->code);
    free(regex);
}

uint32_t regex_group_count(const struct regex *regex)
{
    uint32_t count = 0;

    pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &count);
    return count;
}

uint32_t regex_named_group(const struct regex *regex, const char *name)
{
    int group = pcre2_substring_number_from_name(regex->code, (PCRE2_SPTR)name);

    return group > 0 ? (uint32_t)group : 0;
}

int regex_find(struct regex *regex, const char *text, size_t length)
{
    return regex_find_part(regex, text, length, true, true);
}

int regex_find_part(struct regex *regex, const char *text, size_t length,
                    bool has_beginning, bool has_end)
{
    uint32_t options =
        (has_beginning ? 0 : PCRE2_NOTBOL) | (has_end ? 0 : PCRE2_NOTEOL);
    int rc;

    if (has_beginning) {
        regex->steps = 0;
        regex->deadline_ms = 0;
    }
    rc = pcre2_match(regex->code, (PCRE2_SPTR)text, length, 0, options,
                     regex->data, regex->context);
    if (rc == PCRE2_ERROR_NOMATCH)
        return 0;
    return rc < 0 ? -1 : 1;
}

bool regex_group(const struct regex *regex, uint32_t group, size_t *start,
                 size_t *end)
{
    const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(regex->data);

    *start = offsets[2 * group];
    *end = offsets[2 * group + 1];
    return *start != PCRE2_UNSET && *end > *start;
}
