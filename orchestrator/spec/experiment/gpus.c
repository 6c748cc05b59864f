/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The item of `gpus` has several forms: 2, 0.5, a100:2 as Slurm writes it, and
 * {a100: 2}. The schema lets any text and any map through; their contents are
 * checked here. One type is possible: GPUs of two types on a node could not be
 * divided among ranks that are all the same.
 */
#include "orchestrator/spec/experiment/gpus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"

enum { PERMILLE = 1000 };

/* Of text that is no TYPE:NUMBER. */
static void refuse(struct build *build, const struct conf_node *node,
                   const char *label)
{
    bool is_map = node->type == CONF_MAP;
    const char *quote = is_map ? "" : "'";

    diags_add(build->diags, node->place, "such as 2 or a100:2",
              "type mismatch: %s must be a number or TYPE:NUMBER, not %s%s%s",
              label, quote, is_map ? "a map of another form" : node->text,
              quote);
}

/* Letters, digits, '_', '-' and '.': what Slurm's names of types have. */
static bool is_type(const char *text, size_t length)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";

    return length > 0 && strspn(text, letters) >= length;
}

/* 0: it is none from 1 to the most. */
static int read_count(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    long count = digits < 6 ? strtol(text, NULL, 10) : 0;

    return digits > 0 && text[digits] == '\0' && count <= GPUS_MAX_EACH
               ? (int)count
               : 0;
}

static void read_text(struct build *build, const struct conf_node *node,
                      const char *label, struct resources *resources)
{
    size_t length = strcspn(node->text, ":");

    if (node->text[length] == ':')
        resources->gpus = read_count(node->text + length + 1);
    if (resources->gpus == 0 || !is_type(node->text, length)) {
        refuse(build, node, label);
        return;
    }
    resources->slurm.gpu_type =
        build_take(build->file, mem_copy_bytes(node->text, length));
}

static void read_map(struct build *build, const struct conf_node *map,
                     const char *label, struct resources *resources)
{
    const struct conf_node *type = map->count > 0 ? map->keys[0] : NULL;

    if (map->count != 1) {
        diags_add(build->diags,
                  map->count > 1 ? map->keys[1]->place : map->place, NULL,
                  "%s must have one type of GPU, not %zu", label, map->count);
        return;
    }
    if (map->items[0]->type == CONF_INT)
        resources->gpus = read_count(map->items[0]->text);
    if (resources->gpus == 0 || !is_type(type->text, strlen(type->text)))
        refuse(build, map, label);
    else
        resources->slurm.gpu_type = type->text;
}

/* A part is of one GPU, so that no trial has parts of two. */
static void read_part(struct build *build, const struct conf_node *node,
                      const char *label, struct resources *resources)
{
    double permille = round(node->real * PERMILLE);

    if (node->real == floor(node->real)) {
        resources->gpus = (int)node->real;
    } else if (permille < 1 || permille >= PERMILLE) {
        diags_add(build->diags, node->place, "such as 0.5 or 2",
                  "out of range: %s must be a part of one GPU or a whole "
                  "number, not %s",
                  label, node->text);
    } else {
        resources->gpus = 1;
        resources->gpu_permille = (int)permille;
    }
}

void gpus_build(struct build *build, const struct conf_node *node,
                const char *label, struct resources *resources)
{
    if (node == NULL)
        return;
    if (node->type == CONF_INT)
        resources->gpus = (int)node->integer;
    else if (node->type == CONF_REAL)
        read_part(build, node, label, resources);
    else if (node->type == CONF_TEXT)
        read_text(build, node, label, resources);
    else if (node->type == CONF_MAP)
        read_map(build, node, label, resources);
}

int64_t gpus_permille(const struct resources *resources)
{
    return resources->gpu_permille > 0 ? resources->gpu_permille
                                       : (int64_t)PERMILLE * resources->gpus;
}

char *gpus_words(const struct resources *resources)
{
    const char *type = resources->slurm.gpu_type;

    if (resources->gpus == 0)
        return NULL;
    if (resources->gpu_permille > 0)
        return mem_printf("%g GPU", (double)resources->gpu_permille / PERMILLE);
    return mem_printf("%d %s%sGPU%s", resources->gpus, type != NULL ? type : "",
                      type != NULL ? " " : "", units_plural(resources->gpus));
}

static int find_models(struct machine_gpus *machine, struct err *err)
{
    struct gpu gpus[GPUS_MAX];
    size_t count;

    if (!machine->was_asked) {
        count = gpus_find("", getenv("CUDA_VISIBLE_DEVICES"), gpus);
        machine->is_unknown =
            gpu_models_find(gpus, count, &machine->models, &machine->why) != 0;
        machine->was_asked = true;
    }
    if (machine->is_unknown && err != NULL)
        *err = machine->why;
    return machine->is_unknown ? -1 : 0;
}

int gpus_check(const struct job_spec *spec,
               const struct executor_options *executor,
               struct machine_gpus *machine, struct err *err)
{
    const struct resources *resources = &spec->resources;
    const char *type = resources->slurm.gpu_type;
    struct gpu_models given;
    uint64_t set;

    if (type == NULL || strcmp(executor->name, "local") != 0)
        return 0;
    if (find_models(machine, err) != 0)
        return err_prefix(err, "gpus");
    given = machine->models;
    if (executor->gpus >= 0 && (size_t)executor->gpus < given.count)
        given.count = (size_t)executor->gpus;
    if (gpu_models_choose(&given, type, resources->gpus, &set, err) != 0)
        return err_prefix(err, "gpus");
    return 0;
}

void gpus_warn(const struct job_spec *spec, const struct conf_node *resources,
               const struct executor_options *executor,
               struct machine_gpus *machine, struct diags *warnings)
{
    const struct conf_node *node = conf_get(resources, "gpus");
    struct err err;

    if (node != NULL && gpus_check(spec, executor, machine, &err) != 0)
        diags_add(warnings, node->place, "on this machine no trial can start",
                  "%s", err.text);
}
