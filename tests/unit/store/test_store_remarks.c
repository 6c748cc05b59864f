/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people add to runs and trials: notes and tags. */
#include "store/store.h"

#include <inttypes.h>

#include "base/buf.h"
#include "tests/unit/store/store_fill.h"
#include "tests/unit/store/store_repair.h"

static int print_remark(void *user, const struct remark_row *remark)
{
    buf_printf(user, "%" PRId64 " %s %s\n", remark->number,
               remark->comment != NULL ? remark->comment : "-",
               remark->tags != NULL ? remark->tags : "-");
    return 0;
}

static void must_show(struct store *store, const char *expected)
{
    struct buf said = BUF_INIT;
    struct err err = {0};

    must(store_each_remark(store, 1, print_remark, &said, &err));
    assert_string_equal(buf_text(&said), expected);
    buf_clear(&said);
}

#define TAGS(...)                                                              \
    (const char *const[]){__VA_ARGS__},                                        \
        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)

static int add(struct store *store, int64_t job, const char *const *tags,
               size_t count, struct err *err)
{
    struct tag_change change = {
        .run = 1, .job = job, .add = tags, .add_count = count, .time_ms = 7};

    return store_change_tags(store, &change, err);
}

static int take_away(struct store *store, int64_t job, const char *const *tags,
                     size_t count, struct err *err)
{
    struct tag_change change = {.run = 1,
                                .job = job,
                                .remove = tags,
                                .remove_count = count,
                                .time_ms = 8};

    return store_change_tags(store, &change, err);
}

/* With a run and two trials, in a transaction. */
static struct store *filled(const char *folder)
{
    struct store *store = must_open(folder, STORE_CREATE);
    struct err err = {0};
    int64_t run;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    must(fill_trial(store, run, 1, 0.5, &err));
    must(fill_trial(store, run, 2, 0.4, &err));
    return store;
}

static void test_store_remarks__a_note_takes_the_place_of_another(void **state)
{
    struct store *store = filled(*state);
    struct err err = {0};

    must_show(store, "");
    must(store_set_comment(store, 1, 0, "all \"wrong\"", 1, &err));
    must(store_set_comment(store, 1, 2, "a\n\tb \303\266", 2, &err));
    must_show(store, "0 all \"wrong\" -\n2 a\n\tb \303\266 -\n");
    must(store_set_comment(store, 1, 2, "c", 3, &err));
    must(store_set_comment(store, 1, 0, "", 4, &err));
    must_show(store, "2 c -\n");
    must(store_set_comment(store, 1, 2, NULL, 5, &err));
    must_show(store, "");
    must(store_commit(store, &err));
    store_close(store);
    assert_int_equal(findings(*state), 0);
}

static void test_store_remarks__tags_are_a_sorted_set(void **state)
{
    struct store *store = filled(*state);
    struct err err = {0};

    must(add(store, 1, TAGS("good", "bad \"x\"", "good"), &err));
    must(add(store, 0, TAGS("zebra"), &err));
    must(add(store, 0, TAGS("alpha", "zebra"), &err));
    must_show(store, "0 - [\"alpha\",\"zebra\"]\n"
                     "1 - [\"bad \\\"x\\\"\",\"good\"]\n");
    must(take_away(store, 1, TAGS("good", "never had"), &err));
    must(take_away(store, 0, TAGS("alpha", "zebra"), &err));
    must_show(store, "1 - [\"bad \\\"x\\\"\"]\n");
    must(store_commit(store, &err));
    store_close(store);
    assert_int_equal(findings(*state), 0);
}

/* What is so already leaves no event. */
static void test_store_remarks__only_changes_are_events(void **state)
{
    struct store *store = filled(*state);
    struct err err = {0};
    char *answer;

    must(store_set_comment(store, 1, 0, NULL, 1, &err));
    must(store_set_comment(store, 1, 1, "x", 2, &err));
    must(store_set_comment(store, 1, 1, "x", 3, &err));
    must(add(store, 1, TAGS("t"), &err));
    must(add(store, 1, TAGS("t"), &err));
    must(take_away(store, 1, TAGS("u"), &err));
    must(take_away(store, 1, TAGS("t"), &err));
    must(store_commit(store, &err));
    store_close(store);
    answer = ask_sqlite(*state, "SELECT group_concat(event || detail || job_id)"
                                " FROM event WHERE event IN"
                                " ('commented', 'tagged')");
    assert_string_equal(answer, "commented{\"comment\":\"x\"}1,"
                                "tagged{\"tags\":[\"t\"]}1,tagged{}1");
    free(answer);
}

