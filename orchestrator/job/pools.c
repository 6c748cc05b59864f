/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/pools.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"

struct pools {
    json_t *all;    /* as in the variable */
    char *variable; /* NULL: there are none */
};

static bool is_pool(const json_t *pool)
{
    const char *directory =
        json_string_value(json_object_get(pool, "directory"));
    json_int_t size = json_integer_value(json_object_get(pool, "size"));

    return directory != NULL && directory[0] == '/' && size >= 1 &&
           size <= POOL_SIZE_MAX;
}

static int inherit(struct pools *pools, const char *text, struct err *err)
{
    json_t *all = json_parse(text, strlen(text), err), *pool;
    const char *name;

    json_object_foreach(all, name, pool)
    {
        if (!is_pool(pool)) {
            json_decref(all);
            return err_set(err, ERR_USAGE, "'%s' is not a pool", name);
        }
    }
    if (!json_is_object(all)) {
        json_decref(all);
        return err_set(err, ERR_USAGE,
                       "type mismatch: expected an object of pools");
    }
    json_decref(pools->all);
    pools->all = all;
    return 0;
}

static void add_own(struct pools *pools, const struct workflow *workflow,
                    const char *directory)
{
    for (size_t i = 0; i < workflow->pool_count; i++) {
        const struct pool *own = &workflow->pools[i];
        char *path;

        if (json_object_get(pools->all, own->name) != NULL)
            continue;
        path = fs_join(directory, own->name);
        json_object_set_new(pools->all, own->name,
                            json_pack("{s:s, s:I}", "directory", path, "size",
                                      (json_int_t)own->size));
        free(path);
    }
}

struct pools *pools_create(const struct workflow *workflow,
                           const char *run_directory, const char *inherited,
                           struct err *err)
{
    struct pools *pools = mem_zero(sizeof(*pools));
    char *directory = fs_join(run_directory, "pools");
    struct buf text = BUF_INIT;
    int result = 0;

    pools->all = json_object();
    if (inherited != NULL && inherit(pools, inherited, err) != 0)
        result = err_prefix(err, POOLS_VARIABLE);
    if (result == 0 && workflow != NULL && workflow->pool_count > 0) {
        result = fs_make_shared_directories(directory, err);
        add_own(pools, workflow, directory);
    }
    free(directory);
    if (result != 0) {
        pools_destroy(pools);
        return NULL;
    }
    if (json_object_size(pools->all) > 0) {
        json_print(pools->all, &text);
        pools->variable = buf_take(&text);
    }
    return pools;
}

void pools_destroy(struct pools *pools)
{
    if (pools == NULL)
        return;
    json_decref(pools->all);
    free(pools->variable);
    free(pools);
}

const char *pools_variable(const struct pools *pools)
{
    return pools->variable;
}

size_t pools_claim(const struct pools *pools, const struct job_spec *spec,
                   struct attempt_pool claims[ATTEMPT_POOLS_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < spec->pool_count && count < ATTEMPT_POOLS_MAX; i++) {
        const json_t *pool = json_object_get(pools->all, spec->pools[i].name);

        if (pool == NULL)
            continue;
        claims[count++] = (struct attempt_pool){
            .directory = json_string_value(json_object_get(pool, "directory")),
            .amount = spec->pools[i].amount,
            .size = json_integer_value(json_object_get(pool, "size")),
        };
    }
    return count;
}
