/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/route/auth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/token.h"
#include "dashboard/route/base_url.h"

enum { TOKEN_BYTES = 32, ROLES = ROLE_OPERATOR + 1 };

struct auth {
    struct auth_place place;
    char *own_host; /* the address it listens on, as in a URL; NULL: none */
    char tokens[ROLES][TOKEN_SIZE(TOKEN_BYTES)]; /* "": there is none */
};

struct auth *auth_create(const struct auth_place *place, bool has_operator)
{
    struct auth *auth = mem_zero(sizeof(*auth));

    auth->place = *place;
    if (place->address != NULL)
        auth->own_host =
            mem_printf(strchr(place->address, ':') != NULL ? "[%s]" : "%s",
                       place->address);
    token_draw(auth->tokens[ROLE_VIEWER], TOKEN_BYTES);
    if (has_operator)
        token_draw(auth->tokens[ROLE_OPERATOR], TOKEN_BYTES);
    return auth;
}

void auth_destroy(struct auth *auth)
{
    if (auth != NULL)
        free(auth->own_host);
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

    if (auth->place.port == 0)
        return text[0] == '\0' ||
               (text[0] == ':' && strspn(text + 1, "0123456789") > 0 &&
                text[1 + strspn(text + 1, "0123456789")] == '\0');
    snprintf(ours, sizeof(ours), ":%d", auth->place.port);
    return strcmp(text, ours) == 0;
}

/* Whether the host is that name with our port. */
static bool is_at(const struct auth *auth, const char *host, const char *name)
{
    size_t length = strlen(name);

    return strncasecmp(host, name, length) == 0 &&
           port_is_ours(auth, host + length);
}

bool auth_host_is_ours(const struct auth *auth, const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    const struct auth_place *place = &auth->place;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (is_at(auth, host, names[i]))
            return true;
    }
    if (auth->own_host != NULL && is_at(auth, host, auth->own_host))
        return true;
    if (place->base == NULL)
        return false;
    /* Only on another address than the default do proxies ask for the name of
     * this machine. */
    return base_url_has_host(place->base, host) ||
           (place->address != NULL && strcmp(place->address, names[0]) != 0 &&
            base_url_names_host(place->base, host, place->port));
}

bool auth_origin_is_ours(const struct auth *auth, const char *origin)
{
    const char scheme[] = "http://";
    size_t length = sizeof(scheme) - 1;

    if (auth->place.base != NULL)
        return base_url_has_origin(auth->place.base, origin);
    return strncmp(origin, scheme, length) == 0 &&
           auth_host_is_ours(auth, origin + length);
}
