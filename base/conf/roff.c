/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/conf/roff.h"

#include <stdbool.h>

#include "base/buf.h"
#include "base/compiler.h"

/* What roff would show otherwise than it is written. */
static const struct {
    char letter;
    const char *roff;
} escapes[] = {
    {'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
    {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"},
};

static const char *escape_of(char letter)
{
    for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
        if (escapes[i].letter == letter)
            return escapes[i].roff;
    }
    return NULL;
}

void roff_add(const char *text, size_t length, struct buf *out)
{
    bool at_start = out->length == 0 || out->data[out->length - 1] == '\n';

    for (size_t i = 0; i < length; i++) {
        const char *escape = escape_of(text[i]);

        if (at_start && (text[i] == '.' || text[i] == '\''))
            buf_add_string(out, "\\&");
        if (escape != NULL)
            buf_add_string(out, escape);
        else
            buf_add_char(out, text[i]);
        at_start = text[i] == '\n';
    }
}
