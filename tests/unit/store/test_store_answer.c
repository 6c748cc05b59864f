/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include "base/buf.h"
#include "base/compiler.h"
#include "store/changes.h"
#include "tests/unit/store/store_fill.h"
#include "tests/unit/store/store_test.h"

static void add(struct store *store, int64_t run, const char *answer)
{
    struct err err = {0};

    must(store_begin(store, &err));
    must(store_add_answer(store, run, answer, 1, &err));
    must(store_commit(store, &err));
}

static void test_store_answer__is_found_by_run_place_and_id(void **state)
{
    struct store *store = must_fill(*state, 1);
    int64_t before, between, other;
    struct buf text = BUF_INIT;
    struct err err = {0};

    must(store_begin(store, &err));
    must(fill_run(store, "other", "minimize", &other, &err));
    must(store_commit(store, &err));
    must(store_last_event(store, 1, &before, &err));
    add(store, 1, "{\"ok\":true,\"n\":1,\"id\":\"a\"}");
    must(store_last_event(store, 1, &between, &err));
    add(store, 1, "{\"ok\":true,\"n\":2,\"id\":\"b\"}");
    {
        const struct {
            struct answer_query query;
            const char *answer; /* NULL: it is not there */
        } cases[] = {
            {{1, before, "a"}, "{\"ok\":true,\"n\":1,\"id\":\"a\"}"},
            {{1, between, "b"}, "{\"ok\":true,\"n\":2,\"id\":\"b\"}"},
            {{1, between, "a"}, NULL},
            {{1, before, "c"}, NULL},
            {{other, before, "a"}, NULL},
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            buf_truncate(&text, 0);
            assert_int_equal(
                store_find_answer(store, &cases[i].query, &text, &err),
                cases[i].answer != NULL);
            assert_string_equal(buf_text(&text),
                                cases[i].answer != NULL ? cases[i].answer : "");
        }
    }
    buf_clear(&text);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_answer__is_found_by_run_place_and_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
