/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of logs in which a text is: of one attempt's log, or of all logs of
 * a run, by the ids of the attempts. A request searches as much as its bounds
 * allow (log_search.h). Its answer has the place where it stopped, as a text
 * that the next request brings along, so that the server keeps nothing between
 * the two.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "dashboard/api/api.h"
#include "dashboard/api/log.h"
#include "dashboard/log_file.h"
#include "dashboard/log_hits.h"
#include "dashboard/log_search.h"
#include "store/changes.h"
#include "store/store.h"

#define LIMIT_FALLBACK "100"
enum { LIMIT_MAX = 500, ATTEMPTS_MAX = 1000 /* that a request looks at */ };

/* ---- where to go on ---- */

struct cursor {
    int64_t attempt; /* its id; 0: the first one */
    int64_t rank;
    struct log_place place;
};

static bool take_number(const char **text, char end, int64_t *number)
{
    size_t digits = strspn(*text, "0123456789");

    if (digits == 0 || digits > 16 || (*text)[digits] != end)
        return false;
    *number = strtoll(*text, NULL, 10);
    *text += digits + (end != '\0');
    return true;
}

static int read_cursor(const char *text, struct cursor *cursor, struct err *err)
{
    struct log_place *place = &cursor->place;
    const char *at = text;
    int64_t is_found;

    *cursor = (struct cursor){.place = LOG_PLACE_FIRST};
    if (text == NULL)
        return 0;
    if (take_number(&at, '.', &cursor->attempt) &&
        take_number(&at, '.', &cursor->rank) &&
        take_number(&at, '.', &place->byte) &&
        take_number(&at, '.', &place->line) &&
        take_number(&at, '.', &place->line_byte) &&
        take_number(&at, '\0', &is_found) && cursor->rank <= LOG_RANK_MAX &&
        place->line > 0 && place->line_byte <= place->byte && is_found <= 1) {
        place->is_found = is_found != 0;
        return 0;
    }
    return err_set(err, ERR_USAGE,
                   "query 'after': expected the 'next' of an answer, got '%s'",
                   text);
}

static json_t *cursor_json(const struct cursor *cursor)
{
    const struct log_place *place = &cursor->place;
    char *text = mem_printf("%" PRId64 ".%" PRId64 ".%" PRId64 ".%" PRId64
                            ".%" PRId64 ".%d",
                            cursor->attempt, cursor->rank, place->byte,
                            place->line, place->line_byte, place->is_found);
    json_t *json = json_string(text);

    free(text);
    return json;
}

/* ---- which logs ---- */

struct attempt {
    int64_t id, job, number;
    char *directory;
};

struct attempts {
    struct attempt *items;
    size_t count, capacity;
    bool has_more;
};

static void add_attempt(struct attempts *attempts,
                        const struct attempt *attempt)
{
    attempts->items = mem_grow(attempts->items, attempts->count,
                               &attempts->capacity, sizeof(*attempts->items));
    attempts->items[attempts->count++] = *attempt;
}

static int keep_attempt(void *user, const struct attempt_row *row)
{
    struct attempts *attempts = user;

    attempts->has_more = attempts->count == ATTEMPTS_MAX;
    if (attempts->has_more)
        return 1;
    add_attempt(attempts,
                &(struct attempt){row->id, row->job_number, row->number,
                                  mem_copy_string(row->directory)});
    return 0;
}

static void clear_attempts(struct attempts *attempts)
{
    for (size_t i = 0; i < attempts->count; i++)
        free(attempts->items[i].directory);
    free(attempts->items);
}

/* ---- a request ---- */

struct lookup {
    const char *store; /* its directory */
    bool is_single;    /* of one log: that it cannot be read is an error */
    struct log_search search;
    struct log_hits *hits;
    struct cursor cursor;
    struct log_source source; /* the log that is searched */
    int64_t byte, size_bytes; /* of that: how far, of how many; -1: none was */
    int64_t logs, unreadable; /* searched to the end; refused */
};

static int keep_line(void *user, const struct log_line *line)
{
    struct lookup *lookup = user;

    return log_hits_add(lookup->hits, &lookup->source, line);
}

static int64_t size_of(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 ? status.st_size : 0;
}

/* The log of the cursor's rank. 1: searched to its end, or there is none; 0:
 * the cursor says how far; -1. */
