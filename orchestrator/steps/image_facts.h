/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_IMAGE_FACTS_H
#define SMTUNE_ORCHESTRATOR_STEPS_IMAGE_FACTS_H

#include "base/json.h"

/* Facts of a cache key (cache_facts.h) about the image of a container: its
 * name, and of a file also its state. */
void image_facts_add(const char *image, json_t *facts);

#endif
