/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf/read.h"
#include "base/mem.h"
#include "base/units.h"
#include "orchestrator/spec/experiment/signal_name.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/* `continue` of a step. */

enum { DEFAULT_LINKS = 100, EXIT_STATUSES = 256 };

static void build_signal(struct step_build *s, const struct conf_node *signal)
{
    struct link_rule *link = &s->step->link;
    const char *at = NULL;
    char *name;

    if (signal == NULL || signal->type != CONF_TEXT)
        return;
    at = strchr(signal->text, '@');
    if (at == NULL || units_parse_duration(at + 1, &link->before_ms) != 0 ||
        link->before_ms == 0) {
        diags_add(s->w->build.diags, signal->place, NULL,
                  "'%s' must be a signal, @ and a time, such as USR2@120",
                  signal->text);
        return;
    }
    name = mem_copy_bytes(signal->text, (size_t)(at - signal->text));
    link->signal = job_spec_find_signal(&s->w->build, signal, name);
    if (link->signal > 0 && !signal_can_be_handled(link->signal))
        diags_add(s->w->build.diags, signal->place, "for example USR2@120",
                  "no program can handle the signal '%s'", name);
    free(name);
    if (s->task.task->resources.time_ms > 0 &&
        link->before_ms >= s->task.task->resources.time_ms)
        diags_add(s->w->build.diags, signal->place, NULL,
                  "the signal would precede the step: its time limit is not "
                  "longer");
}

static void build_exits(struct step_build *s, const struct conf_node *node)
{
    struct link_rule *link = &s->step->link;

    for (size_t i = 0; i < conf_item_count(node); i++) {
        const struct conf_node *item = conf_item_at(node, i);
        double status = conf_number(item);

        if (status >= 0 && status < EXIT_STATUSES)
            link->exits.bits[(int)status / 64] |= UINT64_C(1)
                                                  << ((int)status % 64);
    }
    if (conf_item_count(node) > 0 && link->signal == 0)
        diags_add(s->w->build.diags, node->place,
                  "add continue.signal, for example USR2@120",
                  "%s lists exit statuses after its signal, but has no signal",
                  s->source->what);
}

void workflow_build_link(struct step_build *s)
{
    const struct conf_node *node = conf_get(s->source->own, "continue");
    struct link_rule *link = &s->step->link;

    if (node == NULL || node->type != CONF_MAP)
        return;
    link->max = conf_read_int(node, "max", DEFAULT_LINKS);
    link->ahead = conf_read_int(node, "ahead", 1);
    link->total_ms = conf_read_ms(node, "total", 0);
    s->task.task->has_checkpoints = true;
    if (s->task.task->resources.time_ms == 0)
        diags_add(
            s->w->build.diags, conf_get_key(s->source->own, "continue")->place,
            "set resources.time, or timeout",
            "%s continues past its time limit, but has none", s->source->what);
    build_signal(s, conf_get(node, "signal"));
    build_exits(s, conf_get(node, "on"));
}
