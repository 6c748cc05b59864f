/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/image_facts.h"

#include <sys/stat.h>

void image_facts_add(const char *image, json_t *facts)
{
    struct stat status;

    json_object_set_new(facts, "image", json_from_text(image));
    if (image[0] != '/' || stat(image, &status) != 0)
        return;
    json_object_set_new(facts, "bytes", json_integer(status.st_size));
    json_object_set_new(facts, "changed", json_integer(status.st_mtim.tv_sec));
}
