/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "executors/slurm/talk/rest_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What slurmrestd may answer: the first byte says to what. Rows come only with
 * an answer that was understood, and are whole. */

enum { PREFIX_UID = 1000 };

static void check_rows(const struct slurm_rest_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct slurm_job *job = &rows->jobs[i];

        assert(job->id > 0 && job->array >= 0 && job->task >= -1);
        assert(job->array > 0 || job->task == -1);
        assert(job->name != NULL && job->nodes != NULL && job->reason != NULL);
        assert(job->state != NULL && job->word[0] != '\0');
        assert(job->exit_code >= -1 && job->exit_code <= UINT8_MAX);
        assert(job->signal >= 0 && job->restarts >= 0);
        assert(job->start_ms >= 0 && job->end_ms >= 0);
    }
}

static void read_rows(const struct fetch_answer *answer, bool is_account)
{
    struct slurm_rest_rows rows = {0};
    struct slurm_reply reply;

    if (is_account)
        slurm_rest_read_account(answer, 1, &rows, &reply);
    else
        slurm_rest_read_jobs(answer, "smt-", PREFIX_UID, &rows, &reply);
    assert(reply.answer == SLURM_DONE || reply.text[0] != '\0');
    assert(is_account || reply.answer == SLURM_DONE || rows.count == 0);
    check_rows(&rows);
    slurm_rest_rows_clear(&rows);
}

static void read_site(const struct fetch_answer *answer)
{
    struct slurm_site site = {0};
    struct slurm_reply reply;

    slurm_rest_read_partitions(answer, &site, &reply);
    if (reply.answer == SLURM_DONE)
        slurm_rest_read_nodes(answer, &site, &reply);
    if (reply.answer == SLURM_DONE)
        slurm_rest_read_clusters(answer, &site);
    slurm_rest_read_qos(answer, &site);
    slurm_rest_read_associations(answer, "nobody", &site);
    slurm_site_clear(&site);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fetch_answer answer = {.status = 200, .text = ""};
    struct slurm_reply reply;
    int64_t number;
    char *body;

    if (size == 0)
        return 0;
    body = mem_copy_bytes(data + 1, size - 1);
    answer.body = body;
    answer.body_bytes = size - 1;
    if (data[0] & 0x80)
        answer.status = 500;
    switch (data[0] % 4) {
    case 0:
        read_rows(&answer, false);
        break;
    case 1:
        read_rows(&answer, true);
        break;
    case 2:
        read_site(&answer);
        break;
    default:
        slurm_rest_version(&answer, NULL);
        json_decref(slurm_rest_judge(&answer, NULL, &number, &reply));
        break;
    }
    free(body);
    return 0;
}
