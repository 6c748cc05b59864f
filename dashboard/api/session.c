/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/api/api.h"
#include "dashboard/dashboard_impl.h"
#include "dashboard/route/sessions.h"

/* Coming in, and as whom. */

static const char *role_word(enum role role)
{
    return role == ROLE_OPERATOR ? "operator" : "viewer";
}

static int answer_session(const struct request *request, struct store *store,
                          struct answer *answer, struct err *err)
{
    const struct dashboard *dashboard = request_dashboard(request);
    const char *role = role_word(request_role(request));
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
    struct dashboard *dashboard = request_dashboard(request);
    const char *code =
        json_string_value(json_object_get(request_body(request), "code"));
    enum role role =
        code != NULL ? dashboard_use_code(dashboard, code) : ROLE_ANYONE;
    const struct session *session;

    (void)store;
    if (code == NULL)
        return err_set(err, ERR_USAGE, "missing field 'code', a text");
    if (role == ROLE_ANYONE)
        return answer_error(
            answer, 401,
            "this address is no longer valid: an operator's can be used once, "
            "within a minute, and a viewer's until it is withdrawn; "
            "'smtune dashboard --login' prints new ones");
    session = sessions_add(dashboard_sessions(dashboard), role);
    answer_header(answer, "Set-Cookie",
                  "%s=%s; Path=%s/s/%s/; HttpOnly; SameSite=Strict%s",
                  SESSION_COOKIE, session->secret,
                  dashboard_base_path(dashboard), session->key,
                  dashboard_is_https(dashboard) ? "; Secure" : "");
    return answer_json(
        answer,
        json_pack("{s:s, s:s}", "role", role_word(role), "key", session->key),
        err);
}

const struct route session_routes[] = {
    {.method = "GET",
     .path = "/api/v1/session",
     .role = ROLE_VIEWER,
     .summary = "The client's role, and the store.",
     .answers = "Session",
     .answer = answer_session,
     .on_loop = true},
    {.method = "POST",
     .path = "/login",
     .role = ROLE_ANYONE,
     .summary = "Logs a browser in: sets its cookie, for paths below /s/KEY.",
     .answers = "Login",
     .takes = "LoginCode",
     .answer = answer_login,
     .on_loop = true},
    {0}};
