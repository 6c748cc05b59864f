/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/metrics/metrics.h"
#include "cli/cmd.h"

/* One write, so that the lines of several processes never mix. */
static int append(const char *path, const struct buf *line, struct err *err)
{
    int fd = fs_shared_open(path, O_WRONLY | O_APPEND, 0600);
    ssize_t written;
    int rc = 0;

    if (fd < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot open %s", path);
    written = write(fd, line->data, line->length);
    if (written != (ssize_t)line->length)
        rc = err_set_errno(err, ERR_FAILED, written < 0 ? errno : ENOSPC,
                           "cannot write to %s", path);
    close(fd);
    return rc;
}

/* "rank=3" where a launcher of several processes names this one; NULL: none
 * does. The caller frees it. */
static char *rank_word(char *const *operands, int count)
{
    static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK"};

    for (int i = 0; i < count; i++)
        if (strncmp(operands[i], "rank=", 5) == 0)
            return NULL;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *rank = getenv(names[i]);

        if (rank != NULL && rank[0] != '\0' &&
            rank[strspn(rank, "0123456789")] == '\0')
            return mem_printf("rank=%s", rank);
    }
    return NULL;
}

static int print_line(char *const *operands, int count, struct buf *line,
                      struct err *err)
{
    char **words = mem_array((size_t)count + 1, sizeof(*words));
    char *rank = rank_word(operands, count);
    int rc;

    memcpy(words, operands, (size_t)count * sizeof(*words));
    words[count] = rank;
    rc = metric_report_line(words, (size_t)count + (rank != NULL), line, err);
    free(rank);
    free(words);
    return rc;
}

static int exec_report(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    const char *path = getenv("SMTUNE_METRICS");
    struct buf line = BUF_INIT;
    int rc;

    (void)cli, (void)options;
    if (path == NULL || path[0] == '\0')
        return err_set(err, ERR_USAGE,
                       "SMTUNE_METRICS is not set: 'smtune report' works only "
                       "inside a trial");
    rc = print_line(operands, count, &line, err);
    if (rc == 0)
        rc = append(path, &line, err);
    buf_clear(&line);
    return rc;
}

const struct cmd cmd_report = {
    .name = "report",
    .operands = "NAME=NUMBER...",
    .summary = "report metrics from inside a trial",
    .details = "Appends one line to the file of SMTUNE_METRICS, which "
               "smtune sets\n"
               "for every trial. A NUMBER is a decimal, nan, inf or -inf. "
               "A word\n"
               "`step=N` sets the step of the others; without one, each "
               "report of a\n"
               "metric is one step after its last. Several processes of "
               "the trial\n"
               "may report at the same time. With RANK (or "
               "OMPI_COMM_WORLD_RANK) set, only\n"
               "the values of rank 0 count.\n",
    .examples = "smtune report loss=0.2              # one metric\n"
                "smtune report step=3 loss=0.2 acc=0.93\n",
    .min_operands = 1,
    .max_operands = -1,
    .without_config = true,
    .exec = exec_report,
};
