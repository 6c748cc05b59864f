/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf/conf.h"
#include "base/conf/schema_impl.h"
#include "base/mem.h"
#include "base/text.h"

/* Below the map that a key stands in, so many maps deep it is looked for. */
enum { DEPTH_MAX = 2 };

/* The keys found at one depth: the first one's path, and how many there are. */
struct guess {
    const char *word;
    char *path;
    size_t count;
};

static void add(struct guess *guess, const char *prefix, const char *name)
{
    if (guess->count++ == 0)
        guess->path = mem_printf("%s%s", prefix, name);
}

/* Looks among the keys, or the free ones of the map, `depth` maps further in.
 */
static void look(const struct schema_key *keys, const struct conf_node *map,
                 const char *prefix, int depth, struct guess *guess)
{
    for (; keys->name != NULL; keys++) {
        const struct conf_node *inner = conf_get(map, keys->name);
        char *path = mem_printf("%s%s.", prefix, keys->name);

        if (depth > 0 && keys->keys != NULL)
            look(keys->keys, inner, path, depth - 1, guess);
        else if (depth == 1 && conf_get(inner, guess->word) != NULL)
            add(guess, path, guess->word);
        else if (depth == 0 && (strcmp(keys->name, guess->word) == 0 ||
                                text_has_word(keys->known_as, guess->word)))
            add(guess, prefix, keys->name);
        free(path);
    }
}

char *schema_guess(const struct schema_key *keys, const struct conf_node *map,
                   const char *word)
{
    struct guess guess = {.word = word};

    for (int depth = 0; depth <= DEPTH_MAX && guess.count == 0; depth++)
        look(keys, map, "", depth, &guess);
    if (guess.count == 1)
        return guess.path;
    free(guess.path);
    return NULL;
}

const char *schema_guess_choice(const struct schema_key *key, const char *word)
{
    if (key->choices_known_as == NULL)
        return NULL;
    for (size_t i = 0; key->choices[i] != NULL; i++)
        if (text_has_word(key->choices_known_as[i], word))
            return key->choices[i];
    return NULL;
}
