/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_ORCHESTRATOR_ASK_TELL_ASK_TELL_TEST_H
#define SMTUNE_TESTS_UNIT_ORCHESTRATOR_ASK_TELL_ASK_TELL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/conf/diag.h"
#include "base/json.h"
#include "orchestrator/ask_tell/ask_tell.h"

/* Sessions of the tests, which ask line by line. */

struct test_session {
    struct experiment *experiment;
    struct ask_tell *session;
};

static inline struct experiment *parse_for_session(const char *text)
{
    struct diags *diags = diags_create("test.yaml");
    struct experiment *experiment =
        experiment_parse(&(struct experiment_source){.text = text,
                                                     .length = strlen(text),
                                                     .path = "",
                                                     .is_for_search = true},
                         diags, NULL);

    diags_destroy(diags);
    assert_non_null(experiment);
    return experiment;
}

static inline struct test_session begin_session(const char *text)
{
    struct experiment *experiment = parse_for_session(text);
    struct ask_tell *ask_tell = ask_tell_create(experiment, NULL, NULL);

    assert_non_null(ask_tell);
    return (struct test_session){experiment, ask_tell};
}

static inline void end_session(struct test_session *test)
{
    ask_tell_destroy(test->session);
    experiment_destroy(test->experiment);
}

static inline void exchange_quotes(struct buf *text, char from, char to)
{
    for (size_t i = 0; i < text->length; i++)
        text->data[i] = text->data[i] == from ? to : text->data[i];
}

/* The answer to a request that has ' in place of ". */
static inline void ask_for(struct test_session *test, const char *request,
                           struct buf *out)
{
    struct buf line = BUF_INIT;

    buf_add_string(&line, request);
    exchange_quotes(&line, '\'', '"');
    ask_tell_answer(test->session, 1, buf_text(&line), line.length, out);
    assert_true(out->length > 0 && out->data[out->length - 1] == '\n');
    buf_truncate(out, out->length - 1);
    buf_clear(&line);
}

/* Has ' in place of " as well. */
static inline void must_answer(struct test_session *test, const char *request,
                               const char *expected)
{
    struct buf out = BUF_INIT;

    ask_for(test, request, &out);
    exchange_quotes(&out, '"', '\'');
    if (strcmp(buf_text(&out), expected) != 0)
        fail_msg("%s:\n%s\nis not\n%s", request, buf_text(&out), expected);
    buf_clear(&out);
}

/* A new reference. */
static inline json_t *answer_of(struct test_session *test, const char *request)
{
    struct buf out = BUF_INIT;
    json_t *answer;

    ask_for(test, request, &out);
    answer = json_parse(out.data, out.length, NULL);
    assert_non_null(answer);
    buf_clear(&out);
    return answer;
}

/* -1: the object does not have it. */
static inline int64_t integer_of(const json_t *object, const char *key)
{
    const json_t *item = json_object_get(object, key);

    return item != NULL ? json_integer_value(item) : -1;
}

struct exchange {
    const char *request, *answer;
};

/* All of them in a session of its own. */
static inline void must_converse(const char *text,
                                 const struct exchange *exchanges, size_t count)
{
    struct test_session test = begin_session(text);

    for (size_t i = 0; i < count; i++)
        must_answer(&test, exchanges[i].request, exchanges[i].answer);
    end_session(&test);
}

#endif
