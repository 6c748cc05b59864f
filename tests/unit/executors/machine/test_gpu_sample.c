/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines as nvidia-smi writes them, from public reports of its users. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/compiler.h"
#include "executors/machine/gpu_sample.h"

#define TITAN_1 "GPU-86fe97db-bf54-a056-4e8d-9b07e1a298e7"
#define TITAN_2 "GPU-2090c509-a97a-e2fe-68f4-cf9e874c36f2"

static bool read_line(const char *line, struct gpu_sample *sample)
{
    return gpu_sample_read(line, strlen(line), sample);
}

static void test_gpu_sample__reads_lines_of_all_drivers(void **state)
{
    static const struct {
        const char *line;
        int64_t index, percent, mebibytes;
    } rows[] = {
        {"1, " TITAN_1 ", 86, 10032", 1, 86, 10032},
        {"0, " TITAN_2 ", 0, 0", 0, 0, 0},
        {"15, " TITAN_2 ", 100, 81920", 15, 100, 81920},
        /* without nounits, as of some wrappers */
        {"1, " TITAN_1 ", 86 %, 10032 MiB", 1, 86, 10032},
        {"2," TITAN_1 ",7,8\r", 2, 7, 8},
        /* of old drivers, of new ones, with MIG, of unified memory */
        {"2, " TITAN_1 ", [Not Supported], 8520", 2, -1, 8520},
        {"0, " TITAN_1 ", [N/A], 36537", 0, -1, 36537},
        {"0, " TITAN_1 ", N/A, [N/A]", 0, -1, -1},
        {"0, " TITAN_1 ", 41, [N/A]", 0, 41, -1},
        {"0, " TITAN_1 ", ERR!, ERR!", 0, -1, -1},
        {"0, " TITAN_1 ", [Unknown Error], [Unknown Error]", 0, -1, -1},
        {"0, " TITAN_1 ", [GPU requires reset], 12", 0, -1, 12},
        {"0, " TITAN_1 ", [Insufficient Permissions], 12", 0, -1, 12},
        {"0, [N/A], 3, 4", 0, 3, 4},
        {"0, " TITAN_1 ", 4294967295, 3", 0, -1, 3},
        {"0, " TITAN_1 ", -3, -4", 0, -1, -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct gpu_sample sample;

        assert_true(read_line(rows[i].line, &sample));
        assert_int_equal(sample.index, rows[i].index);
        assert_int_equal(sample.percent, rows[i].percent);
        assert_int_equal(sample.memory_bytes,
                         rows[i].mebibytes < 0 ? -1 : rows[i].mebibytes << 20);
    }
}

static void test_gpu_sample__passes_over_other_lines(void **state)
{
    static const char *const lines[] = {
        "",
        "\r",
        "No devices were found",
        "index, uuid, utilization.gpu [%], memory.used [MiB]",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA "
        "driver. Make sure that the latest NVIDIA driver is installed and "
        "running.",
        "Failed to initialize NVML: Driver/library version mismatch",
        "Unable to determine the device handle for GPU0000:01:00.0: GPU has "
        "fallen off the bus.",
        "[N/A], " TITAN_1 ", 1, 2",
        "64, " TITAN_1 ", 1, 2",
        "0, " TITAN_1 ", 1",
        "0, " TITAN_1 ", 1, 2, 3",
    };
    struct gpu_sample sample;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_false(read_line(lines[i], &sample));
}

static struct gpu_tally tally_of(const char *visible, const char *const *lines,
                                 size_t count)
{
    struct gpu_tally tally = {.samples = 0};
    struct gpu_sample sample;

    for (size_t i = 0; i < count; i++) {
        assert_true(read_line(lines[i], &sample));
        gpu_tally_add(&tally, visible, &sample);
    }
    return tally;
}

static void test_gpu_sample__counts_the_gpus_of_an_attempt(void **state)
{
    static const char *const lines[] = {
        "0, GPU-004f693d-767b-b215-b4a9-a18af0ffd643, 0, 802",
        "1, " TITAN_1 ", 80, 10032",
        "2, " TITAN_2 ", 40, 6442",
        "0, GPU-004f693d-767b-b215-b4a9-a18af0ffd643, 0, 802",
        "1, " TITAN_1 ", 100, 9000",
        "2, " TITAN_2 ", 60, 6459",
    };
    static const struct {
        const char *visible;
        int64_t busy_ms, mebibytes; /* of a second */
    } rows[] = {
        {"1", 900, 10032},
        {"2,1", 1400, 10032},
        {"0", 0, 802},
        {NULL, 1400, 10032},
        {TITAN_2, 500, 6459},
        {"GPU-2090", 500, 6459},
        {"7", -1, -1},
        {"", -1, -1},
        {"MIG-GPU-2090/1/0", -1, -1},
        {"MIG-c7384736-a75d-5afc-978f-d2f1294409fd", -1, -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct gpu_tally tally =
            tally_of(rows[i].visible, lines, ARRAY_LEN(lines));

        assert_int_equal(gpu_tally_busy_ms(&tally, 1000), rows[i].busy_ms);
        assert_int_equal(tally.has_memory ? tally.memory_bytes >> 20 : -1,
                         rows[i].mebibytes);
    }
}

static void test_gpu_sample__knows_memory_without_a_load(void **state)
{
    static const char *const lines[] = {"0, " TITAN_1 ", [N/A], 36537"};
    struct gpu_tally tally = tally_of(NULL, lines, ARRAY_LEN(lines));

    (void)state;
    assert_int_equal(gpu_tally_busy_ms(&tally, 1000), -1);
    assert_true(tally.has_memory);
    assert_int_equal(tally.memory_bytes, INT64_C(36537) << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpu_sample__reads_lines_of_all_drivers),
        cmocka_unit_test(test_gpu_sample__passes_over_other_lines),
        cmocka_unit_test(test_gpu_sample__counts_the_gpus_of_an_attempt),
        cmocka_unit_test(test_gpu_sample__knows_memory_without_a_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
