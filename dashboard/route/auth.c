/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/route/auth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/token.h"

enum { TOKEN_BYTES = 32, ROLES = ROLE_OPERATOR + 1 };

struct auth {
    int port;
    char tokens[ROLES][TOKEN_SIZE(TOKEN_BYTES)]; /* "": there is none */
};

struct auth *auth_create(int port, bool has_operator)
{
    struct auth *auth = mem_zero(sizeof(*auth));

    auth->port = port;
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

static enum role role_of(const struct auth *auth, const char *given)
{
    enum role role = ROLE_ANYONE;

    if (token_is_equal(auth->tokens[ROLE_VIEWER], given, strlen(given)))
        role = ROLE_VIEWER;
    if (token_is_equal(auth->tokens[ROLE_OPERATOR], given, strlen(given)))
        role = ROLE_OPERATOR;
    return role;
}

enum role auth_role(const struct auth *auth, const char *authorization)
{
    const char scheme[] = "Bearer ";
    size_t length = sizeof(scheme) - 1;

    if (authorization == NULL ||
        strncasecmp(authorization, scheme, length) != 0)
        return ROLE_ANYONE;
    return role_of(auth, authorization + length);
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
