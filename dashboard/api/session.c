/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/api/api.h"
#include "dashboard/dashboard_impl.h"
#include "dashboard/route/auth.h"

/* Coming in, and as whom. */

static int answer_session(const struct request *request, struct store *store,
                          struct answer *answer, struct err *err)
{
    const struct dashboard *dashboard = request_dashboard(request);
    const char *role =
        request_role(request) == ROLE_OPERATOR ? "operator" : "viewer";
    json_t *json = json_object();

    (void)store;
    json_object_set_new(json, "role", json_string(role));
    json_object_set_new(json, "version", json_string(SMTUNE_VERSION));
    json_object_set_new(json, "store",
                        json_from_text(dashboard_store(dashboard)));
    json_object_set_new(json, "read_only",
                        json_boolean(dashboard_is_read_only(dashboard)));
    return answer_json(answer, json, err);
}

static int answer_login(const struct request *request, struct store *store,
                        struct answer *answer, struct err *err)
{
    const struct auth *auth = dashboard_auth(request_dashboard(request));
    const char *token = request_text(request, "token");
    enum role role =
        token != NULL ? auth_role_of_token(auth, token) : ROLE_ANYONE;

    (void)store;
    (void)err;
    if (role == ROLE_ANYONE)
        return answer_error(answer, 401,
                            "this address belongs to a stopped dashboard: open "
                            "the address that the running one printed");
    answer->status = 303;
    answer_header(answer, "Location", "/");
    answer_header(answer, "Set-Cookie",
                  "%s=%s; Path=/; HttpOnly; SameSite=Strict",
                  auth_cookie_name(auth), auth_token(auth, role));
    return 0;
}

const struct route session_routes[] = {
    {.method = "GET",
     .path = "/api/v1/session",
     .role = ROLE_VIEWER,
     .summary = "The client's role, and the store.",
     .answers = "Session",
     .answer = answer_session,
     .on_loop = true},
    {.method = "GET",
     .path = "/login",
     .role = ROLE_ANYONE,
     .summary =
         "Logs a browser in: sets its cookie and redirects it to the page.",
     .queries = {{.name = "token",
                  .doc = "the token in the address that the program printed"}},
     .answer = answer_login,
     .on_loop = true},
    {0}};
