/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drive/failed_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/screen.h"
#include "base/text.h"
#include "cli/show/jobs/run_jobs.h"
#include "cli/term/term.h"
#include "orchestrator/job/states.h"
#include "store/store.h"

enum { TAIL_BYTES = 4096, TAIL_LINES = 5, LINE_BYTES = 300 };

struct printing {
    const struct run_view *view;
    const struct step_list *list; /* NULL: of an experiment */
    char **first;
    struct err *err;
};

struct last_attempt {
    char *cause, *text, *directory;
};

static void forget(struct last_attempt *last)
{
    free(last->cause);
    free(last->text);
    free(last->directory);
    *last = (struct last_attempt){NULL};
}

static int keep_attempt(void *user, const struct attempt_row *row)
{
    struct last_attempt *last = user;

    forget(last);
    last->cause = mem_copy_string(row->cause != NULL ? row->cause : "unknown");
    last->text = mem_copy_string(row->text != NULL ? row->text : "");
    last->directory = mem_copy_string(row->directory);
    return 0;
}

/* Where the last lines begin. */
static const char *last_lines(const char *text, size_t length)
{
    const char *at = text + length;
    int lines = 0;

    while (at > text && lines < TAIL_LINES) {
        at--;
        lines += at > text && at[-1] == '\n';
    }
    return at;
}

static void print_lines(const char *at)
{
    struct buf line = BUF_INIT;

    while (*at != '\0') {
        size_t bytes = strcspn(at, "\n");

        screen_line(at, bytes, &line);
        fprintf(stderr, "    %s\n", buf_text(&line));
        buf_truncate(&line, 0);
        at += bytes + (at[bytes] == '\n');
    }
    buf_clear(&line);
}

/* Appends the end of an attempt's log; nothing where none is there. */
static void read_tail(struct store *store, const struct last_attempt *last,
                      struct buf *text)
{
    char *path =
        mem_printf("%s/%s/log", store_directory(store), last->directory);

    (void)fs_read_tail(path, TAIL_BYTES, text);
    free(path);
}

static void print_tail(struct store *store, const struct last_attempt *last)
{
    struct buf text = BUF_INIT;

    read_tail(store, last, &text);
    print_lines(last_lines(buf_text(&text), text.length));
    buf_clear(&text);
}

static void print_attempt(const struct printing *printing, const char *name,
                          const struct last_attempt *last)
{
    struct buf shown = BUF_INIT;

    fprintf(stderr, "\n%s failed (%s)%s%s\n", name, last->cause,
            last->text[0] != '\0' ? ": " : "", term_shown(last->text, &shown));
    buf_clear(&shown);
    print_tail(printing->view->store, last);
}

/* Of a job that failed without an attempt: its step says why. */
static void print_unstarted(const struct printing *printing, const char *name,
                            const struct trial_row *job)
{
    const struct step_list *list = printing->list;
    const char *reason = NULL;
    struct buf shown = BUF_INIT;

    if (list != NULL && job->step >= 0 && (size_t)job->step < list->count)
        reason = list->lines[job->step].reason;
    fprintf(stderr, "\n%s failed%s %s\n", name, reason != NULL ? ":" : ",",
            reason != NULL ? term_shown(reason, &shown) : "and never started");
    buf_clear(&shown);
}

/* "train[3]", or "trial 3". */
static void print_name(const struct printing *printing,
                       const struct trial_row *job, struct buf *name)
{
    if (printing->list != NULL)
        run_jobs_print_name(printing->list, job, name);
    else
        buf_printf(name, "trial %" PRId64, job->number);
}

static int print_job(void *user, const struct trial_row *job)
{
    const struct printing *printing = user;
    const struct run_view *view = printing->view;
    struct last_attempt last = {NULL};
    struct buf name = BUF_INIT;
    int result = store_each_attempt(view->store, view->row.id, job->job,
                                    keep_attempt, &last, printing->err);

    if (result == 0) {
        print_name(printing, job, &name);
        if (last.directory != NULL)
            print_attempt(printing, buf_text(&name), &last);
        else
            print_unstarted(printing, buf_text(&name), job);
        if (*printing->first == NULL)
            *printing->first = mem_copy_string(buf_text(&name));
    }
    forget(&last);
    buf_clear(&name);
    return result;
}

int failed_jobs_print(const struct run_view *view, const struct step_list *list,
                      int64_t limit, char **first, struct err *err)
{
    const struct trial_query query = {.run = view->row.id,
                                      .order = ORDER_NUMBER,
                                      .state = job_state_names[JOB_FAILED],
                                      .limit = limit};
    struct printing printing = {view, list, first, err};

    *first = NULL;
    return store_each_trial(view->store, &query, print_job, &printing, err);
}

/* The last line with anything in it; of one that a progress bar wrote over
 * itself, what was seen in the end. */
static char *last_line(const char *text, size_t length)
{
    struct buf line = BUF_INIT;

    while (length > 0 && line.length == 0) {
        const char *begin = text + length;

        while (begin > text && begin[-1] != '\n')
            begin--;
        screen_line(begin, (size_t)(text + length - begin), &line);
        length = (size_t)(begin - text) - (begin > text);
    }
    buf_truncate(&line, text_cut(line.data, line.length, LINE_BYTES));
    return line.length > 0 ? buf_take(&line) : NULL;
}

/* False where there is none. */
static bool read_last(struct store *store, int64_t run, int64_t number,
                      struct last_attempt *last)
{
    int64_t job;

    return store_find_job(store, run, number, &job, NULL) == 0 &&
           store_each_attempt(store, run, job, keep_attempt, last, NULL) == 0 &&
           last->directory != NULL;
}

static int keep_number(void *user, const struct trial_row *job)
{
    *(int64_t *)user = job->number;
    return 0;
}

/* NULL where its log has none. */
static char *read_last_line(struct store *store,
                            const struct last_attempt *last)
{
    struct buf text = BUF_INIT;
    char *line;

    read_tail(store, last, &text);
    line = last_line(buf_text(&text), text.length);
    buf_clear(&text);
    return line;
}

/* One that ended by itself says it best; of others it is known what they met.
 */
static char *read_why(struct store *store, const struct last_attempt *last)
{
    char *line = NULL;

    if (last->text[0] == '\0' || strcmp(last->cause, "exit") == 0)
        line = read_last_line(store, last);
    return line != NULL ? line : mem_copy_string(last->text);
}

char *failed_jobs_first_words(struct store *store, int64_t run)
{
    const struct trial_query query = {.run = run,
                                      .order = ORDER_NUMBER,
                                      .state = job_state_names[JOB_FAILED],
                                      .limit = 1};
    struct last_attempt last = {NULL};
    int64_t number = 0;
    char *words = NULL, *why = NULL;

    if (store_each_trial(store, &query, keep_number, &number, NULL) == 0 &&
        read_last(store, run, number, &last))
        why = read_why(store, &last);
    if (why != NULL)
        words = mem_printf("trial %" PRId64 " (%s)%s%s", number, last.cause,
                           why[0] != '\0' ? ": " : "", why);
    free(why);
    forget(&last);
    return words;
}

char *failed_job_last_words(struct store *store, int64_t run, int64_t number)
{
    struct last_attempt last = {NULL};
    char *line = NULL;

    if (read_last(store, run, number, &last))
        line = read_last_line(store, &last);
    forget(&last);
    return line;
}
