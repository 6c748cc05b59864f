/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is masked by its place in a file, as the schema describes it. Where the
 * schema describes nothing, a map `env` and a secret's name decide.
 */
#include <string.h>

#include "base/conf/mask_impl.h"
#include "base/conf/schema_impl.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/text.h"

static struct mask_place place_of(const struct schema_key *key)
{
    static const enum treatment treatments[] = {
        [SECRECY_BY_NAME] = TREAT_TEXT,
        [SECRECY_SECRET] = TREAT_SECRET,
        [SECRECY_OPEN] = TREAT_OPEN,
    };

    return (struct mask_place){.key = key,
                               .keys = key->keys,
                               .element = key->element,
                               .treatment = treatments[key->secrecy]};
}

/* A key as for --set: trial.env.X, trial.env with a map, notify. */
static bool is_path_of_secret(const char *name, bool is_collection)
{
    size_t length = strlen(name);

    return strcmp(name, "notify") == 0 || text_begins_with(name, "notify.") ||
           text_begins_with(name, "env.") || strstr(name, ".env.") != NULL ||
           (is_collection &&
            (strcmp(name, "env") == 0 ||
             (length > 4 && strcmp(name + length - 4, ".env") == 0)));
}

static enum treatment treat_by_name(const char *name, bool is_collection)
{
    if (is_path_of_secret(name, is_collection))
        return TREAT_SECRET;
    return secret_is_name(name, strlen(name)) ? TREAT_NAMED : TREAT_TEXT;
}

static bool is_scalar(const struct schema_key *key)
{
    const unsigned collections =
        SCHEMA_MAP | SCHEMA_LIST | SCHEMA_ANY_LIST | SCHEMA_ANY_MAP;

    return (key->type & collections) == 0 && key->secrecy == SECRECY_BY_NAME;
}

struct mask_place mask_enter(const struct mask_place *map, const char *name,
                             bool is_collection)
{
    const struct schema_key *key = schema_find(map->keys, name);
    struct mask_place inner = {.treatment = map->treatment, .name = name};

    if (map->treatment != TREAT_TEXT)
        return inner;
    if (is_collection && key != NULL && is_scalar(key))
        key = NULL; /* parallel: [STEP, ...] */
    if (key != NULL)
        inner = place_of(key);
    else if (map->element != NULL)
        inner = place_of(map->element);
    else if (map->keys != NULL) /* {NAME: STEP} */
        inner.keys = map->keys;
    if (inner.treatment == TREAT_TEXT && key == NULL && inner.keys == NULL)
        inner.treatment =
            treat_by_name(name, is_collection && map->element == NULL);
    inner.name = name;
    return inner;
}

char *mask_copy_option(const char *word)
{
    return *word == '-' && strpbrk(word, "= ") == NULL &&
                   secret_is_name(word, strlen(word))
               ? mem_copy_string(word)
               : NULL;
}

struct mask_place mask_enter_item(const struct mask_place *list,
                                  const char *option)
{
    struct mask_place inner = *list;

    if (list->treatment != TREAT_TEXT)
        return inner;
    if (option != NULL)
        return (struct mask_place){.treatment = TREAT_SECRET, .name = option};
    if (list->element != NULL)
        inner = place_of(list->element);
    inner.name = list->name;
    return inner;
}

enum treatment mask_treat_scalar(const struct mask_place *place)
{
    const struct schema_key *key = place->key;
    const struct schema_key *meant =
        key != NULL ? schema_find(key->keys, key->shorthand) : NULL;

    return place->treatment == TREAT_TEXT && meant != NULL
               ? place_of(meant).treatment
               : place->treatment;
}
