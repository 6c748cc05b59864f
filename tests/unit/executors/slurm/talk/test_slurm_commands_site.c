/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of time as scontrol and sacctmgr of several versions print them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "executors/slurm/talk/commands_impl.h"

enum { MINUTE_MS = 60000 };

typedef int take_fn(struct slurm_site *site, char *text, size_t length);

static void take(take_fn *reader, struct slurm_site *site, const char *said)
{
    char *text = mem_copy_string(said);

    assert_int_equal(reader(site, text, strlen(text)), 0);
    free(text);
}

static void show_qos(const struct slurm_site *site, struct buf *out)
{
    for (size_t i = 0; i < site->qos_count; i++) {
        const struct slurm_qos *it = &site->qos_list[i];

        buf_printf(out, "%s %lld%s%s; ", it->name,
                   (long long)it->max_time_ms / MINUTE_MS,
                   it->is_over_partition_qos ? " qos" : "",
                   it->is_over_partition_time ? " time" : "");
    }
}

static void test_qos__of_sacctmgr(void **state)
{
    static const struct {
        const char *said, *expected;
    } cases[] = {
        /* 22.05: sacctmgr show qos format=Name,MaxWall,Flags */
        {"normal||\nfew|00:05:00|DenyOnLimit,OverPartQOS\n"
         "long|7-00:00:00|PartitionTimeLimit\n",
         "normal 0; few 5 qos; long 10080 time; "},
        /* 24.11 and 26.05: flags in another order, and new ones */
        {"normal||\nfew|00:05:00|DenyOnLimit,PartitionTimeLimit,OverPartQOS\n"
         "half|1-01:30:00|Relative,PartQOS\n",
         "normal 0; few 5 qos time; half 1530; "},
        {"", ""},
        /* a site's greeting, and a row that was cut */
        {"Welcome!\n\nnormal|00:01:00|\nfew|00:0", "normal 1; "},
        {"a|b|c|d\n||\nx|UNLIMITED|OverPartQOSX\n", "x 0; "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slurm_site site = {0};
        struct buf out = BUF_INIT;

        take(slurm_site_take_qos, &site, cases[i].said);
        show_qos(&site, &out);
        assert_string_equal(buf_text(&out), cases[i].expected);
        buf_clear(&out);
        slurm_site_clear(&site);
    }
}

static const char *or_none(const char *text)
{
    return text != NULL ? text : "-";
}

static void test_associations__of_sacctmgr(void **state)
{
    static const struct {
        const char *said, *expected;
    } cases[] = {
        {"lab|lab||normal|few,normal|\nlab|tight||normal|few,normal|00:50:00\n"
         "lab|lab|short|few|few|2-00:00:00\n",
         "lab: lab - normal 0; tight - normal 50; lab short few 2880; "},
        /* without a default QOS: the only one, or none */
        {"lab|lab|||few|\nlab|tight|||few,normal|\nlab|root||||\n",
         "lab: lab - few 0; tight - - 0; root - - 0; "},
        /* of a user without any on this cluster */
        {"|||||\n", "-: "},
        {"", "-: "},
        {"Welcome!\nlab|lab||normal|normal|00:07:00\nlab|ti",
         "lab: lab - normal 7; "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slurm_site site = {0};
        struct buf out = BUF_INIT;

        take(slurm_site_take_user, &site, cases[i].said);
        buf_printf(&out, "%s: ", or_none(site.account));
        for (size_t k = 0; k < site.association_count; k++) {
            const struct slurm_association *it = &site.associations[k];

            buf_printf(&out, "%s %s %s %lld; ", it->account,
                       or_none(it->partition), or_none(it->default_qos),
                       (long long)it->max_time_ms / MINUTE_MS);
        }
        assert_string_equal(buf_text(&out), cases[i].expected);
        buf_clear(&out);
        slurm_site_clear(&site);
    }
}

/* SBATCH_ACCOUNT, which sbatch takes before the default one. */
static void test_associations__leave_an_account_that_is_named(void **state)
{
    struct slurm_site site = {.account = mem_copy_string("ours")};

    (void)state;
    take(slurm_site_take_user, &site, "lab|lab||normal|normal|\n");
    assert_string_equal(site.account, "ours");
    slurm_site_clear(&site);
}

static void test_partitions__have_a_qos(void **state)
{
    /* 22.05 and 24.11; `CpuBind` is 26.05's, with a blank behind it */
    static const char said[] =
        "PartitionName=batch AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL "
        "AllocNodes=ALL Default=YES QoS=N/A DefaultTime=00:10:00 "
        "DisableRootJobs=NO\n"
        "PartitionName=short AllowGroups=ALL DenyAccounts=tight DenyQos=few "
        "AllocNodes=ALL Default=NO CpuBind=cores  QoS=half "
        "DefaultTime=00:01:00\n"
        "PartitionName=hidden AllowQos=half Default=NO QoS=few\n"
        "PartitionName=high AllowQos=half Default=NO\n"
        "\n";
    struct slurm_site site = {0};

    (void)state;
    slurm_site_add(&site, "batch");
    slurm_site_add(&site, "short");
    slurm_site_add(&site, "high");
    take(slurm_site_take_partitions, &site, said);
    take(slurm_site_take_partitions, &site, said);
    assert_int_equal(site.partition_count, 3);
    assert_null(site.partitions[0].qos);
    assert_string_equal(site.partitions[1].qos, "half");
    assert_null(site.partitions[2].qos);
    slurm_site_clear(&site);
}

static void test_qos__of_the_controller(void **state)
{
    /* scontrol show assoc_mgr flags=qos, of 22.05; 26.05 has no NONE */
    static const char said[] =
        "Current Association Manager state\n\nQOS Records\n\n"
        "QOS=normal(1)\n    UsageRaw=0.000000\n"
        "    GrpJobs=N(0) GrpJobsAccrue=N(0) GrpSubmitJobs=N(0) "
        "GrpWall=N(0.00)\n    MaxWallPJ=\n    Priority=NONE\n"
        "QOS=few(5)\n    UsageRaw=0.000000\n    MaxWallPJ=5\n"
        "    User Limits\n      0\n        MaxJobsPU=1(0)\n";
    struct slurm_site site = {0};
    struct buf out = BUF_INIT;

    (void)state;
    take(slurm_site_take_cache, &site, said);
    show_qos(&site, &out);
    assert_string_equal(buf_text(&out), "normal 0; few 5; ");
    buf_clear(&out);
    slurm_site_clear(&site);
}

static void test_config__enforces_limits_or_not(void **state)
{
    static const struct {
        const char *storage, *enforced;
        bool expected;
    } cases[] = {
        {"accounting_storage/slurmdbd", "associations,limits,qos", true},
        {"accounting_storage/slurmdbd", "associations,limits,qos,safe", true},
        {"accounting_storage/slurmdbd", "limits", true},
        {"accounting_storage/slurmdbd", "associations,qos", false},
        {"accounting_storage/slurmdbd", "none", false},
        {"accounting_storage/none", "limits", false},
        {"(null)", "none", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slurm_site site = {0};
        char *text = mem_printf("AccountingStorageEnforce = %s\n"
                                "AccountingStorageType   = %s\n"
                                "ClusterName             = lab\n"
                                "SLURM_VERSION           = 24.11.5\n",
                                cases[i].enforced, cases[i].storage);

        take(slurm_site_take_config, &site, text);
        assert_int_equal(site.enforces_limits, cases[i].expected);
        free(text);
        slurm_site_clear(&site);
    }
}

static void test_environment__is_what_sbatch_goes_by(void **state)
{
    static const char config[] = "ClusterName = lab\nSLURM_VERSION = 24.11.5\n";
    char *nodes = mem_copy_string(
        "PARTITION|AVAIL|NODES|CPUS|MEMORY|GRES|TIMELIMIT|DEFAULTTIME|"
        "NODELIST|\n"
        "batch*|up|4|16|1|(null)|infinite|10:00|n[1-4]|\n"
        "short|up|1|16|1|(null)|2:00|1:00|n1|\n");
    struct slurm_site site = {0};

    (void)state;
    for (char *bar = nodes; (bar = strchr(bar, '|')) != NULL;)
        *bar = '\x1f';
    setenv("SBATCH_PARTITION", "short", 1);
    setenv("SBATCH_ACCOUNT", "tight", 1);
    setenv("SBATCH_QOS", "", 1);
    take(slurm_site_take_config, &site, config);
    take(slurm_site_take_nodes, &site, nodes);
    assert_string_equal(site.account, "tight");
    assert_null(site.qos);
    assert_string_equal(slurm_site_partition(&site, NULL)->name, "short");
    setenv("SBATCH_PARTITION", "batch,short", 1);
    take(slurm_site_take_nodes, &site, nodes);
    assert_string_equal(slurm_site_partition(&site, NULL)->name, "batch");
    unsetenv("SBATCH_PARTITION");
    unsetenv("SBATCH_ACCOUNT");
    unsetenv("SBATCH_QOS");
    free(nodes);
    slurm_site_clear(&site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qos__of_sacctmgr),
        cmocka_unit_test(test_associations__of_sacctmgr),
        cmocka_unit_test(test_associations__leave_an_account_that_is_named),
        cmocka_unit_test(test_partitions__have_a_qos),
        cmocka_unit_test(test_qos__of_the_controller),
        cmocka_unit_test(test_config__enforces_limits_or_not),
        cmocka_unit_test(test_environment__is_what_sbatch_goes_by),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