static int search_log(struct lookup *lookup, const struct attempt *attempt,
                      int64_t *rank_count, struct err *err)
{
    struct log_file file;
    int result = log_file_open(lookup->store, attempt->directory,
                               lookup->cursor.rank, &file, err);

    *rank_count = file.rank_count;
    if (result != 0)
        return -1;
    if (file.fd < 0)
        return 1;
    lookup->source =
        (struct log_source){attempt->job, attempt->number, lookup->cursor.rank};
    lookup->size_bytes = size_of(file.fd);
    result =
        log_search_file(&lookup->search, file.fd, &lookup->cursor.place, err);
    lookup->byte = lookup->cursor.place.byte;
    close(file.fd);
    lookup->logs += result > 0;
    return result;
}

/* The attempt's logs, from the cursor's on. 1: all of them; 0: a bound was met,
 * and the cursor is where to go on; -1. */
static int search_attempt(struct lookup *lookup, const struct attempt *attempt,
                          struct err *err)
{
    struct cursor *cursor = &lookup->cursor;
    int64_t rank_count = 1;
    int result;

    do {
        result = search_log(lookup, attempt, &rank_count, err);
        if (lookup->is_single || result == 0)
            return result;
        lookup->unreadable += result < 0;
        cursor->rank++;
        cursor->place = LOG_PLACE_FIRST;
        if (log_search_is_over(&lookup->search))
            return 0;
    } while (cursor->rank < rank_count);
    return 1;
}

/* 1: all; 0: the cursor is where to go on; -1. */
static int search_attempts(struct lookup *lookup,
                           const struct attempts *attempts, struct err *err)
{
    for (size_t i = 0; i < attempts->count; i++) {
        const struct attempt *attempt = &attempts->items[i];
        int result;

        if (attempt->id != lookup->cursor.attempt)
            lookup->cursor = (struct cursor){.attempt = attempt->id,
                                             .place = LOG_PLACE_FIRST};
        result = search_attempt(lookup, attempt, err);
        if (result <= 0)
            return result;
    }
    lookup->cursor = (struct cursor){.attempt = lookup->cursor.attempt + 1,
                                     .place = LOG_PLACE_FIRST};
    return attempts->has_more ? 0 : 1;
}

/* ---- answers ---- */

static json_t *place_json(const struct lookup *lookup)
{
    if (lookup->size_bytes < 0)
        return json_null();
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I}", "job", (json_int_t)lookup->source.job,
        "attempt", (json_int_t)lookup->source.attempt, "rank",
        (json_int_t)lookup->source.rank, "byte", (json_int_t)lookup->byte,
        "size_bytes", (json_int_t)lookup->size_bytes);
}

static json_t *lookup_json(const struct lookup *lookup, bool is_end)
{
    const struct log_search *search = &lookup->search;

    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "lines",
                     log_hits_json(lookup->hits), "count",
                     (json_int_t)log_hits_count(lookup->hits), "logs",
                     (json_int_t)lookup->logs, "bytes",
                     (json_int_t)(LOG_SEARCH_MAX_BYTES - search->bytes_left),
                     "unreadable", (json_int_t)lookup->unreadable, "undecided",
                     (json_int_t)search->undecided, "at", place_json(lookup),
                     "next",
                     is_end ? json_null() : cursor_json(&lookup->cursor));
}

static struct log_pattern *make_pattern(const struct request *request,
                                        struct err *err)
{
    const struct log_pattern_options options = {
        .is_regex = request_int(request, "regex") != 0,
        .ignores_case = request_int(request, "ignore_case") != 0};
    const char *text = request_text(request, "text");

    if (text != NULL)
        return log_pattern_create(text, &options, err);
    err_set(err, ERR_USAGE, "missing query 'text', the text to search for");
    return NULL;
}

static int answer_lookup(const struct request *request, struct lookup *lookup,
                         const struct attempts *attempts, struct answer *answer,
                         struct err *err)
{
    struct log_search *search = &lookup->search;
    int result;

