/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_EXECUTORS_SLURM_TALK_REST_TEST_H
#define SMTUNE_TESTS_UNIT_EXECUTORS_SLURM_TALK_REST_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "executors/slurm/talk/rest_impl.h"

/* Answers of slurmrestd. */

enum { UID = 1000 };

#define META                                                                   \
    "\"meta\": {\"plugin\": {\"type\": \"openapi\\/v0.0.38\"}, \"Slurm\": "    \
    "{\"version\": {\"major\": 22}, \"release\": \"22.05.8\"}}"

UNUSED static struct fetch_answer said(int status, const char *body)
{
    return (struct fetch_answer){
        .status = status, .text = "", .body = body, .body_bytes = strlen(body)};
}

UNUSED static void read_jobs(const char *body, struct slurm_rest_rows *rows,
                             struct slurm_reply *reply)
{
    const struct fetch_answer answer = said(200, body);

    memset(rows, 0, sizeof(*rows));
    slurm_rest_read_jobs(&answer, "smt-0badcafe-", UID, rows, reply);
}

#endif
