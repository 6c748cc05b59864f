/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: guests_hold */
#include "dashboard/serve.h"

#include "dashboard/http/workers.h"
#include "dashboard/route/guests.h"
#include "tests/unit/dashboard/serve_test.h"

/* Who is kept waiting, and who is refused, where there is too much to do. */

/* Run 7 is made when the test lets it, in a thread that waits until then. */
enum { SLOW_RUN = 7 };
static uv_sem_t may_end;

static json_t *make_slow_run(void *user, struct store *store, int64_t run,
                             struct err *err)
{
    if (run != SLOW_RUN)
        return make_run(user, store, run, err);
    uv_sem_wait(&may_end);
    return make_run(user, store, 1, err);
}

static const struct dashboard_source slow_source = {.run_state = run_state,
                                                    .run = make_slow_run};

/* A request of a viewer, of which the answer is read later. */
static int send_slow(const struct fixture *fixture)
{
    const struct auth *auth = dashboard_auth(fixture->dashboard);
    char *text = mem_printf("GET /api/v1/runs/%d HTTP/1.1\r\n" HOST
                            "Authorization: Bearer %s\r\n\r\n",
                            SLOW_RUN, auth_token(auth, ROLE_VIEWER));
    int fd = must_ask(fixture, text);

    free(text);
    return fd;
}

/* The one that has an answer; goes on until one has. */
static size_t first_answered(struct fixture *fixture, const int *fds,
                             size_t count)
{
    int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;

    for (size_t i = 0;; i = (i + 1) % count) {
        char byte;

        if (recv(fds[i], &byte, 1, MSG_PEEK) == 1)
            return i;
        assert_true(clock_monotonic_ms() < end_ms);
        uv_run(&fixture->loop, UV_RUN_NOWAIT);
    }
}

static void must_answer(struct fixture *fixture, int fd, const char *status,
                        const char *word)
{
    char *answer = read_to(fixture, fd, NULL);

    if (strstr(answer, status) != answer || strstr(answer, word) == NULL)
        fail_msg("not '%s' with '%s': %s", status, word, answer);
    free(answer);
    close(fd);
}

/* An operator's browser begins as anybody's. */
static void must_let_operator_in(struct fixture *fixture)
{
    static const struct request_case page[] = {
        {GET("/login", "Accept-Encoding: gzip\r\n"), NOBODY, 200, "-gz\""},
        {GET("/", "Accept-Encoding: gzip\r\n"), NOBODY, 200, "-gz\""},
        {GET("/", ""), NOBODY, 503, "too many requests of viewers"},
    };
    char *address = operator_address(fixture, clock_monotonic_ms());
    char *answer = log_in(fixture, address);

    check_session(fixture, answer, 200, "\"operator\"");
    for (size_t i = 0; i < ARRAY_LEN(page); i++)
        check(fixture, &page[i]);
    free(answer);
    free(address);
}

/* However much viewers ask, an operator is answered at once; and what is too
 * much is refused. */
static void test_serve__keeps_no_operator_waiting_for_viewers(void **state)
{
    static const struct request_case quick[] = {
        {GET("/api/v1/runs/1", BEARER), OPERATOR, 200, "made"},
        {GET("/s/^/api/v1/runs/1", COOKIE), OPERATOR, 200, "made"},
        {GET("/api/v1/runs/1", BEARER), OPERATOR, 200, "made"},
        {GET("/s/^/api/v1/runs/1", COOKIE), OPERATOR, 200, "made"},
    };
    struct fixture fixture;
    int fds[GUESTS_REQUESTS_MAX + 1];
    size_t refused;

    uv_sem_init(&may_end, 0);
    set_up(&fixture, *state, &slow_source);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = send_slow(&fixture);
    refused = first_answered(&fixture, fds, ARRAY_LEN(fds));
    must_answer(&fixture, fds[refused], "HTTP/1.1 503 ",
                "\r\nRetry-After: 2\r\n");
    for (size_t i = 0; i < ARRAY_LEN(quick); i++)
        check(&fixture, &quick[i]);
    must_let_operator_in(&fixture);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        uv_sem_post(&may_end);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        if (i != refused)
            must_answer(&fixture, fds[i], "HTTP/1.1 200 ", "made");
    }
    check(&fixture,
          &(struct request_case){quick[0].request, VIEWER, 200, "made"});
    tear_down(&fixture);
    uv_sem_destroy(&may_end);
}

/* What the linker puts in place: as if viewers were being sent too much. */
static bool has_no_room;

int __real_guests_hold(struct guests *guests, struct guest *guest,
                       const struct blob *answer, struct err *err);
int __wrap_guests_hold(struct guests *guests, struct guest *guest,
                       const struct blob *answer, struct err *err);
int __wrap_guests_hold(struct guests *guests, struct guest *guest,
                       const struct blob *answer, struct err *err)
{
    return has_no_room && guest->is_counted
               ? err_set(err, ERR_SHORTAGE, "no room")
               : __real_guests_hold(guests, guest, answer, err);
}

static void test_serve__sends_viewers_so_much_at_once(void **state)
{
    static const struct request_case cases[] = {
        {GET("/api/v1/runs/1", BEARER), VIEWER, 503, "no room"},
        {GET("/api/v1/runs/1", BEARER), VIEWER, 503, "\r\nRetry-After: 2\r\n"},
        {GET("/api/v1/runs/1", BEARER), OPERATOR, 200, "made"},
        {GET("/", ""), NOBODY, 503, "no room"},
        {GET("/", "Accept-Encoding: gzip\r\n"), NOBODY, 200, "-gz\""},
    };

    has_no_room = true;
    check_all(*state, cases, ARRAY_LEN(cases));
    has_no_room = false;
}

/* It does not do first what many have asked for. */
static void test_serve__ends_without_what_waits(void **state)
{
    struct fixture fixture;
    int fds[8];
    size_t dropped;

    uv_sem_init(&may_end, 0);
    set_up(&fixture, *state, &slow_source);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = send_slow(&fixture);
    check(&fixture, &(struct request_case){GET("/api/v1/session", BEARER),
                                           VIEWER, 200, "viewer"});
    dashboard_close(fixture.dashboard);
    dropped = first_answered(&fixture, fds, ARRAY_LEN(fds));
    must_answer(&fixture, fds[dropped], "HTTP/1.1 503 ", "is stopping");
    for (int i = 0; i < WORKERS_GUESTS_MAX; i++)
        uv_sem_post(&may_end);
    uv_run(&fixture.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&fixture.loop), 0);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        if (i != dropped)
            close(fds[i]);
    }
    free(fixture.path);
    uv_sem_destroy(&may_end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_serve__keeps_no_operator_waiting_for_viewers),
        STORE_TEST(test_serve__sends_viewers_so_much_at_once),
        STORE_TEST(test_serve__ends_without_what_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
