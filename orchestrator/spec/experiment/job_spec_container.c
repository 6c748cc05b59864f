/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "executors/container/runtime.h"
#include "orchestrator/spec/experiment/job_spec_build.h"

/* `container` and `conda` of a trial or a step. */

static void build_image(struct job_spec_build *t, const struct conf_node *node)
{
    struct container_spec *container = &t->task->container;
    bool is_path;

    if (node == NULL || node->type != CONF_TEXT)
        return;
    container->image =
        job_spec_build_text(t, node, TEMPLATE_TEXT, "container.image");
    is_path = strncmp(node->text, "~/", 2) == 0 ||
              container_image_is_path(node->text);
    if (is_path && container->runtime != NULL &&
        (strcmp(container->runtime, "podman") == 0 ||
         strcmp(container->runtime, "docker") == 0))
        diags_add(t->build->diags, node->place,
                  "leave out 'runtime', or name an image of a registry",
                  "'%s' is a file or a folder, and %s does not run those",
                  node->text, container->runtime);
}

static void build_mounts(struct job_spec_build *t, const struct conf_node *node)
{
    struct container_spec *container = &t->task->container;
    size_t count = node != NULL && node->type == CONF_LIST ? node->count : 1;

    if (node == NULL || (node->type != CONF_LIST && node->type != CONF_TEXT))
        return;
    container->mounts = mem_array(count, sizeof(struct template *));
    for (size_t i = 0; i < count; i++) {
        const struct conf_node *item =
            node->type == CONF_LIST ? node->items[i] : node;
        struct template *mount = NULL;

        if (item->type == CONF_TEXT)
            mount =
                job_spec_build_text(t, item, TEMPLATE_TEXT, "container.mounts");
        if (mount != NULL)
            container->mounts[container->mount_count++] = mount;
    }
}

static void build_options(struct job_spec *spec, const struct conf_node *list)
{
    struct container_spec *container = &spec->container;

    if (list == NULL || list->type != CONF_LIST)
        return;
    container->options = mem_array(list->count, sizeof(*container->options));
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->type == CONF_TEXT)
            container->options[container->option_count++] =
                list->items[i]->text;
}

static void build_conda(struct job_spec_build *t, const struct conf_node *node)
{
    if (node == NULL || node->type != CONF_TEXT)
        return;
    if (text_ends_with(node->text, ".yml") ||
        text_ends_with(node->text, ".yaml") ||
        text_ends_with(node->text, ".txt"))
        diags_add(t->build->diags, node->place,
                  "make the environment first, for example by 'conda env "
                  "create', and write its name here",
                  "'%s' is a file, and no environment", node->text);
    t->task->conda = job_spec_build_text(t, node, TEMPLATE_TEXT, "conda");
    t->task->conda_folder = build_resolve_path(t->build->file, ".");
}

/* Of a container and an environment, one of which is a default's, a step has
 * its own. */
static void drop_default(const struct conf_node *own,
                         const struct conf_node **container,
                         const struct conf_node **conda)
{
    bool has_container = conf_get(own, "container") != NULL;
    bool has_conda = conf_get(own, "conda") != NULL;

    if (has_conda && !has_container)
        *container = NULL;
    if (has_container && !has_conda)
        *conda = NULL;
}

void job_spec_build_container(struct job_spec_build *t,
                              const struct conf_node *map,
                              const struct conf_node *own)
{
    const struct conf_node *node = conf_get(map, "container");
    const struct conf_node *conda = conf_get(map, "conda");
    bool is_map;

    drop_default(own, &node, &conda);
    is_map = node != NULL && node->type == CONF_MAP;
    if (node != NULL && conda != NULL)
        diags_add(t->build->diags, conda->place,
                  "put the environment into the image",
                  "%s has both 'container' and 'conda': use one", t->what);
    build_conda(t, conda);
    if (node == NULL)
        return;
    t->task->container.folder = build_resolve_path(t->build->file, ".");
    if (is_map)
        t->task->container.runtime = conf_read_text(node, "runtime", NULL);
    build_image(t, is_map ? conf_get(node, "image") : node);
    if (is_map) {
        build_mounts(t, conf_get(node, "mounts"));
        build_options(t->task, conf_get(node, "options"));
    }
}
