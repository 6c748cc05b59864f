/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What slurmrestd says of a cluster, in the words of several versions. */
#include "tests/unit/executors/slurm/talk/rest_test.h"

#include "base/buf.h"
#include "base/mem.h"

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

static void assert_site(const char *partitions, const char *nodes)
{
    struct fetch_answer answer = said(200, partitions);
    struct slurm_site site = {0};
    struct slurm_reply reply;
    const struct slurm_partition *batch;

    slurm_rest_read_partitions(&answer, &site, &reply);
    assert_int_equal(reply.answer, SLURM_DONE);
    answer = said(200, nodes);
    slurm_rest_read_nodes(&answer, &site, &reply);
    assert_int_equal(reply.answer, SLURM_DONE);
    assert_string_equal(site.version, "22.05.8");
    assert_int_equal(site.partition_count, 2);
    batch = slurm_site_partition(&site, "batch");
    assert_true(batch->is_up);
    assert_int_equal(batch->nodes, 2);
    assert_int_equal(batch->node_cpus, 8);
    assert_int_equal(batch->node_gpus, 4);
    assert_int_equal(batch->node_memory_bytes, INT64_C(16000) << 20);
    assert_int_equal(batch->default_time_ms, 600000);
    assert_int_equal(batch->max_time_ms, 0);
    assert_false(slurm_site_partition(&site, "short")->is_up);
    assert_int_equal(slurm_site_partition(&site, "short")->max_time_ms, 120000);
    slurm_site_clear(&site);
}

