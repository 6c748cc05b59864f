/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "executors/machine/gpu_models.h"

/* Of a machine in a report (YoRyan/nuxhash, pull request 10). */
static const char mixed[] =
    "0, GPU-f3da2e71-6e43-729a-e3ae-f731ed96d50c, GeForce GTX 1060 6GB\n"
    "1, GPU-15ea7bf9-1a0e-2d7f-9c62-c28e5ca1aaf1, GeForce GTX 1080 Ti\n"
    "2, GPU-3dc4f2b0-6e1b-c088-c342-4367c334795a, GeForce GTX 1060 6GB\n"
    "3, GPU-03ddeff3-19c4-6676-d02d-6942bd80630d, GeForce GTX 1060 6GB\n"
    "4, GPU-ff3318a7-f0dd-dc57-1fb8-cc95ba35c56e, GeForce GTX 1060 6GB\n";

static void test_gpu_models__are_those_of_the_list(void **state)
{
    const struct gpu gpus[] = {{"0"}, {"1"}, {"2"}, {"3"}, {"4"}};
    struct gpu_models models;
    uint64_t set;

    (void)state;
    gpu_models_read(mixed, gpus, 5, &models);
    assert_string_equal(models.names[0], "GeForce GTX 1060 6GB");
    assert_string_equal(models.names[1], "GeForce GTX 1080 Ti");
    assert_int_equal(gpu_models_choose(&models, "gtx1060", 4, &set, NULL), 0);
    assert_int_equal(set, 1 | 4 | 8 | 16);
    assert_int_equal(gpu_models_choose(&models, "1080_ti", 1, &set, NULL), 0);
    assert_int_equal(set, 2);
}

/* As CUDA_VISIBLE_DEVICES names them: by index, by UUID, by its beginning. */
static void test_gpu_models__are_found_by_all_names(void **state)
{
    const struct gpu gpus[] = {{"4"},
                               {"GPU-15ea7bf9-1a0e-2d7f-9c62-c28e5ca1aaf1"},
                               {"GPU-3dc4"},
                               {"7"}};
    struct gpu_models models;

    (void)state;
    gpu_models_read(mixed, gpus, 4, &models);
    assert_string_equal(models.names[0], "GeForce GTX 1060 6GB");
    assert_string_equal(models.names[1], "GeForce GTX 1080 Ti");
    assert_string_equal(models.names[2], "GeForce GTX 1060 6GB");
    assert_string_equal(models.names[3], "");
}

static void test_gpu_models__too_few_are_refused_with_what_there_is(
    void **state)
{
    const struct gpu gpus[] = {{"0"}, {"1"}, {"2"}, {"9"}};
    struct gpu_models models;
    struct err err;
    uint64_t set;

    (void)state;
    gpu_models_read(mixed, gpus, 4, &models);
    assert_int_equal(gpu_models_choose(&models, "1080", 2, &set, &err), -1);
    assert_string_equal(
        err.text, "needs 2 GPUs of type '1080', this machine has 1 (its GPUs: "
                  "2 GeForce GTX 1060 6GB, 1 GeForce GTX 1080 Ti, 1 without a "
                  "name)");
    models.count = 0;
    assert_int_equal(gpu_models_choose(&models, "a100", 1, &set, &err), -1);
    assert_string_equal(err.text, "needs 1 GPU of type 'a100', this machine "
                                  "has 0 (its GPUs: none)");
}