static void test_store_remarks__they_are_bounded(void **state)
{
    static const char *const tags[] = {
        "",
        " a",
        "a ",
        "a\nb",
        "\177",
        "a\302\205",
        "\377",
        "12345678901234567890123456789012345678901234567890123456789012345"};
    struct store *store = filled(*state);
    struct err err = {0};
    char *text = mem_zero(STORE_COMMENT_MAX_BYTES + 2);
    char tag[] = "t00";

    memset(text, 'x', STORE_COMMENT_MAX_BYTES);
    must(store_set_comment(store, 1, 1, text, 1, &err));
    text[STORE_COMMENT_MAX_BYTES] = 'x';
    assert_int_equal(store_set_comment(store, 1, 1, text, 1, &err), -1);
    assert_string_equal(err.text, "a note has at most 16384 bytes, not 16385");
    free(text);
    assert_int_equal(store_set_comment(store, 1, 1, "a\033[2J", 1, &err), -1);
    assert_int_equal(err.kind, ERR_USAGE);
    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        if (add(store, 1, &tags[i], 1, &err) != -1 || err.kind != ERR_USAGE)
            fail_msg("taken: '%s'", tags[i]);
    }
    for (int i = 0; i < STORE_TAGS_MAX; i++) {
        tag[1] = (char)('0' + i / 10);
        tag[2] = (char)('0' + i % 10);
        must(add(store, 1, TAGS(tag), &err));
    }
    assert_int_equal(add(store, 1, TAGS("one more"), &err), -1);
    assert_string_equal(err.text, "at most 64 tags, not 65");
    assert_int_equal(add(store, 3, TAGS("a"), &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    store_close(store);
}

static int add_number(void *user, const struct trial_row *trial)
{
    *(int64_t *)user = *(int64_t *)user * 10 + trial->number;
    return 0;
}

static void test_store_remarks__trials_are_found_by_a_tag(void **state)
{
    struct store *store = filled(*state);
    struct trial_query query = {.run = 1, .tag = "good", .order = ORDER_BEST};
    struct err err = {0};
    int64_t found = 0;

    must(fill_trial(store, 1, 3, 0.3, &err));
    must(add(store, 1, TAGS("good"), &err));
    must(add(store, 2, TAGS("good one"), &err));
    must(add(store, 3, TAGS("best", "good"), &err));
    must(store_each_trial(store, &query, add_number, &found, &err));
    assert_int_equal(found, 31);
    store_close(store);
}

/* A person may say something long after an engine was killed. */
static void test_store_remarks__they_are_no_work_of_an_engine(void **state)
{
    struct store *store = filled(*state);
    int64_t start_ms = fill_start_ms + 1000, ms;
    struct err err = {0};

    must(store_set_run_engine(store, 1, 7, "b", start_ms, &err));
    must(fill_trial(store, 1, 3, 0.3, &err));
    must(store_set_comment(store, 1, 1, "late", start_ms + 1000000, &err));
    must(add(store, 1, TAGS("t"), &err));
    must(store_set_run_engine(store, 1, 8, "b", start_ms + 2000000, &err));
    must(store_earlier_engines_ms(store, 1, &ms, &err));
    assert_int_equal(ms, 3000); /* until the third trial's end */
    store_close(store);
}

static void test_store_remarks__what_is_damaged_is_found_and_mended(
    void **state)
{
    static const char *const damages[] = {
        "UPDATE run SET comment = 'y'",
        "UPDATE run SET tags = NULL",
        "UPDATE job SET comment = 'y' WHERE number = 1",
        "UPDATE job SET comment = NULL WHERE number = 1",
        "UPDATE job SET tags = '[\"t\"]'",
    };
    struct store *store = filled(*state);
    struct err err = {0};

    must(store_set_comment(store, 1, 0, "x", 1, &err));
    must(store_set_comment(store, 1, 1, "x\ny", 1, &err));
    must(add(store, 0, TAGS("t"), &err));
    must(add(store, 2, TAGS("\303\266", "u"), &err));
    must(store_commit(store, &err));
    store_close(store);
    for (size_t i = 0; i < ARRAY_LEN(damages); i++)
        assert_mended(*state, damages[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_remarks__a_note_takes_the_place_of_another),
        STORE_TEST(test_store_remarks__tags_are_a_sorted_set),
        STORE_TEST(test_store_remarks__only_changes_are_events),
        STORE_TEST(test_store_remarks__they_are_bounded),
        STORE_TEST(test_store_remarks__trials_are_found_by_a_tag),
        STORE_TEST(test_store_remarks__they_are_no_work_of_an_engine),
        STORE_TEST(test_store_remarks__what_is_damaged_is_found_and_mended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
