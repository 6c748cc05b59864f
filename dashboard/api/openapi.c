/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "dashboard/api/api.h"
#include "dashboard/route/sessions.h"

/*
 * The description of the API in OpenAPI 3.1, made of the table that is served
 * by. What goes in and comes out are JSON Schemas by name, in schemas.json; one
 * with a contentMediaType is of other bytes than JSON.
 */

__asm__(".pushsection .rodata\n"
        ".global dashboard_schemas\n"
        ".type dashboard_schemas, %object\n"
        "dashboard_schemas:\n"
        ".incbin \"dashboard/schemas.json\"\n"
        ".byte 0\n"
        ".size dashboard_schemas, . - dashboard_schemas\n"
        ".popsection\n");
extern const char dashboard_schemas[];

/* The value, which is the object's from now on. */
static json_t *put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
    return value;
}

static json_t *reference(const char *name)
{
    return json_pack("{s: s+}", "$ref", "#/components/schemas/", name);
}

/* {"application/json": {"schema": ...}} of a named schema. */
static json_t *content_of(const json_t *schemas, const char *name)
{
    const char *type = json_string_value(
        json_object_get(json_object_get(schemas, name), "contentMediaType"));

    return json_pack("{s: {s: o}}", type != NULL ? type : "application/json",
                     "schema", reference(name));
}

static void add_ids(json_t *parameters, const char *path)
{
    for (path = strchr(path, '{'); path != NULL; path = strchr(path, '{')) {
        size_t length = strcspn(++path, "}");

        json_array_append_new(parameters,
                              json_pack("{s: s%, s: s, s: b, s: {s: s, s: i}}",
                                        "name", path, length, "in", "path",
                                        "required", true, "schema", "type",
                                        "integer", "minimum", 1));
    }
}

static json_t *query_schema(const struct route_query *query)
{
    json_t *schema = query->type == QUERY_INT
                         ? json_pack("{s: s, s: I, s: I}", "type", "integer",
                                     "minimum", (json_int_t)query->min,
                                     "maximum", (json_int_t)query->max)
                         : json_pack("{s: s}", "type", "string");

    if (query->fallback != NULL)
        put(schema, "default",
            query->type == QUERY_INT
                ? json_integer(strtoll(query->fallback, NULL, 10))
                : json_string(query->fallback));
    return schema;
}

static void add_queries(json_t *parameters, const struct route *route)
{
    for (size_t i = 0; i < ROUTE_QUERIES_MAX; i++) {
        const struct route_query *query = &route->queries[i];

        if (query->name == NULL)
            return;
        json_array_append_new(
            parameters, json_pack("{s: s, s: s, s: s, s: o}", "name",
                                  query->name, "in", "query", "description",
                                  query->doc != NULL ? query->doc : "",
                                  "schema", query_schema(query)));
    }
}

/* "get_runs_run_columns" of GET /api/v1/runs/{run}/columns. */
static json_t *operation_id(const struct route *route, const char *method)
{
    const char *path = route->path;
    const char prefix[] = "/api/v1";
    struct buf text = BUF_INIT;
    json_t *id;

    if (strncmp(path, prefix, sizeof(prefix) - 1) == 0)
        path += sizeof(prefix) - 1;
    buf_add_string(&text, method);
    for (; *path != '\0'; path++) {
        if (*path != '{' && *path != '}')
            buf_add_char(&text, isalnum((unsigned char)*path) ? *path : '_');
    }
    id = json_string(buf_text(&text));
    buf_clear(&text);
    return id;
}

static json_t *responses_of(const struct route *route, const json_t *schemas)
{
    json_t *responses = json_object();

    put(responses, "200",
        json_pack("{s: s, s: o}", "description", "Done.", "content",
                  content_of(schemas, route->answers)));
    put(responses, "default",
        json_pack("{s: s, s: o}", "description", "The request failed.",
                  "content", content_of(schemas, "Error")));
    return responses;
}

static json_t *operation_of(const struct route *route, const char *method,
                            const json_t *schemas)
{
    static const char *const roles[] = {"anyone", "viewer", "operator"};
    json_t *operation = json_object();
    json_t *parameters = json_array();

    put(operation, "operationId", operation_id(route, method));
    put(operation, "summary", json_string(route->summary));
    put(operation, "x-role", json_string(roles[route->role]));
    put(operation, "security",
        route->role == ROLE_ANYONE
            ? json_array()
            : json_pack("[{s: []}, {s: []}]", "token", "cookie"));
    add_ids(parameters, route->path);
    add_queries(parameters, route);
    put(operation, "parameters", parameters);
    if (route->takes != NULL)
        put(operation, "requestBody",
            json_pack("{s: b, s: o}", "required", true, "content",
                      content_of(schemas, route->takes)));
    put(operation, "responses", responses_of(route, schemas));
    return operation;
}

static json_t *paths_of(const json_t *schemas)
{
    json_t *paths = json_object();

    for (const struct route *const *table = route_tables; *table != NULL;
         table++) {
        for (const struct route *route = *table; route->method != NULL;
             route++) {
            const char *method =
                strcmp(route->method, "GET") == 0 ? "get" : "post";
            json_t *path = json_object_get(paths, route->path);

            if (path == NULL)
                path = put(paths, route->path, json_object());
            put(path, method, operation_of(route, method, schemas));
        }
    }
    return paths;
}

static int answer_openapi(const struct request *request, struct store *store,
                          struct answer *answer, struct err *err)
{
    json_t *schemas =
        json_parse(dashboard_schemas, strlen(dashboard_schemas), err);

    (void)request;
    (void)store;
    if (schemas == NULL)
        return -1;
    answer->may_be_kept = true;
    return answer_json(
        answer,
        json_pack("{s: s, s: {s: s, s: s}, s: o, s: {s: o, s: o}}", "openapi",
                  "3.1.0", "info", "title", "smtune dashboard", "version",
                  SMTUNE_VERSION, "paths", paths_of(schemas), "components",
                  "schemas", schemas, "securitySchemes",
                  json_pack("{s: {s: s, s: s}, s: {s: s, s: s, s: s, s: s}}",
                            "token", "type", "http", "scheme", "bearer",
                            "cookie", "type", "apiKey", "in", "cookie", "name",
                            SESSION_COOKIE, "description",
                            "The session of a browser: paths begin with "
                            "/s/KEY, KEY being the answer of /login.")),
        err);
}

const struct route openapi_routes[] = {{.method = "GET",
                                        .path = "/api/v1/openapi.json",
                                        .role = ROLE_VIEWER,
                                        .summary = "This description.",
                                        .answers = "OpenApi",
                                        .answer = answer_openapi},
                                       {0}};