static void test_slurm_rest__reads_the_cluster(void **state)
{
    static const char nodes[] =
        "{\"errors\": [], \"nodes\": [{\"cpus\": 16, \"real_memory\": 32000, "
        "\"gres\": \"gpu:fake:4(S:0-1)\", \"partitions\": [\"batch\", "
        "\"short\"]}, {\"cpus\": 8, \"real_memory\": 16000, \"gres\": \"\", "
        "\"partitions\": [\"batch\"]}]}";

    (void)state;
    assert_site(
        "{" META ", \"errors\": [], \"partitions\": [{\"name\": \"batch\", "
        "\"flags\": [\"default\"], \"state\": \"UP\", \"default_time_limit\": "
        "10, \"max_time_limit\": -1}, {\"name\": \"short\", \"flags\": [], "
        "\"state\": \"DOWN\", \"default_time_limit\": null, "
        "\"max_time_limit\": 2}]}",
        nodes);
    assert_site(
        "{\"meta\": {\"slurm\": {\"release\": \"22.05.8\", \"cluster\": "
        "\"c\"}}, \"errors\": [], \"partitions\": [{\"name\": \"batch\", "
        "\"partition\": {\"state\": [\"UP\"]}, \"defaults\": {\"time\": "
        "{\"set\": true, \"infinite\": false, \"number\": 10}}, \"maximums\": "
        "{\"time\": {\"set\": false, \"infinite\": true, \"number\": 0}}}, "
        "{\"name\": \"short\", \"partition\": {\"state\": [\"DRAIN\"]}, "
        "\"maximums\": {\"time\": {\"set\": true, \"infinite\": false, "
        "\"number\": 2}}}]}",
        nodes);
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

static const struct slurm_qos *qos(const struct slurm_site *site,
                                   const char *name)
{
    for (size_t i = 0; i < site->qos_count; i++) {
        if (strcmp(site->qos_list[i].name, name) == 0)
            return &site->qos_list[i];
    }
    fail();
    return NULL;
}

static void test_qos__are_told_in_several_ways(void **state)
{
    static const char *const bodies[] = {
        "{\"QOS\": [{\"name\": \"few\", \"flags\": [\"DENY_LIMIT\", "
        "\"OVERRIDE_PARTITION_QOS\"], \"limits\": {\"max\": "
        "{\"wall_clock\": {\"per\": {\"job\": 5}}}}}, {\"name\": \"all\", "
        "\"flags\": [\"PARTITION_TIME_LIMIT\"], "
        "\"limits\": {\"max\": {\"wall_clock\": {\"per\": {\"job\": "
        "null}}}}}]}",
        "{\"qos\": [{\"name\": \"few\", \"flags\": "
        "[\"OVERRIDE_PARTITION_QOS\"], \"limits\": {\"max\": "
        "{\"wall_clock\": {\"per\": {\"qos\": {\"set\": true, \"number\": 3}, "
        "\"job\": {\"set\": true, \"infinite\": "
        "false, \"number\": 5}}}}}}, {\"name\": \"all\", \"flags\": "
        "[\"PARTITION_TIME_LIMIT\", \"RELATIVE\"], \"limits\": {\"max\": "
        "{\"wall_clock\": {\"per\": {\"job\": {\"set\": false, \"infinite\": "
        "true, \"number\": 0}}}}}}]}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        const struct fetch_answer answer = said(200, bodies[i]);
        struct slurm_site site = {0};

        slurm_rest_read_qos(&answer, &site);
        assert_int_equal(site.qos_count, 2);
        assert_int_equal(qos(&site, "few")->max_time_ms, 300000);
        assert_true(qos(&site, "few")->is_over_partition_qos);
        assert_false(qos(&site, "few")->is_over_partition_time);
        assert_int_equal(qos(&site, "all")->max_time_ms, 0);
        assert_false(qos(&site, "all")->is_over_partition_qos);
        assert_true(qos(&site, "all")->is_over_partition_time);
        slurm_site_clear(&site);
    }
}

/* Of versions 38, and 41 to 45: numbers are plain, or objects. */
static void test_associations__are_told_in_several_ways(void **state)
{
    static const char *const bodies[] = {
        "{\"associations\": ["
        "{\"account\": \"lab\", \"cluster\": \"lab\", \"user\": \"nobody\", "
        "\"partition\": null, \"default\": {\"qos\": \"normal\"}, "
        "\"is_default\": 1, \"max\": {\"jobs\": {\"per\": {\"count\": null, "
        "\"wall_clock\": null}, \"total\": null}, \"per\": {\"account\": "
        "{\"wall_clock\": 1}}}, \"qos\": [\"few\", \"normal\"]}, "
        "{\"account\": \"tight\", \"cluster\": \"lab\", \"user\": \"nobody\", "
        "\"partition\": \"short\", \"default\": {\"qos\": null}, "
        "\"is_default\": 0, \"max\": {\"jobs\": {\"per\": {\"count\": 9, "
        "\"wall_clock\": 50}}}, \"qos\": [\"few\"]}, "
        "{\"account\": \"root\", \"cluster\": \"lab\", \"user\": \"root\", "
        "\"is_default\": 1}, "
        "{\"account\": \"away\", \"cluster\": \"east\", \"user\": \"nobody\", "
        "\"is_default\": 1}]}",
        "{\"associations\": ["
        "{\"account\": \"lab\", \"cluster\": \"lab\", \"user\": \"nobody\", "
        "\"partition\": \"\", \"default\": {\"qos\": \"normal\"}, "
        "\"is_default\": true, \"max\": {\"jobs\": {\"per\": {\"wall_clock\": "
        "{\"set\": false, \"infinite\": true, \"number\": 0}}}}, "
        "\"qos\": [\"few\", \"normal\"]}, "
        "{\"account\": \"tight\", \"cluster\": \"lab\", \"user\": \"nobody\", "
        "\"partition\": \"short\", \"default\": {\"qos\": \"\"}, "
        "\"is_default\": false, \"max\": {\"jobs\": {\"per\": {\"wall_clock\": "
        "{\"set\": true, \"infinite\": false, \"number\": 50}}}}, "
        "\"qos\": [\"few\"]}, "
        "{\"account\": \"lab\", \"cluster\": \"lab\", \"user\": \"\", "
        "\"partition\": \"\", \"is_default\": false}, 3]}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        const struct fetch_answer answer = said(200, bodies[i]);
        struct slurm_site site = {.cluster = mem_copy_string("lab")};

        slurm_rest_read_associations(&answer, "nobody", &site);
        assert_int_equal(site.association_count, 2);
        assert_string_equal(site.account, "lab");
        assert_string_equal(site.associations[0].account, "lab");
        assert_null(site.associations[0].partition);
        assert_string_equal(site.associations[0].default_qos, "normal");
        assert_int_equal(site.associations[0].max_time_ms, 0);
        assert_string_equal(site.associations[1].partition, "short");
        assert_string_equal(site.associations[1].default_qos, "few");
        assert_int_equal(site.associations[1].max_time_ms, 50 * 60000);
        slurm_site_clear(&site);
    }
}

static void test_associations__that_are_not_reported_do_not_matter(void **state)
{
    static const struct {
        int status;
        const char *body;
    } cases[] = {{200, "{}"},
                 {200, "{\"associations\": {}}"},
                 {200, "nothing"},
                 {500, "{\"associations\": [{\"user\": \"nobody\"}]}"},
                 {200, "{\"errors\": [{\"error_number\": 9003, \"error\": "
                       "\"Nothing found\"}], \"associations\": []}"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct fetch_answer answer = said(cases[i].status, cases[i].body);
        struct slurm_site site = {0};

        slurm_rest_read_associations(&answer, "somebody", &site);
        assert_int_equal(site.association_count, 0);
        assert_null(site.account);
        slurm_site_clear(&site);
    }
}

static void test_partitions__have_a_qos(void **state)
{
    static const char *const bodies[] = {
        "{\"partitions\": [{\"name\": \"a\", \"allowed_qos\": \"few\", "
        "\"qos\": \"half\"}, {\"name\": \"b\", \"qos\": null}]}",
        "{\"partitions\": [{\"name\": \"a\", \"qos\": {\"allowed\": \"few\", "
        "\"deny\": \"\", \"assigned\": \"half\"}}, {\"name\": \"b\", \"qos\": "
        "{\"allowed\": \"\", \"deny\": \"\", \"assigned\": \"\"}}]}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        const struct fetch_answer answer = said(200, bodies[i]);
        struct slurm_site site = {0};
        struct slurm_reply reply;

        slurm_rest_read_partitions(&answer, &site, &reply);
        assert_string_equal(site.partitions[0].qos, "half");
        assert_null(site.partitions[1].qos);
        slurm_site_clear(&site);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qos__are_told_in_several_ways),
        cmocka_unit_test(test_associations__are_told_in_several_ways),
        cmocka_unit_test(
            test_associations__that_are_not_reported_do_not_matter),
        cmocka_unit_test(test_partitions__have_a_qos),
        cmocka_unit_test(test_partitions__are_told_in_several_ways),
        cmocka_unit_test(test_partitions__that_are_none_are_no_answer),
        cmocka_unit_test(test_nodes__are_counted_where_they_are),
        cmocka_unit_test(test_slurm_rest__reads_the_cluster),
        cmocka_unit_test(test_clusters__say_whether_there_is_accounting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
