/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/api/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "dashboard/api/api.h"
#include "dashboard/log_file.h"
#include "store/store.h"

/* An attempt's log, a piece at a time. */

#define LENGTH_FALLBACK "65536"
enum { LENGTH_MAX = 1 << 20 };

struct search {
    int64_t attempt; /* its number */
    char *directory; /* NULL: not found */
};

static int keep_directory(void *user, const struct attempt_row *row)
{
    struct search *search = user;

    if (row->number != search->attempt)
        return 0;
    search->directory = mem_copy_string(row->directory);
    return 1;
}

char *log_directory(const struct request *request, struct store *store,
                    struct err *err)
{
    int64_t run = request_id(request, 0), number = request_id(request, 1);
    struct search search = {.attempt = request_id(request, 2)};
    int64_t job;

    if (store_find_job(store, run, number, &job, err) < 0)
        return NULL;
    if (job != 0 &&
        store_each_attempt(store, run, job, keep_directory, &search, err) < 0)
        return NULL;
    if (search.directory == NULL)
        err_set(err, ERR_NOT_FOUND,
                "run %" PRId64 " has no attempt %" PRId64 " of job %" PRId64,
                run, search.attempt, number);
    return search.directory;
}

static int read_log(const struct request *request, const char *store,
                    const char *directory, struct answer *answer,
                    struct err *err)
{
    struct log_piece piece = {0};
    struct buf bytes = BUF_INIT;
    struct log_file file;
    int status = 0;

    if (log_file_open(store, directory, request_int(request, "rank"), &file,
                      err) != 0)
        return -1;
    if (file.fd >= 0) {
        status =
            log_file_read(file.fd, request_int(request, "from"),
                          request_int(request, "length"), &piece, &bytes, err);
        close(file.fd);
    }
    if (status != 0) {
        buf_clear(&bytes);
        return -1;
    }
    answer->is_piece = true;
    answer->from_byte = piece.from_byte;
    answer->size_bytes = piece.size_bytes;
    answer_header(answer, "X-Smtune-Ranks", "%" PRId64, file.rank_count);
    return answer_bytes(answer, "text/plain; charset=utf-8",
                        blob_create(&bytes));
}

static int answer_log(const struct request *request, struct store *store,
                      struct answer *answer, struct err *err)
{
    char *directory = log_directory(request, store, err);
    int status;

    if (directory == NULL)
        return -1;
    status = read_log(request, store_directory(store), directory, answer, err);
    free(directory);
    return status;
}

const struct route log_routes[] = {
    {.method = "GET",
     .path = "/api/v1/runs/{run}/jobs/{job}/attempts/{attempt}/log",
     .role = ROLE_VIEWER,
     .summary = "A piece of an attempt's log, unchanged; empty if there is no "
                "log yet.",
     .queries = {{.name = "from",
                  .type = QUERY_INT,
                  .min = -QUERY_INT_MAX,
                  .max = QUERY_INT_MAX,
                  .fallback = "0",
                  .doc = "the first byte; negative: counted from the end"},
                 {.name = "length",
                  .type = QUERY_INT,
                  .min = 0,
                  .max = LENGTH_MAX,
                  .fallback = LENGTH_FALLBACK,
                  .doc = "maximum number of bytes"},
                 {.name = "rank",
                  .type = QUERY_INT,
                  .min = 0,
                  .max = LOG_RANK_MAX,
                  .fallback = "0",
                  .doc = "the log of this rank, if the trial has several"}},
     .answers = "Log",
     .answer = answer_log},
    {0}};
