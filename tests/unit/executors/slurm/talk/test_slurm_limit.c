/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which limit of time counts, as "Resource Limits" of Slurm's manual has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "executors/slurm/talk/limit.h"

enum { MINUTE_MS = 60000 };

static void add_qos(struct slurm_site *site, const char *name, int minutes)
{
    slurm_site_add_qos(site, name)->max_time_ms = (int64_t)minutes * MINUTE_MS;
}

static struct slurm_qos *qos(struct slurm_site *site, const char *name)
{
    for (size_t i = 0; i < site->qos_count; i++) {
        if (strcmp(site->qos_list[i].name, name) == 0)
            return &site->qos_list[i];
    }
    fail();
    return NULL;
}

static struct slurm_association *associate(struct slurm_site *site,
                                           const char *account,
                                           const char *partition,
                                           const char *default_qos, int minutes)
{
    struct slurm_association *it = slurm_site_add_association(site, account);

    it->partition = mem_copy_string(partition);
    it->default_qos = mem_copy_string(default_qos);
    it->max_time_ms = (int64_t)minutes * MINUTE_MS;
    return it;
}

static void add_partition(struct slurm_site *site, const char *name,
                          const char *its_qos, int usual, int most)
{
    struct slurm_partition *partition = slurm_site_add(site, name);

    partition->qos = mem_copy_string(its_qos);
    partition->default_time_ms = (int64_t)usual * MINUTE_MS;
    partition->max_time_ms = (int64_t)most * MINUTE_MS;
}

/* Partitions batch (the default one), bound (20 minutes) and floating (its QOS
 * has 30); QOS normal, few (5) and long (40); accounts lab and tight (50), and
 * of lab another association for the partition bound (12). */
static int make_site(void **state)
{
    struct slurm_site *site = mem_zero(sizeof(*site));

    site->has_accounting = site->enforces_limits = true;
    site->account = mem_copy_string("lab");
    add_partition(site, "batch", NULL, 10, 0);
    site->partitions[0].is_default = true;
    add_partition(site, "bound", NULL, 10, 20);
    add_partition(site, "floating", "Half", 10, 0);
    add_qos(site, "normal", 0);
    add_qos(site, "few", 5);
    add_qos(site, "long", 40);
    add_qos(site, "half", 30);
    associate(site, "lab", NULL, NULL, 0);
    associate(site, "lab", "bound", "normal", 12);
    associate(site, "tight", NULL, NULL, 50);
    *state = site;
    return 0;
}

static int clear_site(void **state)
{
    slurm_site_clear(*state);
    free(*state);
    return 0;
}

#define LIMIT(site, minutes, limiter, ...)                                     \
    assert_limit(site, minutes, limiter, &(const struct slurm_ask){__VA_ARGS__})

static void assert_limit(const struct slurm_site *site, int minutes,
                         const char *limiter, const struct slurm_ask *ask)
{
    struct slurm_limit limit = slurm_limit_of(site, ask);
    char text[SLURM_LIMITER_MAX] = "";

    if (limit.time_ms > 0)
        slurm_limiter_text(&limit, text);
    assert_string_equal(text, limiter);
    assert_int_equal(limit.time_ms, (int64_t)minutes * MINUTE_MS);
}

static void test_slurm_limit__a_named_qos(void **state)
{
    const struct slurm_site *site = *state;

    LIMIT(site, 0, "", .mode = NULL);
    LIMIT(site, 5, "QOS 'few'", .qos = "few");
    LIMIT(site, 5, "QOS 'few'", .qos = "FEW");
    LIMIT(site, 0, "", .qos = "unknown");
    LIMIT(site, 20, "partition 'bound'", .partition = "bound", .qos = "long");
    LIMIT(site, 5, "QOS 'few'", .partition = "bound", .qos = "few");
}

static void test_slurm_limit__extra_is_the_last_word(void **state)
{
    static const char *const long_form[] = {"--hold", "--qos=few"};
    static const char *const short_form[] = {"-qfew"};
    static const char *const others[] = {"-pbound", "-Atight", "--qos=long"};
    const struct slurm_site *site = *state;

    LIMIT(site, 5, "QOS 'few'", .extra = long_form, .extra_count = 2);
    LIMIT(site, 5, "QOS 'few'", .qos = "long", .extra = short_form,
          .extra_count = 1);
    LIMIT(site, 20, "partition 'bound'", .partition = "batch", .extra = others,
          .extra_count = 3);
    LIMIT(site, 50, "your association with account 'tight'",
          .extra = others + 1, .extra_count = 1);
}

static void test_slurm_limit__the_default_qos(void **state)
{
    struct slurm_site *site = *state;

    /* normal, which everybody has without another */
    qos(site, "normal")->max_time_ms = 3 * MINUTE_MS;
    LIMIT(site, 3, "QOS 'normal'", .mode = NULL);
    site->associations[0].default_qos = mem_copy_string("few");
    LIMIT(site, 5, "QOS 'few'", .mode = NULL);
    LIMIT(site, 3, "QOS 'normal'", .account = "tight");
    LIMIT(site, 40, "QOS 'long'", .qos = "long");
    /* SBATCH_QOS */
    site->qos = mem_copy_string("long");
    LIMIT(site, 40, "QOS 'long'", .mode = NULL);
    LIMIT(site, 5, "QOS 'few'", .qos = "few");
}

