/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What slurmrestd says of a cluster, in the words of several versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "executors/slurm/talk/rest_impl.h"

static struct fetch_answer said(int status, const char *body)
{
    return (struct fetch_answer){
        .status = status, .body = body, .body_bytes = strlen(body)};
}

static void show(const struct slurm_site *site, struct buf *out)
{
    for (size_t i = 0; i < site->partition_count; i++) {
        const struct slurm_partition *p = &site->partitions[i];

        buf_printf(out, "%s%s%s %lld-%lld ms, %d nodes of %d cpus; ", p->name,
                   p->is_default ? "*" : "", p->is_up ? "" : " (down)",
                   (long long)p->default_time_ms, (long long)p->max_time_ms,
                   p->nodes, p->node_cpus);
    }
}

static void test_partitions__are_told_in_several_ways(void **state)
{
    static const struct {
        const char *body, *expected;
    } cases[] = {
        {"{\"partitions\": []}", ""},
        {"{\"partitions\": [{\"name\": \"\"}, {}, 3]}", ""},
        /* the only one is the default one, and counts as up */
        {"{\"partitions\": [{\"name\": \"a\"}]}",
         "a* 0-0 ms, 0 nodes of 0 cpus; "},
        {"{\"partitions\": [{\"name\": \"a\", \"state\": \"up\", "
         "\"flags\": []}, {\"name\": \"b\", \"state\": [\"DOWN\", \"UP\"], "
         "\"flags\": [\"x\", \"DEFAULT\"]}, {\"name\": \"c\", \"state\": "
         "[\"DOWN\"]}, {\"name\": \"d\", \"state\": \"DRAIN\"}]}",
         "a 0-0 ms, 0 nodes of 0 cpus; b* 0-0 ms, 0 nodes of 0 cpus; "
         "c (down) 0-0 ms, 0 nodes of 0 cpus; "
         "d (down) 0-0 ms, 0 nodes of 0 cpus; "},
        {"{\"partitions\": [{\"name\": \"a\", \"partition\": {\"state\": "
         "[\"UP\"]}, \"defaults\": {\"time\": {\"set\": true, \"number\": "
         "2}}, \"maximums\": {\"time\": {\"set\": true, \"number\": 3}}}]}",
         "a* 120000-180000 ms, 0 nodes of 0 cpus; "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct fetch_answer answer = said(200, cases[i].body);
        struct slurm_site site = {0};
        struct slurm_reply reply;
        struct buf out = BUF_INIT;

        slurm_rest_read_partitions(&answer, &site, &reply);
        assert_int_equal(reply.answer, SLURM_DONE);
        show(&site, &out);
        assert_string_equal(buf_text(&out), cases[i].expected);
        buf_clear(&out);
        slurm_site_clear(&site);
    }
}

static void test_partitions__that_are_none_are_no_answer(void **state)
{
    static const struct {
        int status;
        const char *body;
    } cases[] = {{200, "{}"},
                 {200, "{\"partitions\": {}}"},
                 {200, "partitions"},
                 {500, "{\"partitions\": []}"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct fetch_answer answer = said(cases[i].status, cases[i].body);
        struct slurm_site site = {0};
        struct slurm_reply reply;

        slurm_rest_read_partitions(&answer, &site, &reply);
        assert_int_not_equal(reply.answer, SLURM_DONE);
        assert_int_equal(site.partition_count, 0);
        slurm_site_clear(&site);
    }
}

static void test_nodes__are_counted_where_they_are(void **state)
{
    const struct fetch_answer
        answer = said(200, "{\"nodes\": [{\"cpus\": 4, \"partitions\": [\"a\", "
                           "\"b\"]}, {\"cpus\": 2, \"partitions\": [\"a\"]}, "
                           "{\"cpus\": 8}]}"),
        broken = said(200, "{\"nodes\": [{\"cpus\": four}]}");
    struct slurm_site site = {0};
    struct slurm_reply reply;
    struct buf out = BUF_INIT;

    (void)state;
    slurm_rest_read_nodes(&answer, &site, &reply);
    assert_int_equal(reply.answer, SLURM_DONE);
    slurm_rest_read_nodes(&broken, &site, &reply);
    assert_int_not_equal(reply.answer, SLURM_DONE);
    show(&site, &out);
    assert_string_equal(buf_text(&out), "a (down) 0-0 ms, 2 nodes of 2 cpus; "
                                        "b (down) 0-0 ms, 1 nodes of 4 cpus; ");
    buf_clear(&out);
    slurm_site_clear(&site);
}

static void test_clusters__say_whether_there_is_accounting(void **state)
{
    static const struct {
        const char *named, *body; /* by the controller, by the accounting */
        int status;
        bool has_accounting;
        const char *cluster;
    } cases[] = {
        {"", "{\"clusters\": [{\"name\": \"east\"}]}", 200, true, "east"},
        {"west", "{\"clusters\": [{\"name\": \"east\"}]}", 200, true, "west"},
        {"", "{\"clusters\": [{\"name\": \"a\"}, {\"name\": \"b\"}]}", 200,
         true, ""},
        {"", "{\"clusters\": []}", 200, false, ""},
        {"", "{}", 200, false, ""},
        {"", "{\"clusters\": [{\"name\": \"east\"}]}", 500, false, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct fetch_answer answer = said(cases[i].status, cases[i].body);
        struct buf first = BUF_INIT;
        struct slurm_site site = {0};
        struct slurm_reply reply;

        buf_printf(&first,
                   "{\"meta\": {\"%s\": {\"cluster\": \"%s\"}}, "
                   "\"partitions\": []}",
                   i % 2 == 0 ? "slurm" : "Slurm", cases[i].named);
        slurm_rest_read_partitions(
            &(struct fetch_answer){200, NULL, buf_text(&first), first.length},
            &site, &reply);
        slurm_rest_read_clusters(&answer, &site);
        assert_int_equal(site.has_accounting, cases[i].has_accounting);
        assert_string_equal(site.cluster, cases[i].cluster);
        buf_clear(&first);
        slurm_site_clear(&site);
    }
}

static void test_qos__are_told_in_several_ways(void **state)
{
    static const char *const bodies[] = {
        "{\"QOS\": [{\"name\": \"few\", \"limits\": {\"max\": "
        "{\"wall_clock\": {\"per\": {\"job\": 5}}}}}, {\"name\": \"all\", "
        "\"limits\": {\"max\": {\"wall_clock\": {\"per\": {\"job\": "
        "null}}}}}]}",
        "{\"qos\": [{\"name\": \"few\", \"limits\": {\"max\": "
        "{\"wall_clock\": {\"per\": {\"job\": {\"set\": true, \"infinite\": "
        "false, \"number\": 5}}}}}}, {\"name\": \"all\"}]}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        const struct fetch_answer answer = said(200, bodies[i]);
        struct slurm_site site = {0};

        slurm_rest_read_qos(&answer, &site);
        assert_int_equal(site.qos_count, 2);
        assert_int_equal(slurm_site_time_ms(&site, NULL, "few"), 300000);
        assert_int_equal(slurm_site_time_ms(&site, NULL, "all"), 0);
        assert_int_equal(slurm_site_time_ms(&site, NULL, NULL), 0);
        slurm_site_clear(&site);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qos__are_told_in_several_ways),
        cmocka_unit_test(test_partitions__are_told_in_several_ways),
        cmocka_unit_test(test_partitions__that_are_none_are_no_answer),
        cmocka_unit_test(test_nodes__are_counted_where_they_are),
        cmocka_unit_test(test_clusters__say_whether_there_is_accounting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
