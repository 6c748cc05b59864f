/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "tests/unit/base/metrics/metrics_test.h"

static void test_metrics__finds_names_and_numbers(void **state)
{
    static const struct example examples[] = {
        {"loss=0.5", "loss@1=0.5"},
        {"loss: 0.5", "loss@1=0.5"},
        {"loss = 0.5, acc : 0.9\n", "loss@1=0.5 acc@1=0.9"},
        {"lr=0.1,loss=2.0;acc: 93.5%", "lr@1=0.1 loss@1=2 acc@1=93.5"},
        {"val_error=0.1 error=0.2", "val_error@1=0.1 error@1=0.2"},
        {"[train/loss=1] (a.b-c=2)", "train/loss@1=1 a.b-c@1=2"},
        {"_x1=1", "_x1@1=1"},
        {"{'loss': 0.5, \"acc\":0.9}", "loss@1=0.5 acc@1=0.9"},
        {"loss:0.5", "loss@1=0.5"},
        {"loss=0.5.", "loss@1=0.5"},
        {"\033[1mloss\033[0m=\033[32;1m0.5\033[0m", "loss@1=0.5"},
        {"done=3/10", "done@1=3"},
        {"a=1=2", "a@1=1"},
        {"x=1\ty=2", "x@1=1 y@1=2"},
        {"loss\t=\t1", "loss@1=1"},
        {"\"loss=1 \"a\"=2", "loss@1=1 a@1=2"},
        {"{'val loss': '0.5', \"NDCG@10\":0.9}",
         "val loss@1=0.5 NDCG@10@1=0.9"},
        {"acc@1=0.5 \xce\x94loss=-1", "acc@1@1=0.5 \xce\x94loss@1=-1"},
        {"\xe2\x94\x82loss: 0.5\xe2\x94\x82 \xe2\x80\xa6"
         "acc=1",
         "loss@1=0.5 acc@1=1"},
        {"loss=1 loss=2", "loss@1=1"},
        {"loss\"=1", ""},
        {"  \nloss=1", "loss@1=1"},
    };

    (void)state;
    assert_examples(examples, ARRAY_LEN(examples));
}

static void test_metrics__other_ranks_are_passed_over(void **state)
{
    static const struct example examples[] = {
        {"[rank 1] loss=1\nloss=2\n", "loss@1=2"},
        {"[rank 0] loss=1\n[rank 10] loss=2\n", "loss@1=1"},
        {"[rank 12] {\"loss\": 1}", ""},
        {"{\"loss\": 1}\r[rank 2] loss=2", "loss@1=1"},
        {"[rank] loss=1\n[rank ] loss=2\n [rank 1] loss=3", //
         "loss@1=1 loss@2=2 loss@3=3"},
        {"[rank1]: loss=1\n[default2]:loss=2\nRank 3: loss=3\nrank 0: loss=4",
         "loss@1=4"},
        {"[rank ] loss=1", "loss@1=1"},
        {"[rank 1 loss=1", "loss@1=1"},
        {"[rank 1", ""},
        {"[GPU0] loss=1\n[GPU1] loss=2\nGPU 1: temperature=60",
         "loss@1=1 temperature@1=60"},
        {"\033[1m[rank 1]\033[0m loss=1", ""},
        {"rank=8 loss=1\nrank=8 loss=2", //
         "rank@1=8 loss@1=1 rank@2=8 loss@2=2"},
        {"{\"rank\": 1, \"step\": 1, \"loss\": 1}\n"
         "{\"rank\": 0, \"step\": 1, \"loss\": 2}\n"
         "{\"rank\": 1, \"step\": 2, \"loss\": 3}\n"
         "{\"rank\": 0, \"step\": 2, \"loss\": 4}\n",
         "rank@1=1 loss@1=1 loss@1=2 loss@2=4"},
    };

    (void)state;
    assert_examples(examples, ARRAY_LEN(examples));
}

static void ignore(UNUSED void *user, UNUSED const struct metric_point *point)
{
}

