/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "dashboard/route/auth.h"
#include "dashboard/route/base_url.h"
#include "dashboard/route/match.h"
#include "dashboard/route/sessions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a client may send: the first byte says as what. Whatever a route's
 * function is given is within the bounds that the table promises. */

static void check_queries(const struct match *match)
{
    for (size_t i = 0; i < ROUTE_QUERIES_MAX; i++) {
        const struct route_query *query = &match->route->queries[i];
        const char *text = match->texts[i];

        if (query->name == NULL || text == NULL)
            continue;
        for (const char *at = text; *at != '\0';) {
            size_t bytes = text_next_rune(at, strlen(at), NULL);

            assert(bytes > 0 && (unsigned char)*at >= ' ');
            at += bytes;
        }
        if (query->type == QUERY_INT)
            assert(match->ints[i] >= query->min &&
                   match->ints[i] <= query->max);
    }
}

static void match_target(const char *method, const char *target)
{
    struct err err = {0};
    struct match match;
    int status = match_find(route_tables, method, target, &match, &err);

    assert(status == 200 || status == 400 || status == 404 || status == 405);
    assert((status == 400) == (err.text[0] != '\0'));
    assert((status == 405) == (match.route == NULL && match.allow[0] != '\0'));
    if (status == 200) {
        const char *id = match.route->path;

        for (size_t i = 0; (id = strchr(id, '{')) != NULL; i++, id++)
            assert(match.ids[i] > 0);
        check_queries(&match);
    }
    match_clear(&match);
}

/* A URL that was read is what a browser makes of it: reading it again changes
 * nothing. */
static void read_base_url(const char *text)
{
    struct base_url *base = base_url_parse(text, NULL), *again;

    if (base == NULL)
        return;
    again = base_url_parse(base_url_text(base), NULL);
    assert(again != NULL);
    assert(strcmp(base_url_text(again), base_url_text(base)) == 0);
    assert(strpbrk(base_url_text(base), "; ,\"'\\\r\n\t?#<>") == NULL);
    base_url_destroy(again);
    base_url_destroy(base);
}

static void read_headers(const char *text)
{
    const struct auth_place place = {.port = 8420, .address = "::1"};
    struct auth *auth = auth_create(&place, true);
    struct sessions *sessions = sessions_create();
    const struct session *session = sessions_add(sessions, ROLE_VIEWER);

    assert(auth_role(auth, text) == ROLE_ANYONE);
    assert(sessions_role(sessions, session->key, strlen(session->key), text) ==
           ROLE_ANYONE);
    assert(sessions_role(sessions, text, strlen(text), text) == ROLE_ANYONE);
    sessions_destroy(sessions);
    if (auth_origin_is_ours(auth, text))
        assert(auth_host_is_ours(auth, text + strlen("http://")));
    auth_destroy(auth);
    read_base_url(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size == 0)
        return 0;
    text = mem_copy_bytes(data + 1, size - 1);
    switch (data[0] % 4) {
    case 0:
        match_target("POST", text);
        break;
    case 1:
        read_headers(text);
        break;
    case 2:
        json_decref(json_parse(text, size - 1, NULL));
        break;
    default:
        match_target("GET", text);
        break;
    }
    free(text);
    return 0;
}