    search->pattern = make_pattern(request, err);
    if (search->pattern == NULL)
        return -1;
    lookup->size_bytes = -1;
    lookup->hits = log_hits_create((size_t)request_int(request, "limit"),
                                   request_int(request, "last") != 0);
    search->from = request_int(request, "from");
    search->until = request_int(request, "until");
    search->bytes_left = LOG_SEARCH_MAX_BYTES;
    search->deadline_ms = clock_monotonic_ms() + LOG_SEARCH_MAX_MS;
    search->found = keep_line;
    search->user = lookup;
    result = search_attempts(lookup, attempts, err);
    if (result >= 0)
        result = answer_json(answer, lookup_json(lookup, result > 0), err);
    log_hits_destroy(lookup->hits);
    log_pattern_destroy(search->pattern);
    return result;
}

static int answer_of_log(const struct request *request, struct store *store,
                         struct answer *answer, struct err *err)
{
    struct attempt attempt = {.job = request_id(request, 1),
                              .number = request_id(request, 2)};
    struct attempts attempts = {.items = &attempt, .count = 1};
    struct lookup lookup = {.store = store_directory(store), .is_single = true};
    int status = -1;

    attempt.directory = log_directory(request, store, err);
    if (attempt.directory == NULL)
        return -1;
    if (read_cursor(request_text(request, "after"), &lookup.cursor, err) == 0) {
        lookup.cursor.attempt = 0;
        lookup.cursor.rank = request_int(request, "rank");
        status = answer_lookup(request, &lookup, &attempts, answer, err);
    }
    free(attempt.directory);
    return status;
}

static int answer_of_run(const struct request *request, struct store *store,
                         struct answer *answer, struct err *err)
{
    int64_t run = request_id(request, 0), seq;
    struct lookup lookup = {.store = store_directory(store)};
    struct attempts attempts = {0};
    struct attempt_page page;
    int status = -1;

    if (store_last_event(store, run, &seq, err) < 0 ||
        read_cursor(request_text(request, "after"), &lookup.cursor, err) < 0)
        return -1;
    page = (struct attempt_page){.after = lookup.cursor.attempt - 1};
    if (store_each_attempt_after(store, run, &page, keep_attempt, &attempts,
                                 err) >= 0)
        status = answer_lookup(request, &lookup, &attempts, answer, err);
    clear_attempts(&attempts);
    return status;
}

#define QUERY_FLAG(key, otherwise, what)                                       \
    {                                                                          \
        .name = (key), .type = QUERY_INT, .max = 1, .fallback = (otherwise),   \
        .doc = (what)                                                          \
    }
/* Of both. */
#define QUERIES                                                                \
    {.name = "text", .doc = "the text to search for; 1 to 1024 bytes"},        \
        QUERY_FLAG("ignore_case", "1", "1: a and A are equal; 0: not"),        \
        QUERY_FLAG("regex", "0",                                               \
                   "1: the text is a regular expression of PCRE2"),            \
        QUERY_LIMIT(LIMIT_MAX, LIMIT_FALLBACK, "lines per answer"),            \
    {                                                                          \
        .name = "after", .doc = "`next` of an answer: continue there"          \
    }

const struct route log_line_routes[] = {
    {.method = "GET",
     .path = "/api/v1/runs/{run}/log_lines",
     .role = ROLE_VIEWER,
     .summary = "The lines with a text, of all logs of a run in the order of "
                "its attempts, as far as a request searches.",
     .queries = {QUERIES},
     .answers = "LogLines",
     .answer = answer_of_run,
     .is_long = true},
    {.method = "GET",
     .path = "/api/v1/runs/{run}/jobs/{job}/attempts/{attempt}/log_lines",
     .role = ROLE_VIEWER,
     .summary = "The lines with a text, of an attempt's log, as far as a "
                "request searches.",
     .queries = {QUERIES,
                 {.name = "rank",
                  .type = QUERY_INT,
                  .max = LOG_RANK_MAX,
                  .fallback = "0",
                  .doc = "the log of this rank, if the trial has several"},
                 QUERY_PLACE("from", "only lines that begin at this byte or "
                                     "after it"),
                 QUERY_PLACE("until", "the log as if it ended before this "
                                      "byte; 0: all of it"),
                 QUERY_FLAG("last", "0",
                            "1: do not stop at `limit` lines, and return the "
                            "last ones")},
     .answers = "LogLines",
     .answer = answer_of_log,
     .is_long = true},
    {0}};
