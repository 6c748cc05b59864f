/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_DASHBOARD_SERVE_TEST_H
#define SMTUNE_TESTS_UNIT_DASHBOARD_SERVE_TEST_H

#include "dashboard/access/presence_address.h"
#include "dashboard/dashboard_impl.h"
#include "dashboard/page.h"
#include "dashboard/route/auth.h"
#include "dashboard/route/sessions.h"
#include "tests/unit/dashboard/dashboard_test.h"

/* Requests to a dashboard, and what is expected of their answers. */

/* ---- a page of the test's own ---- */

/* "<p>hello</p>\n", compressed, and the bytes 1 and 2. */
static const unsigned char hello[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xb3,
    0x29, 0xb0, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xb7, 0xd1, 0x2f, 0xb0,
    0xe3, 0x02, 0x00, 0xe1, 0x2d, 0xb4, 0x43, 0x0d, 0x00, 0x00, 0x00};
static const unsigned char bytes_1_2[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x63,
    0x64, 0x02, 0x00, 0x92, 0x42, 0xcc, 0xb6, 0x02, 0x00, 0x00, 0x00};

const struct page_file page_files[] = {
    {"index.html", hello, hello + sizeof(hello), 13, "1234"},
    {"app.bin", bytes_1_2, bytes_1_2 + sizeof(bytes_1_2), 2, "5678"},
    {"LICENSE", bytes_1_2, bytes_1_2 + sizeof(bytes_1_2), 2, "9abc"},
    {"login.html", hello, hello + sizeof(hello), 13, "def0"},
    {0}};

/* ---- what the commands would give ---- */

UNUSED static const char *run_state(void *user, const struct store *store,
                                    const struct run_row *run)
{
    (void)user;
    (void)store;
    (void)run;
    return "finished";
}

/* Each run but the first fails in another way. */
UNUSED static json_t *make_run(void *user, struct store *store, int64_t run,
                               struct err *err)
{
    static const enum err_kind kinds[] = {ERR_NOT_FOUND, ERR_USAGE, ERR_BUSY,
                                          ERR_SHORTAGE, ERR_FAILED};

    (void)user;
    assert_non_null(store);
    if (run == 1)
        return json_pack("{s:s}", "made", "a run");
    assert_in_range(run, 2, 1 + ARRAY_LEN(kinds));
    err_set(err, kinds[run - 2], "run %d has failed", (int)run);
    return NULL;
}

UNUSED static json_t *act(void *user, int64_t run, const char *verb,
                          const json_t *body, struct err *err)
{
    (void)user;
    (void)err;
    return json_pack("{s:I, s:s, s:O}", "run", (json_int_t)run, "did", verb,
                     "with", body);
}

static const struct dashboard_source source = {
    .run_state = run_state, .run = make_run, .origin = make_run, .act = act};

/* ---- requests ---- */

enum who { NOBODY, VIEWER, OPERATOR };

UNUSED static enum role role_of(enum who who)
{
    return who == OPERATOR ? ROLE_OPERATOR : ROLE_VIEWER;
}

/* The answer to a request as it is; the caller's to free. */
UNUSED static char *send_text(struct fixture *fixture, const char *text)
{
    int fd = must_ask(fixture, text);
    char *answer = read_to(fixture, fd, NULL);

    close(fd);
    return answer;
}

/* The text with other words for all '@', '^' and '~'; the caller's to free. */
UNUSED static char *fill_in(const char *text, const char *at, const char *caret,
                            const char *tilde)
{
    struct buf out = BUF_INIT;

    for (; *text != '\0'; text++) {
        if (*text == '@')
            buf_add_string(&out, at);
        else if (*text == '^')
            buf_add_string(&out, caret);
        else if (*text == '~')
            buf_add_string(&out, tilde);
        else
            buf_add_char(&out, *text);
    }
    return buf_take(&out);
}

