/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "executors/machine/gpus.h"
#include "tests/unit/folder.h"

/* Each test lays out the driver's files in a folder that stands for "/". */

static void put_gpu(const char *root, const char *address, int minor)
{
    char folder[96], name[32], text[256];

    snprintf(folder, sizeof(folder), "proc/driver/nvidia/gpus/%s", address);
    snprintf(text, sizeof(text),
             "Model: \t\t NVIDIA H100\nIRQ:   \t\t 18\n"
             "Bus Location: \t %s\nDevice Minor: \t %d\nGPU Excluded:\t No\n",
             address, minor);
    put(root, folder, "information", text);
    snprintf(name, sizeof(name), "nvidia%d", minor);
    put(root, "dev", name, "");
}

static void test_gpus__none_without_a_driver(void **state)
{
    struct gpu gpus[GPUS_MAX];

    assert_int_equal(gpus_find(*state, NULL, gpus), 0);
    assert_int_equal(gpus_find(*state, "0,1", gpus), 0);
}

static void test_gpus__are_those_the_driver_describes(void **state)
{
    struct gpu gpus[GPUS_MAX];

    put_gpu(*state, "0000:3b:00.0", 1);
    put_gpu(*state, "0000:af:00.0", 0);
    assert_int_equal(gpus_find(*state, NULL, gpus), 2);
    assert_string_equal(gpus[0].name, "0");
    assert_string_equal(gpus[1].name, "1");
}

static void test_gpus__without_a_device_file_do_not_count(void **state)
{
    struct gpu gpus[GPUS_MAX];

    put_gpu(*state, "0000:3b:00.0", 0);
    put(*state, "proc/driver/nvidia/gpus/0000:af:00.0", "information",
        "Device Minor: \t 5\n");
    put(*state, "proc/driver/nvidia/gpus/0000:b0:00.0", "information", "");
    assert_int_equal(gpus_find(*state, NULL, gpus), 1);
}

static void test_gpus__device_files_count_where_none_are_described(void **state)
{
    struct gpu gpus[GPUS_MAX];

    put(*state, "dev", "nvidia0", "");
    put(*state, "dev", "nvidia1", "");
    put(*state, "dev", "nvidia10", "");
    put(*state, "dev", "nvidiactl", "");
    put(*state, "dev", "nvidia-uvm", "");
    put(*state, "dev", "nvidia0x", "");
    assert_int_equal(gpus_find(*state, NULL, gpus), 3);
    assert_string_equal(gpus[2].name, "2");
}

static void test_gpus__are_those_that_are_visible(void **state)
{
    static const struct {
        const char *visible;
        size_t count;
        const char *last;
    } cases[] = {
        {"3", 1, "3"},
        {"1,3", 2, "3"},
        {"", 0, NULL},
        {"-1", 0, NULL},
        {"2,-1,3", 1, "2"},
        {"GPU-0b1c-22,MIG-7", 2, "MIG-7"},
        {"0,,1", 1, "0"},
        {"0,../../x", 1, "0"},
        {"0,1,", 2, "1"},
        /* MIG devices, as nvidia-smi -L of drivers since 470 and before */
        {"MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f,"
         "MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb",
         2, "MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb"},
        {"MIG-GPU-9de3d0e8-33f5-10dc-0c79-2c88a7ab0a23/2/0", 1,
         "MIG-GPU-9de3d0e8-33f5-10dc-0c79-2c88a7ab0a23/2/0"},
        {"0,1/2", 1, "0"},
        {"MIG-a/../../x", 0, NULL},
    };
    struct gpu gpus[GPUS_MAX];

    put(*state, "dev", "nvidia0", "");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(gpus_find(*state, cases[i].visible, gpus),
                         cases[i].count);
        if (cases[i].count > 0)
            assert_string_equal(gpus[cases[i].count - 1].name, cases[i].last);
    }
}

static void test_gpus__are_bounded(void **state)
{
    struct gpu gpus[GPUS_MAX];
    char visible[1000] = "0";
    char name[32];

    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "nvidia%d", i);
        put(*state, "dev", name, "");
        snprintf(visible + strlen(visible), 16, ",%d", i);
    }
    assert_int_equal(gpus_find(*state, NULL, gpus), GPUS_MAX);
    assert_int_equal(gpus_find(*state, visible, gpus), GPUS_MAX);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_gpus__none_without_a_driver),
        IN_FOLDER(test_gpus__are_those_the_driver_describes),
        IN_FOLDER(test_gpus__without_a_device_file_do_not_count),
        IN_FOLDER(test_gpus__device_files_count_where_none_are_described),
        IN_FOLDER(test_gpus__are_those_that_are_visible),
        IN_FOLDER(test_gpus__are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
