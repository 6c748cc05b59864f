/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/route/auth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/token.h"

enum {
    TOKEN_BYTES = 32,
    TOKEN_LENGTH = 2 * TOKEN_BYTES,
    ROLES = ROLE_OPERATOR + 1,
    COOKIE_NAME_SIZE = 32
};

struct auth {
    int port;
    char cookie_name[COOKIE_NAME_SIZE];
    char tokens[ROLES][TOKEN_LENGTH + 1]; /* "": there is none */
};

struct auth *auth_create(int port, bool has_operator)
{
    struct auth *auth = mem_zero(sizeof(*auth));

    auth->port = port;
    snprintf(auth->cookie_name, sizeof(auth->cookie_name), "smtune-%d", port);
    token_draw(auth->tokens[ROLE_VIEWER], TOKEN_BYTES);
    if (has_operator)
        token_draw(auth->tokens[ROLE_OPERATOR], TOKEN_BYTES);
    return auth;
}

void auth_destroy(struct auth *auth)
{
    free(auth);
}

const char *auth_token(const struct auth *auth, enum role role)
{
    return auth->tokens[role][0] != '\0' ? auth->tokens[role] : NULL;
}

static bool is_equal(const char *token, const char *given, size_t length)
{
    unsigned char difference = 0;

    if (token[0] == '\0' || length != TOKEN_LENGTH)
        return false;
    for (size_t i = 0; i < TOKEN_LENGTH; i++)
        difference |= (unsigned char)(token[i] ^ given[i]);
    return difference == 0;
}

static enum role role_of(const struct auth *auth, const char *given,
                         size_t length)
{
    enum role role = ROLE_ANYONE;

    if (is_equal(auth->tokens[ROLE_VIEWER], given, length))
        role = ROLE_VIEWER;
    if (is_equal(auth->tokens[ROLE_OPERATOR], given, length))
        role = ROLE_OPERATOR;
    return role;
}

enum role auth_role_of_token(const struct auth *auth, const char *token)
{
    return role_of(auth, token, strlen(token));
}

static enum role role_of_cookie(const struct auth *auth, const char *cookie)
{
    size_t name_length = strlen(auth->cookie_name);

    while (*cookie != '\0') {
        size_t length = strcspn(cookie, ";");

        if (length > name_length && cookie[name_length] == '=' &&
            strncmp(cookie, auth->cookie_name, name_length) == 0)
            return role_of(auth, cookie + name_length + 1,
                           length - name_length - 1);
        cookie += length;
        cookie += strspn(cookie, "; ");
    }
    return ROLE_ANYONE;
}

enum role auth_role(const struct auth *auth, const char *cookie,
                    const char *authorization)
{
    const char scheme[] = "Bearer ";
    size_t length = sizeof(scheme) - 1;

    if (authorization != NULL)
        return strncasecmp(authorization, scheme, length) == 0
                   ? auth_role_of_token(auth, authorization + length)
                   : ROLE_ANYONE;
    return cookie != NULL ? role_of_cookie(auth, cookie) : ROLE_ANYONE;
}

const char *auth_cookie_name(const struct auth *auth)
{
    return auth->cookie_name;
}

static bool port_is_ours(const struct auth *auth, const char *text)
{
    char ours[16];

    if (auth->port == 0)
        return text[0] == '\0' ||
               (text[0] == ':' && strspn(text + 1, "0123456789") > 0 &&
                text[1 + strspn(text + 1, "0123456789")] == '\0');
    snprintf(ours, sizeof(ours), ":%d", auth->port);
    return strcmp(text, ours) == 0;
}

bool auth_host_is_ours(const struct auth *auth, const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t length = strlen(names[i]);

        if (strncasecmp(host, names[i], length) == 0 &&
            port_is_ours(auth, host + length))
            return true;
    }
    return false;
}

bool auth_origin_is_ours(const struct auth *auth, const char *origin)
{
    const char scheme[] = "http://";
    size_t length = sizeof(scheme) - 1;

    return strncmp(origin, scheme, length) == 0 &&
           auth_host_is_ours(auth, origin + length);
}
