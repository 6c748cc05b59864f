/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/cache_key.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "workflows/matrix.h"

/* Of another version the same facts may mean another thing. */
static const char version[] = "smtune cache 2";

struct keying {
    const struct cache_inputs *inputs;
    struct file_hashes *hashes;
    const atomic_bool *stop;
    struct digest *digest;
};

/* What lies in the work directory is known by its path from there. */
static const char *name_of(const struct keying *keying, const char *path)
{
    const char *top = keying->inputs->work_directory;
    size_t length = strlen(top);

    return strncmp(path, top, length) == 0 && path[length] == '/'
               ? path + length + 1
               : path;
}

enum { PARTS_MAX = 100, PART_DIGITS = 16 };

static void keep_part(const struct keying *keying, const char *name,
                      const char *hex)
{
    json_t *parts = keying->inputs->parts;

    if (parts != NULL && json_object_size(parts) < PARTS_MAX)
        json_object_set_new(parts, name, json_stringn(hex, PART_DIGITS));
}

/* Words and scripts are both the command. */
static void keep_facts(const struct keying *keying, const json_t *facts)
{
    const char *key;
    json_t *fact;

    if (keying->inputs->parts == NULL)
        return;
    json_object_foreach((json_t *)(uintptr_t)facts, key, fact)
    {
        bool is_command =
            strcmp(key, "words") == 0 || strcmp(key, "script") == 0;
        char hex[DIGEST_HEX_SIZE];
        struct buf text = BUF_INIT;

        json_print(fact, &text);
        digest_of(text.data, text.length, hex);
        buf_clear(&text);
        keep_part(keying, is_command ? "command" : key, hex);
    }
}

static int add_path(struct keying *keying, const char *path, struct err *err)
{
    char hex[DIGEST_HEX_SIZE], *name;

    if (file_hashes_or_known(keying->hashes, path, keying->inputs->known,
                             keying->stop, hex, err) != 0)
        return -1;
    digest_add_text(keying->digest, name_of(keying, path));
    digest_add_text(keying->digest, hex);
    name = mem_printf("input '%s'", name_of(keying, path));
    keep_part(keying, name, hex);
    free(name);
    return 0;
}

static int add_matches(struct keying *keying, const char *pattern,
                       struct err *err)
{
    json_t *paths = matrix_axis_from_glob(pattern, err);
    int result = paths != NULL ? 0 : -1;

    if (result == 0 && json_array_size(paths) == 0 &&
        !keying->inputs->allows_empty)
        result = err_set(err, ERR_NOT_FOUND, "no file matches '%s'", pattern);
    for (size_t i = 0; result == 0 && i < json_array_size(paths); i++)
        result =
            add_path(keying, json_string_value(json_array_get(paths, i)), err);
    json_decref(paths);
    return result;
}

static int add_input(struct keying *keying, const char *input, struct err *err)
{
    char *path = fs_join(keying->inputs->work_directory, input);
    int result;

    digest_add_text(keying->digest, name_of(keying, path));
    if (matrix_is_pattern(input, path))
        result = add_matches(keying, path, err);
    else
        result = add_path(keying, path, err);
    free(path);
    return result;
}

int cache_key(const json_t *facts, const struct cache_inputs *inputs,
              struct file_hashes *hashes, const atomic_bool *stop,
              char hex[DIGEST_HEX_SIZE], struct err *err)
{
    struct keying keying = {.inputs = inputs,
                            .hashes = hashes,
                            .stop = stop,
                            .digest = digest_create()};
    struct buf text = BUF_INIT;
    int result = 0;

    json_print(facts, &text);
    digest_add_text(keying.digest, version);
    digest_add(keying.digest, text.data, text.length);
    keep_facts(&keying, facts);
    for (size_t i = 0; i < inputs->count && result == 0; i++)
        result = add_input(&keying, inputs->paths[i], err);
    digest_hex(keying.digest, hex);
    digest_destroy(keying.digest);
    buf_clear(&text);
    return result;
}