/* "2 of rank 1", "3 doubled, 0.5 by 0.6 at 2", or "". */
static char *read_several(const char *metric, const char *text)
{
    struct metric_rules *rules = metric_rules_create(NULL, 0, NULL);
    struct metric_reader *reader;
    struct metric_several several;
    struct buf out = BUF_INIT;

    metric_rules_ask(rules, metric);
    reader = metric_reader_create(rules, 0);
    metric_reader_reserve(reader, metric);
    metric_reader_feed(reader, text, strlen(text), ignore, NULL);
    metric_reader_finish(reader, true, ignore, NULL);
    if (metric_reader_several(reader, &several)) {
        assert_string_equal(several.name, metric);
        if (several.left_out > 0)
            buf_printf(&out, "%d of rank %d", (int)several.left_out,
                       (int)several.other_rank);
        else
            buf_printf(&out, "%d doubled, %g by %g at %g", (int)several.doubled,
                       several.replaced, several.value, several.step);
    }
    metric_reader_destroy(reader);
    metric_rules_destroy(rules);
    return buf_take(&out);
}

static void test_metrics__several_processes_are_noticed(void **state)
{
    static const struct {
        const char *metric, *text, *expected;
    } examples[] = {
        {"loss", "[rank 0] loss=1\n[rank 2] Loss=2\n[rank 1] loss=3 acc=1\n",
         "2 of rank 2"},
        {"loss", "rank=0 loss=1\nrank=1 loss=2\n", "1 of rank 1"},
        {"rank", "rank=0 loss=1\nrank=1 loss=2\n", ""},
        {"loss",
         "epoch=1 loss=0.5 t=1.2s\nepoch=1 loss=0.6 t=1.3s\n"
         "epoch=2 loss=0.3 t=1.2s\nepoch=2 loss=0.4 t=1.3s\n",
         "2 doubled, 0.3 by 0.4 at 2"},
        {"acc",
         "2026-01-31 12:00:01,5 epoch=1 acc=87\n"
         "2026-01-31 12:00:02,6 epoch=1 acc=88\n",
         "1 doubled, 87 by 88 at 1"},
        /* one process that counts something else, too */
        {"loss",
         "Epoch 1 [0/64 (0%)] loss: 0.5\nEpoch 1 [32/64 (50%)] loss: 0.4\n"
         "Epoch 2 [0/64 (0%)] loss: 0.4\nEpoch 2 [32/64 (50%)] loss: 0.3\n",
         ""},
        {"loss", "epoch=1 loss=0.5\nepoch=1 loss=0.5\n", ""},
        {"loss", "epoch=1 loss=nan\nepoch=1 loss=nan\n", ""},
        {"loss", "epoch=1 loss=1.2e+05\nepoch=1 loss=9.9e+04\n",
         "1 doubled, 120000 by 99000 at 1"},
        {"loss", "epoch=1 loss=0.5\nfinal epoch=1 loss=0.4\n", ""},
        {"loss", "loss=0.5\nloss=0.6\n", ""},
        /* a correction at the end */
        {"loss",
         "epoch=1 loss=5\nepoch=2 loss=4\nepoch=3 loss=3\nepoch=3 loss=2\n",
         ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
        char *found = read_several(examples[i].metric, examples[i].text);

        if (strcmp(found, examples[i].expected) != 0)
            fail_msg("%s gave '%s'", examples[i].text, found);
        free(found);
    }
}

static void test_metrics__numbers_have_one_form(void **state)
{
    static const struct example examples[] = {
        {"a=1e-3 b=1E+2 c=+.5 d=5. e=-0 f=00012",
         "a@1=0.001 b@1=100 c@1=0.5 d@1=5 e@1=-0 f@1=12"},
        {"a=nan b=NaN c=-nan d=inf e=-Infinity f=+INF",
         "a@1=nan b@1=nan c@1=nan d@1=inf e@1=-inf f@1=inf"},
        {"a=1e999 b=-1e999 c=1e-999", "a@1=inf b@1=-inf c@1=0"},
        {"a=0x10 a=12ms a=1_000 a=1e a=1e+ a=5.x a=nano a=inform", ""},
        {"a=1e\na=1e+\na=1+2", ""},
        {"a=. a=- a=+ a=e5 a=.e5 a=--1 a=- 1 a=", ""},
        {"a=1.2.3 host=10.0.0.1 a=2026-11-21 eta=12:30 at 12:30:45", ""},
        {"a==1 a<=2 a>=3 a!=4 a:=5 a+=6", ""},
        {"=1 : 2 9a=1 -a=1 --lr=1 a]=1 $()=2", ""},
        {"main.c:12: error", ""},
        {"2026-11-21T12:30:45.123 INFO", ""},
        {"loss='0.5'\nloss='0.5 loss=1' \"loss: 2", "loss@1=0.5 loss@2=1"},
        {"'loss\"=1 loss'=2", ""},
    };

    (void)state;
    assert_examples(examples, ARRAY_LEN(examples));
}

static void test_metrics__reads_json_lines(void **state)
{
    static const struct example examples[] = {
        {"{\"loss\":0.5,\"step\":3}", "loss@3=0.5"},
        {" { \"a\" : 1 , \"b\" : -2e1 } ", "a@1=1 b@1=-20"},
        {"{\"a\":NaN,\"b\":Infinity,\"c\":-Infinity,\"d\":null}",
         "a@1=nan b@1=inf c@1=-inf d@1=nan"},
        {"{\"a\":\"nan\",\"b\":\"inf\",\"c\":\"-inf\",\"d\":\"0.5\",\"e\":"
         "\"x\"}",
         "a@1=nan b@1=inf c@1=-inf d@1=0.5"},
        {"{\"n\":{\"loss\":1,\"s\":\"}\"},\"l\":[1,{\"x\":2}],\"a\":3}",
         "n/loss@1=1 a@1=3"},
        {"{\"a\":{\"b\":{\"c\":1},\"d\":2},\"e\":{}}", "a/b/c@1=1 a/d@1=2"},
        {"{\"a\":{\"b\":{\"c\":1}", "c@1=1"},
        {"{\"n\\u00e9\\/\\\"\":1,\"\\n\":2,\"\\u12\":3,\"\\ud800\":4}",
         "n\xc3\xa9/\"@1=1"},
        {"{\"\\ud83d\\ude00\":1,\"\\ude00\\ud83d\":2,\"\\ud83d\":3,"
         "\"\\ud83dx\":4,\"\\uD83D\\uDE01/a\":5}",
         "\xf0\x9f\x98\x80@1=1 \xf0\x9f\x98\x81/a@1=5"},
        {"{\"t\":true,\"f\":false,\"s\":\"loss=7\",\"a\":3}", "a@1=3"},
        {"{\"a b\":1,\"9\":2,\"\":3,\"x\\\"y\":4,\" z\":5}",
         "a b@1=1 9@1=2 x\"y@1=4"},
        {"{}", ""},
        {"{\"loss\":0.5", "loss@1=0.5"},
        {"{\"loss\":0.5} and more", "loss@1=0.5"},
        {"{\"loss\":0.5,}", "loss@1=0.5"},
        {"{\"loss\":[1,2", ""},
        {"{\"loss\":\"a\\", ""},
        {"{", ""},
        {"{\"a\"", ""},
        {"{\"a\" \"b\"}", ""},
        {"{\"a\":", ""},
        {"{\"a\":t", ""},
        {"{\"a\":[\"b", ""},
        {"{\"a\":\"\",\"b\":\"nano\",\"c\":3}", "c@1=3"},
        {"{\"a\":1 \"b\":2}", "a@1=1 b@1=2"},
        {"{a:1}", "a@1=1"},
        {"INFO {\"loss\": 0.5}", "loss@1=0.5"},
        {"[{\"loss\": 0.5}]", "loss@1=0.5"},
    };

    (void)state;
    assert_examples(examples, ARRAY_LEN(examples));
}

static void test_metrics__any_bytes_are_survived(void **state)
{
    static const char text[] = "a=1\0b=2\n\0\xff\xfe=\x80 c=3\r\n\n\r\rd=4\r"
                               "e=5\x7f\nf=\0 1\n=:=:\n\"\":1\nlast=6";
    struct metric_rules *rules = metric_rules_create(NULL, 0, NULL);

    (void)state;
    assert_reads_by(rules, text, sizeof(text) - 1,
                    "a@1=1 b@1=2 c@1=3 d@1=4 e@1=5 last@1=6");
    metric_rules_destroy(rules);
}

static void test_metrics__refreshes_of_a_bar_are_one_unit(void **state)
{
    static const struct example examples[] = {
        {" 10%|#   | loss=3\r 20%|##  | loss=2\r\n 9%|#  | loss=1\r", //
         "loss@1=2 loss@2=1"},
        {"\rEpoch 0: 1/2 [loss=5]\rEpoch 0: 2/2 [loss=4, val=3]\n"
         "\rEpoch 1: 1/2 [loss=2, val=3]\rEpoch 1: 2/2 [loss=1, val=2]\n",
         "loss@0=4 val@0=3 loss@1=1 val@1=2"},
        {"\rEpoch 0: 1/2 [loss=5]\rEpoch 0: 2/2 [loss=4, val=3]"
         "\rEpoch 1: 1/2 [loss=2, val=3]\rEpoch 1: 2/2 [loss=1, val=2]",
         "loss@0=4 val@0=3 loss@1=1 val@1=2"},
        {"loss=3\r\nloss=2\r\n", "loss@1=3 loss@2=2"},
        {"a=1\r      \rb=2\n", "a@1=1 b@1=2"},
        {"a=1\rb=2\ra=3\n", "b@1=2 a@1=3"},
    };

    (void)state;
    assert_examples(examples, ARRAY_LEN(examples));
}

static void test_metrics__what_a_killed_program_left_half_does_not_count(
    void **state)
{
    static const char text[] = "loss=1\nEpoch 2: loss=0.5\rloss=0.2";
    struct metric_rules *rules = metric_rules_create(NULL, 0, NULL);
    struct metric_reader *reader = metric_reader_create(rules, 0);
    struct buf out = BUF_INIT;

    (void)state;
    metric_reader_feed(reader, text, strlen(text), note, &out);
    metric_reader_finish(reader, false, note, &out);
    assert_string_equal(buf_text(&out), "loss@1=1");
    buf_clear(&out);
    metric_reader_destroy(reader);
    metric_rules_destroy(rules);
}

/* Pairs of words have the same FNV-1a. */
static void test_metrics__names_that_hash_alike_are_others(void **state)
{
    (void)state;
    assert_reads("costarring=1 liquid=2 declinate=3 macallums=4\n"
                 "liquid=5 macallums=6\ncostarring=7 declinate=8\n",
                 "costarring@1=1 liquid@1=2 declinate@1=3 macallums@1=4 "
                 "liquid@2=5 macallums@2=6 costarring@2=7 declinate@2=8");
}

static void test_metrics__steps_go_on_where_the_writer_does(void **state)
{
    static const char text[] =
        "loss=4 acc=1\nloss=3\n{\"step\":9,\"loss\":2}\nloss=1\n";
    struct metric_rules *rules = metric_rules_create(NULL, 0, NULL);
    struct metric_reader *reader = metric_reader_create(rules, 5);
    struct buf out = BUF_INIT;

    (void)state;
    metric_reader_feed(reader, text, strlen(text), note, &out);
    assert_string_equal(buf_text(&out),
                        "loss@6=4 acc@6=1 loss@7=3 loss@9=2 loss@10=1");
    buf_clear(&out);
    metric_reader_destroy(reader);
    metric_rules_destroy(rules);
}

static void test_metrics__names_are_utf_8(void **state)
{
    static const struct example examples[] = {
        {"\xc3\xa9t\xc3\xa9=1", "\xc3\xa9t\xc3\xa9@1=1"},
        {"\xe0\x83\xa9x=1", "x@1=1"}, /* overlong */
        {"\xed\xa0\x80x=1", "x@1=1"}, /* half a surrogate pair */
        {"\xf4\x90\x80\x80x=1", "x@1=1"},
    };

    (void)state;
    assert_examples(examples, ARRAY_LEN(examples));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics__finds_names_and_numbers),
        cmocka_unit_test(test_metrics__other_ranks_are_passed_over),
        cmocka_unit_test(test_metrics__several_processes_are_noticed),
        cmocka_unit_test(test_metrics__numbers_have_one_form),
        cmocka_unit_test(test_metrics__reads_json_lines),
        cmocka_unit_test(test_metrics__any_bytes_are_survived),
        cmocka_unit_test(test_metrics__refreshes_of_a_bar_are_one_unit),
        cmocka_unit_test(
            test_metrics__what_a_killed_program_left_half_does_not_count),
        cmocka_unit_test(test_metrics__names_that_hash_alike_are_others),
        cmocka_unit_test(test_metrics__steps_go_on_where_the_writer_does),
        cmocka_unit_test(test_metrics__names_are_utf_8),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