/* As nvidia-smi -L prints them, with drivers since 470 and before. */
static void test_gpu_models__mig_devices_have_a_profile(void **state)
{
    static const char list[] =
        "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6)\n"
        "  MIG 3g.20gb     Device  0: (UUID: MIG-c6d4f1ef-42e4)\n"
        "  MIG 1g.5gb      Device  1: (UUID: MIG-cba663e8-9bed)\n"
        "  MIG 1c.3g.20gb  Device  2: (UUID: MIG-2c3e53a4-0b4e)\n"
        "GPU 1: NVIDIA H100 NVL (UUID: GPU-81495ec7)\n"
        "  MIG 1g.12gb Device 0: (UUID: MIG-GPU-81495ec7/9/0)\n";
    const struct gpu gpus[] = {{"MIG-cba663e8-9bed"},
                               {"MIG-GPU-81495ec7/9/0"},
                               {"MIG-c6d4"},
                               {"MIG-2c3e53a4-0b4e"},
                               {"MIG-ffff"}};
    struct gpu_models models;
    struct err err;
    uint64_t set;

    (void)state;
    gpu_models_read("", gpus, 5, &models);
    gpu_models_read_mig(list, gpus, &models);
    assert_string_equal(models.names[0], "NVIDIA A100-SXM4-40GB MIG 1g.5gb");
    assert_string_equal(models.names[1], "NVIDIA H100 NVL MIG 1g.12gb");
    assert_string_equal(models.names[2], "NVIDIA A100-SXM4-40GB MIG 3g.20gb");
    assert_string_equal(models.names[4], "");
    assert_int_equal(gpu_models_choose(&models, "3g.20gb", 1, &set, NULL), 0);
    assert_int_equal(set, 4);
    assert_int_equal(gpu_models_choose(&models, "h100_1g.12gb", 1, &set, NULL),
                     0);
    assert_int_equal(set, 2);
    models.count = 2;
    assert_int_equal(gpu_models_choose(&models, "a100", 1, &set, &err), -1);
    assert_string_equal(err.text,
                        "needs 1 GPU of type 'a100', this machine has 0 (its "
                        "GPUs: 1 NVIDIA A100-SXM4-40GB MIG 1g.5gb, 1 NVIDIA "
                        "H100 NVL MIG 1g.12gb)");
    gpu_models_read_mig("No devices were found\n\n  MIG x\nGPU 0:\n", gpus,
                        &models);
    assert_string_equal(models.names[0], "NVIDIA A100-SXM4-40GB MIG 1g.5gb");
}

/* What may come in place of a list. */
static void test_gpu_models__nonsense_names_nothing(void **state)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "0",
        "0,",
        "0, GPU-1",
        ",,,\n",
        "No devices were found\n",
        "0, , \n",
        "Unable to determine the device handle for GPU 0000:01:00.0: Unknown"};
    const struct gpu gpus[] = {{"0"}};
    struct gpu_models models;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        gpu_models_read(texts[i], gpus, 1, &models);
        assert_string_equal(models.names[0], "");
    }
}

static void test_gpu_models__types_are_whole_words(void **state)
{
    static const struct {
        const char *model, *type;
        bool is;
    } rows[] = {
        {"NVIDIA A100-SXM4-80GB", "a100", true},
        {"NVIDIA A100-SXM4-80GB", "A100-SXM4", true},
        {"NVIDIA A100-SXM4-80GB", "nvidia_a100-sxm4-80gb", true},
        {"NVIDIA A100-SXM4-80GB", "80gb", true},
        {"NVIDIA A100-SXM4-80GB", "a10", false},
        {"NVIDIA A100-SXM4-80GB", "100", false},
        {"NVIDIA A100-SXM4-80GB", "a100-80gb", false},
        {"NVIDIA A100 80GB PCIe", "a100_80gb", true},
        {"NVIDIA A10", "a10", true},
        {"NVIDIA A10G", "a10", false},
        {"NVIDIA GeForce RTX 4090", "rtx4090", true},
        {"NVIDIA GeForce RTX 4090", "rtx_4090", true},
        {"NVIDIA GeForce RTX 4090", "rtx40", false},
        {"NVIDIA RTX A6000", "a6000", true},
        {"NVIDIA RTX 6000 Ada Generation", "rtx6000-ada", true},
        {"NVIDIA H100 80GB HBM3", "h100", true},
        {"NVIDIA GH200 480GB", "h200", false},
        {"Tesla V100-SXM2-32GB", "v100", true},
        {"NVIDIA DGX Display", "a100", false},
        {"", "a100", false},
        {"NVIDIA A100", "-", false},
        {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "1g.5gb", true},
        {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "A100_1G.5GB", true},
        {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "nvidia_a100-sxm4-40gb_1g.5gb",
         true},
        {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "a100", false},
        {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "a10_1g.5gb", false},
        {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "5gb", false},
        {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "11g.5gb", false},
        {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "-", false},
        {"NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb", "3g.20gb", false},
        {"NVIDIA A100-SXM4-40GB", "a100_1g.5gb", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (gpu_model_is(rows[i].model, rows[i].type) != rows[i].is)
            fail_msg("'%s' and '%s'", rows[i].model, rows[i].type);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpu_models__are_those_of_the_list),
        cmocka_unit_test(test_gpu_models__are_found_by_all_names),
        cmocka_unit_test(
            test_gpu_models__too_few_are_refused_with_what_there_is),
        cmocka_unit_test(test_gpu_models__mig_devices_have_a_profile),
        cmocka_unit_test(test_gpu_models__nonsense_names_nothing),
        cmocka_unit_test(test_gpu_models__types_are_whole_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