static void test_slurm_limit__the_qos_of_a_partition_comes_first(void **state)
{
    struct slurm_site *site = *state;

    LIMIT(site, 30, "QOS 'half'", .partition = "floating");
    /* also where the job's own is shorter, or longer */
    LIMIT(site, 30, "QOS 'half'", .partition = "floating", .qos = "few");
    LIMIT(site, 30, "QOS 'half'", .partition = "floating", .qos = "long");
    qos(site, "few")->is_over_partition_qos = true;
    qos(site, "long")->is_over_partition_qos = true;
    qos(site, "normal")->is_over_partition_qos = true;
    LIMIT(site, 5, "QOS 'few'", .partition = "floating", .qos = "few");
    LIMIT(site, 40, "QOS 'long'", .partition = "floating", .qos = "long");
    /* one without a limit leaves it to the next */
    LIMIT(site, 30, "QOS 'half'", .partition = "floating");
    qos(site, "half")->max_time_ms = 0;
    qos(site, "few")->is_over_partition_qos = false;
    LIMIT(site, 5, "QOS 'few'", .partition = "floating", .qos = "few");
}

static void test_slurm_limit__an_association_comes_after_any_qos(void **state)
{
    struct slurm_site *site = *state;

    LIMIT(site, 50, "your association with account 'tight'",
          .account = "Tight");
    LIMIT(site, 40, "QOS 'long'", .account = "tight", .qos = "long");
    site->associations[2].max_time_ms = 2 * MINUTE_MS;
    LIMIT(site, 40, "QOS 'long'", .account = "tight", .qos = "long");
    LIMIT(site, 30, "QOS 'half'", .account = "tight", .partition = "floating");
    LIMIT(site, 0, "", .account = "unknown");
}

static void test_slurm_limit__of_a_partition_has_its_association(void **state)
{
    struct slurm_site *site = *state;

    LIMIT(site, 12, "your association with account 'lab'",
          .partition = "bound");
    LIMIT(site, 20, "partition 'bound'", .partition = "bound",
          .account = "tight");
    /* also where it is the default one */
    site->partitions[0].is_default = false;
    site->partitions[1].is_default = true;
    LIMIT(site, 12, "your association with account 'lab'", .mode = NULL);
}

static void test_slurm_limit__a_partition_bounds_all(void **state)
{
    struct slurm_site *site = *state;

    LIMIT(site, 20, "partition 'bound'", .partition = "bound", .qos = "long");
    qos(site, "long")->is_over_partition_time = true;
    LIMIT(site, 40, "QOS 'long'", .partition = "bound", .qos = "long");
    qos(site, "long")->max_time_ms = 0;
    site->associations[1].max_time_ms = 0;
    LIMIT(site, 0, "", .partition = "bound", .qos = "long");
    /* several: that is Slurm's to find out */
    LIMIT(site, 0, "", .partition = "bound,batch");
}

static void test_slurm_limit__counts_where_it_is_enforced(void **state)
{
    struct slurm_site *site = *state;

    site->enforces_limits = false;
    LIMIT(site, 0, "", .qos = "few");
    LIMIT(site, 0, "", .account = "tight");
    LIMIT(site, 20, "partition 'bound'", .partition = "bound", .qos = "few");
}

static void test_slurm_limit__below_what_a_job_gets_unasked(void **state)
{
    const struct slurm_ask few = {.qos = "few"}, long_one = {.qos = "long"};
    const struct slurm_ask nothing = {.mode = NULL};
    const struct slurm_ask bound = {.partition = "bound", .qos = "long"};
    struct slurm_site *site = *state;

    assert_true(slurm_limit_of(site, &few).is_below_default);
    assert_false(slurm_limit_of(site, &long_one).is_below_default);
    assert_false(slurm_limit_of(site, &nothing).is_below_default);
    assert_false(slurm_limit_of(site, &bound).is_below_default);
    site->partitions[0].default_time_ms = 0;
    assert_true(slurm_limit_of(site, &long_one).is_below_default);
    assert_false(slurm_limit_of(site, &nothing).is_below_default);
    /* The default is the most time then, which does not bound the job. */
    site->partitions[1].default_time_ms = 0;
    qos(site, "long")->is_over_partition_time = true;
    assert_false(slurm_limit_of(site, &bound).is_below_default);
    site->partitions[1].max_time_ms = (int64_t)50 * MINUTE_MS;
    assert_true(slurm_limit_of(site, &bound).is_below_default);
    site->partitions[1].max_time_ms = 0;
    assert_true(slurm_limit_of(site, &bound).is_below_default);
}

static void test_slurm_limit__move_with_their_site(void **state)
{
    struct slurm_site *site = *state, other = {0};

    slurm_site_add_qos(&other, "replaced");
    qos(site, "few")->is_over_partition_qos = true;
    slurm_site_move(&other, site);
    assert_int_equal(site->partition_count, 0);
    slurm_site_clear(site);
    LIMIT(&other, 5, "QOS 'few'", .partition = "floating", .qos = "few");
    LIMIT(&other, 30, "QOS 'half'", .partition = "floating");
    LIMIT(&other, 12, "your association with account 'lab'",
          .partition = "bound");
    slurm_site_clear(&other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_site, clear_site)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_slurm_limit__a_named_qos),
        TEST(test_slurm_limit__extra_is_the_last_word),
        TEST(test_slurm_limit__the_default_qos),
        TEST(test_slurm_limit__the_qos_of_a_partition_comes_first),
        TEST(test_slurm_limit__an_association_comes_after_any_qos),
        TEST(test_slurm_limit__of_a_partition_has_its_association),
        TEST(test_slurm_limit__a_partition_bounds_all),
        TEST(test_slurm_limit__counts_where_it_is_enforced),
        TEST(test_slurm_limit__below_what_a_job_gets_unasked),
        TEST(test_slurm_limit__move_with_their_site),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
