/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cookie does not belong to a port: what a server on 127.0.0.1:8420 sets, a
 * browser sends to every other server of 127.0.0.1, whoever runs it. To look at
 * Sec-Fetch-Site is no help against such a server, which is no browser and
 * sends what it likes. But a browser sends a cookie only below its path, and
 * nobody can guess ours. The page has the key in its storage, which does belong
 * to a port. A name of its own below .localhost would do the same, but not
 * every browser finds such a name, and another user may listen on the same port
 * of ::1, where some look first.
 *
 * Sessions are in memory alone: they end with the program.
 */
#include "dashboard/route/sessions.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { ROLES = ROLE_OPERATOR + 1 };

struct entry {
    struct session session; /* key "": none */
    uint64_t used;          /* by the count of uses */
};

struct sessions {
    struct entry entries[ROLES][SESSIONS_MAX];
    uint64_t uses;
};

struct sessions *sessions_create(void)
{
    return mem_zero(sizeof(struct sessions));
}

void sessions_destroy(struct sessions *sessions)
{
    free(sessions);
}

const struct session *sessions_add(struct sessions *sessions, enum role role)
{
    struct entry *oldest = &sessions->entries[role][0];

    for (size_t i = 1; i < SESSIONS_MAX; i++) {
        if (sessions->entries[role][i].used < oldest->used)
            oldest = &sessions->entries[role][i];
    }
    token_draw(oldest->session.key, SESSION_KEY_BYTES);
    token_draw(oldest->session.secret, SESSION_SECRET_BYTES);
    oldest->used = ++sessions->uses;
    return &oldest->session;
}

/* Whether one of the cookies is the session's: other servers of this host can
 * set one of the same name. */
static bool has_secret(const char *cookie, const char *secret)
{
    const char name[] = SESSION_COOKIE "=";
    size_t name_length = sizeof(name) - 1;

    while (*cookie != '\0') {
        size_t length = strcspn(cookie, ";");

        if (length > name_length && strncmp(cookie, name, name_length) == 0 &&
            token_is_equal(secret, cookie + name_length, length - name_length))
            return true;
        cookie += length;
        cookie += strspn(cookie, "; ");
    }
    return false;
}

enum role sessions_role(struct sessions *sessions, const char *key,
                        size_t key_length, const char *cookie)
{
    if (cookie == NULL)
        return ROLE_ANYONE;
    for (enum role role = ROLE_VIEWER; role <= ROLE_OPERATOR; role++) {
        for (size_t i = 0; i < SESSIONS_MAX; i++) {
            struct entry *entry = &sessions->entries[role][i];

            if (!token_is_equal(entry->session.key, key, key_length) ||
                !has_secret(cookie, entry->session.secret))
                continue;
            entry->used = ++sessions->uses;
            return role;
        }
    }
    return ROLE_ANYONE;
}

void sessions_end(struct sessions *sessions, enum role role)
{
    memset(sessions->entries[role], 0, sizeof(sessions->entries[role]));
}