/* The same, with '@' for the token of who asks, and '^' and '~' for the key and
 * the secret of a session. */
UNUSED static char *ask(struct fixture *fixture, enum who who,
                        const char *request)
{
    const struct dashboard *dashboard = fixture->dashboard;
    const struct session *session =
        sessions_add(dashboard_sessions(dashboard), role_of(who));
    char *text =
        fill_in(request, auth_token(dashboard_auth(dashboard), role_of(who)),
                session->key, session->secret);
    char *answer = send_text(fixture, text);

    free(text);
    return answer;
}

struct request_case {
    const char *request;
    enum who who;
    int status;
    const char *word; /* in the answer; NULL: any */
};

UNUSED static void check(struct fixture *fixture,
                         const struct request_case *one)
{
    char *answer = ask(fixture, one->who, one->request);

    if (strncmp(answer, "HTTP/1.1 ", 9) != 0 ||
        strtol(answer + 9, NULL, 10) != one->status ||
        (one->word != NULL && strstr(answer, one->word) == NULL))
        fail_msg("not %d with '%s':\n%s\n%s", one->status,
                 one->word == NULL ? "" : one->word, one->request, answer);
    free(answer);
}

UNUSED static void check_all(const char *folder,
                             const struct request_case *cases, size_t count)
{
    struct fixture fixture;

    set_up(&fixture, folder, &source);
    for (size_t i = 0; i < count; i++)
        check(&fixture, &cases[i]);
    tear_down(&fixture);
}

#define HOST   "Host: localhost\r\nConnection: close\r\n"
#define BEARER "Authorization: Bearer @\r\n"
#define COOKIE "Cookie: smtune=~\r\n"
#define JSON   "Content-Type: application/json\r\n"
#define ORIGIN "Origin: http://localhost\r\n"
#define EMPTY  "Content-Length: 2\r\n\r\n{}"

#define GET(path, headers)     "GET " path " HTTP/1.1\r\n" HOST headers "\r\n"
#define NOTE                   "/api/v1/runs/1/note"
#define POST_TO(path, headers) "POST " path " HTTP/1.1\r\n" HOST headers EMPTY
#define POST(headers)          POST_TO(NOTE, headers)

/* ---- logging in ---- */

/* What is behind the # of the address, and what the server answers to it; the
 * caller's to free, as the address is. */
UNUSED static char *log_in(struct fixture *fixture, char *address)
{
    const char *code = strchr(address, '#') + 1;
    char *body = mem_printf("{\"code\":\"%s\"}", code);
    char *text = mem_printf("POST /login HTTP/1.1\r\n" HOST JSON ORIGIN
                            "Content-Length: %zu\r\n\r\n%s",
                            strlen(body), body);
    char *answer = send_text(fixture, text);

    free(text);
    free(body);
    return answer;
}

/* Asks as the browser does that got this answer. */
UNUSED static void check_session(struct fixture *fixture, const char *answer,
                                 int status, const char *word)
{
    const char *secret = strstr(answer, "\r\nSet-Cookie: smtune=");
    const char *key = strstr(answer, "; Path=/s/");
    char *request;

    assert_non_null(secret);
    assert_non_null(key);
    assert_non_null(strstr(key, "/; HttpOnly; SameSite=Strict\r\n"));
    secret += strlen("\r\nSet-Cookie: smtune=");
    key += strlen("; Path=/s/");
    request = mem_printf("GET /s/%.*s/api/v1/session HTTP/1.1\r\n" HOST
                         "Cookie: smtune=%.*s\r\n\r\n",
                         (int)strcspn(key, "/"), key, (int)strcspn(secret, ";"),
                         secret);
    check(fixture, &(struct request_case){request, NOBODY, status, word});
    free(request);
}

UNUSED static char *operator_address(const struct fixture *fixture,
                                     int64_t now_ms)
{
    return presence_operator_address(dashboard_presence(fixture->dashboard),
                                     now_ms, NULL);
}

#endif
