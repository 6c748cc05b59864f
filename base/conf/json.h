/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_CONF_JSON_H
#define SMTUNE_BASE_CONF_JSON_H

#include "base/conf/conf.h"
#include "base/json.h"

/* The node and all below it. A number that is not finite becomes null. The
 * caller's to release. */
json_t *conf_to_json(const struct conf_node *node);

#endif
