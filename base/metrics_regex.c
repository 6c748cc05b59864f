/* SPDX-License-Identifier: GPL-3.0-or-later */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "base/metrics_regex.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/metrics_scan.h"

enum {
    PATTERN_MAX_BYTES = 4096,
    MATCH_LIMIT = 100000,
    DEPTH_LIMIT = 10000,
    HEAP_LIMIT_KIB = 1024,
    JIT_STACK_MIN_BYTES = 32 << 10,
    JIT_STACK_MAX_BYTES = 512 << 10
};

struct metric_regex {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack; /* NULL: without JIT */
    uint32_t value_group;
    uint32_t step_group; /* 0: none */
};

static int compile(struct metric_regex *regex, const char *pattern,
                   struct err *err)
{
    const uint32_t options = PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C;
    PCRE2_UCHAR message[256];
    PCRE2_SIZE offset;
    int code;

    if (strlen(pattern) > PATTERN_MAX_BYTES)
        return err_set(err, ERR_FILE,
                       "a regular expression of more than %d "
                       "bytes",
                       PATTERN_MAX_BYTES);
    regex->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                                options, &code, &offset, NULL);
    if (regex->code != NULL)
        return 0;
    pcre2_get_error_message(code, message, sizeof(message));
    err_set(err, ERR_FILE, "bad regular expression: %s", (char *)message);
    if (err != NULL)
        err->column = (int)offset + 1;
    return -1;
}

/* 0 where no group has that name. */
static uint32_t named_group(const pcre2_code *code, const char *name)
{
    int group = pcre2_substring_number_from_name(code, (PCRE2_SPTR)name);

    return group > 0 ? (uint32_t)group : 0;
}

static int find_groups(struct metric_regex *regex, struct err *err)
{
    uint32_t count = 0;

    pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &count);
    regex->step_group = named_group(regex->code, "step");
    regex->value_group = named_group(regex->code, "value");
    if (regex->value_group == 0)
        regex->value_group = regex->step_group == 1 ? 2 : 1;
    if (regex->value_group <= count)
        return 0;
    err_set(err, ERR_FILE,
            "no group in the regular expression: put ( ) "
            "around the number");
    if (err != NULL)
        err->column = 1;
    return -1;
}

struct metric_regex *metric_regex_create(const char *pattern, struct err *err)
{
    struct metric_regex *regex = mem_zero(sizeof(*regex));

    if (compile(regex, pattern, err) < 0 || find_groups(regex, err) < 0) {
        metric_regex_destroy(regex);
        return NULL;
    }
    regex->data = pcre2_match_data_create_from_pattern(regex->code, NULL);
    regex->context = pcre2_match_context_create(NULL);
    if (regex->data == NULL || regex->context == NULL) {
        err_set(err, ERR_FAILED, "no memory for a regular expression");
        metric_regex_destroy(regex);
        return NULL;
    }
    pcre2_set_match_limit(regex->context, MATCH_LIMIT);
    pcre2_set_depth_limit(regex->context, DEPTH_LIMIT);
    pcre2_set_heap_limit(regex->context, HEAP_LIMIT_KIB);
    if (pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE) == 0)
        regex->stack = pcre2_jit_stack_create(JIT_STACK_MIN_BYTES,
                                              JIT_STACK_MAX_BYTES, NULL);
    if (regex->stack != NULL)
        pcre2_jit_stack_assign(regex->context, NULL, regex->stack);
    return regex;
}

void metric_regex_destroy(struct metric_regex *regex)
{
    if (regex == NULL)
        return;
    pcre2_jit_stack_free(regex->stack);
    pcre2_match_context_free(regex->context);
    pcre2_match_data_free(regex->data);
    pcre2_code_free(regex->code);
    free(regex);
}

/* Whether the group took part and is a number as a whole. */
static bool group_number(const struct metric_regex *regex, const char *line,
                         uint32_t group, double *value)
{
    const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(regex->data);
    PCRE2_SIZE start = offsets[2 * group], end = offsets[2 * group + 1];

    if (start == PCRE2_UNSET || end <= start)
        return false;
    return metric_scan_number(line + start, line + end, value) == end - start;
}

int metric_regex_match(struct metric_regex *regex, const char *line,
                       size_t length, struct metric_match *match)
{
    int rc = pcre2_match(regex->code, (PCRE2_SPTR)line, length, 0, 0,
                         regex->data, regex->context);

    if (rc == PCRE2_ERROR_NOMATCH)
        return 0;
    if (rc < 0)
        return -1;
    if (!group_number(regex, line, regex->value_group, &match->value))
        return 0;
    match->has_step = regex->step_group != 0;
    if (match->has_step &&
        !group_number(regex, line, regex->step_group, &match->step))
        match->step = -1;
    return 1;
}
