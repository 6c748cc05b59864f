/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_BASE_CONF_CONF_TEST_H
#define SMTUNE_TESTS_UNIT_BASE_CONF_CONF_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/conf.h"

/* Reads texts that must be valid, and makes long ones. */

UNUSED static struct conf_doc *parse_bytes(const char *text, size_t length)
{
    struct diags *diags = diags_create("t.yaml");
    struct conf_doc *doc = conf_parse(text, length, diags);
    struct buf out = BUF_INIT;

    diags_render(diags, false, &out);
    if (doc == NULL)
        fail_msg("'%s' was refused: %s", text, buf_text(&out));
    assert_int_equal(diags_count(diags), 0);
    buf_clear(&out);
    diags_destroy(diags);
    return doc;
}

UNUSED static struct conf_doc *parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

/* What is refused, and why. */
struct refusal {
    const char *text, *message;
};

UNUSED static void repeat(struct buf *out, const char *text, int times)
{
    while (times-- > 0)
        buf_add_string(out, text);
}

#endif
