/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "executors/slurm/talk/commands_impl.h"
#include "executors/slurm/talk/rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_rows(const struct slurm_row_form *form, const uint8_t *data,
                      size_t size)
{
    char *text = mem_copy_bytes(data, size);
    struct slurm_rows rows = {0};

    if (slurm_rows_parse(form, text, size, "s", &rows) == 0) {
        for (size_t i = 0; i < rows.count; i++) {
            assert(rows.jobs[i].id > 0);
            assert(rows.jobs[i].name[0] == 's');
            assert(rows.jobs[i].state != NULL);
            assert(rows.jobs[i].exit_code >= -1);
        }
    }
    slurm_rows_clear(&rows);
    free(text);
}

/* What squeue, sacct, sbatch, scontrol, sinfo and sacctmgr may have printed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int (*const takers[])(struct slurm_site *, char *, size_t) = {
        slurm_site_take_partitions, slurm_site_take_qos, slurm_site_take_user,
        slurm_site_take_cache};
    struct slurm_site site = {0};
    struct slurm_doubt doubt = {0};
    char *text;

    fuzz_rows(&slurm_queue_rows, data, size);
    fuzz_rows(&slurm_account_rows, data, size);
    text = mem_copy_bytes(data, size);
    assert(slurm_submit_id(text) >= 0);
    slurm_answer_of(text);
    slurm_reason_judge(&doubt, text, 1);
    slurm_site_take_config(&site, text, size);
    slurm_site_take_nodes(&site, text, size);
    free(text);
    for (size_t i = 0; i < ARRAY_LEN(takers); i++) {
        text = mem_copy_bytes(data, size);
        takers[i](&site, text, size);
        free(text);
    }
    slurm_site_clear(&site);
    return 0;
}
