/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/job_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

/* Takes "[3]" or "#2" off the end of text[*length]: where there is none, number
 * stays as it is. -1 where what stands there is no number. */
static int take_number(const char *text, size_t *length, const char *open,
                       int64_t least, int64_t *number)
{
    size_t end = *length, start = end;
    char *digits_end;

    while (start > 0 && text[start - 1] != '[' && text[start - 1] != '#')
        start--;
    if (start == 0 || text[start - 1] != open[0])
        return 0;
    if (open[1] != '\0' && text[--end] != open[1])
        return -1;
    if (text[start] < '0' || text[start] > '9')
        return -1;
    errno = 0;
    *number = strtoll(text + start, &digits_end, 10);
    if (errno != 0 || digits_end != text + end || *number < least)
        return -1;
    *length = start - 1;
    return 0;
}

static int no_name(const char *operand, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "'%s': expected the number or the name of a job (STEP, "
                   "STEP[3], STEP#2 or STEP[3]#2)",
                   operand);
}

/* Of digits. */
static int parse_number(const char *operand, struct job_name *name,
                        struct err *err)
{
    errno = 0;
    name->number = strtoll(operand, NULL, 10);
    if (errno != 0 || name->number < 1)
        return no_name(operand, err);
    return 0;
}

int job_name_parse(const char *operand, struct job_name *name, struct err *err)
{
    size_t length = strlen(operand);
    char *step;
    bool is_name;

    *name = (struct job_name){.copy = -1};
    if (length > 0 && strspn(operand, "0123456789") == length)
        return parse_number(operand, name, err);
    if (take_number(operand, &length, "#", 1, &name->round) < 0 ||
        take_number(operand, &length, "[]", 0, &name->copy) < 0)
        return no_name(operand, err);
    step = mem_copy_bytes(operand, length);
    is_name = text_is_name(step);
    free(step);
    if (!is_name)
        return no_name(operand, err);
    name->step = operand;
    name->step_length = length;
    return 0;
}

void job_name_print(const char *step, int64_t copy, int64_t round,
                    struct buf *out)
{
    buf_add_string(out, step);
    if (copy >= 0)
        buf_printf(out, "[%" PRId64 "]", copy);
    if (round > 0)
        buf_printf(out, "#%" PRId64, round);
}
