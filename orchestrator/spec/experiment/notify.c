/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/spec/experiment/experiment_impl.h"

/* Who is told of a run's course: the keys under `notify`. */

enum { DEFAULT_TIMEOUT_MS = 10000 };

const char *const notify_event_names[] = {
#define X(symbol, word) [symbol] = (word),
    NOTIFY_EVENTS(X)
#undef X
        [NOTIFY_EVENT_COUNT] = NULL};

static const char *const events_known_as[NOTIFY_EVENT_COUNT] = {
    [NOTIFY_SUCCEEDED] = "finished completed done",
};

static const struct schema_key event_element = {
    .name = "event",
    .type = SCHEMA_TEXT,
    .choices = notify_event_names,
    .choices_known_as = events_known_as,
};

const struct schema_key experiment_receiver_keys[] = {
    {
        .name = "url",
        .secrecy = SECRECY_SECRET,
        .type = SCHEMA_TEXT,
        .required = true,
        .doc = "The address for the POST request: http:// or https://. "
               "Redirects are not followed.",
        .example = "https://hooks.example.org/T024/B0",
    },
    {
        .name = "events",
        .type = SCHEMA_LIST,
        .element = &event_element,
        .doc = "The events to send. started: an engine has started the "
               "run; succeeded: its budget is used up or its target "
               "reached; failed: it could not continue, or no trial "
               "succeeded; stopped: by its user; best: a new best trial; "
               "trial_failed: a trial failed with all its retries; test: "
               "from smtune notify --test, always sent.",
        .fallback = "[succeeded, failed]",
        .example = "[succeeded, failed, best]",
    },
    {
        .name = "secret_env",
        .type = SCHEMA_TEXT,
        .doc = "The environment variable with a secret. The header "
               "X-Smtune-Signature is then sha256= and the HMAC-SHA-256 "
               "of the body with this key.",
        .fallback = "messages are not signed",
        .example = "HOOK_SECRET",
    },
    {
        .name = "timeout",
        .type = SCHEMA_DURATION,
        .min = 1,
        .max = 300,
        .doc = "The time limit of one request.",
        .fallback = "10s",
        .example = "30s",
    },
    {.name = NULL},
};

const struct schema_key experiment_receiver = {
    .name = "receiver",
    .type = SCHEMA_MAP,
    .keys = experiment_receiver_keys,
    .shorthand = "url",
};

static bool is_url(const char *text)
{
    const char *host = NULL;

    if (strncmp(text, "http://", strlen("http://")) == 0)
        host = text + strlen("http://");
    if (strncmp(text, "https://", strlen("https://")) == 0)
        host = text + strlen("https://");
    if (host == NULL || *host == '\0' || strchr("/:?#@", *host) != NULL)
        return false;
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return false;
    }
    return true;
}

static uint32_t read_events(const struct conf_node *list)
{
    uint32_t events = 0;

    if (list == NULL || list->type != CONF_LIST)
        return 1u << NOTIFY_SUCCEEDED | 1u << NOTIFY_FAILED;
    for (size_t i = 0; i < list->count; i++) {
        for (int event = 0; event < NOTIFY_EVENT_COUNT; event++)
            if (list->items[i]->type == CONF_TEXT &&
                strcmp(list->items[i]->text, notify_event_names[event]) == 0)
                events |= 1u << event;
    }
    return events;
}

static void add_receiver(struct build *build, const struct conf_node *node)
{
    struct experiment *experiment = build->experiment;
    const struct conf_node *url =
        node->type == CONF_MAP ? conf_get(node, "url") : node;
    struct receiver *receiver =
        &experiment->receivers[experiment->receiver_count];

    if (url == NULL || url->type != CONF_TEXT)
        return;
    if (!is_url(url->text))
        diags_add(build->diags, url->place, NULL,
                  "'%s' is not an http:// or https:// address", url->text);
    receiver->url = url->text;
    receiver->events =
        read_events(conf_get(node, "events")) | 1u << NOTIFY_TEST;
    receiver->secret_env = conf_read_text(node, "secret_env", NULL);
    receiver->timeout_ms = conf_read_ms(node, "timeout", DEFAULT_TIMEOUT_MS);
    experiment->receiver_count++;
}

void experiment_build_notify(struct build *build, const struct conf_node *node)
{
    bool is_list = node != NULL && node->type == CONF_LIST;
    size_t count = is_list ? node->count : 1;

    if (node == NULL)
        return;
    build->experiment->receivers =
        mem_array(count, sizeof(*build->experiment->receivers));
    if (!is_list)
        add_receiver(build, node);
    for (size_t i = 0; is_list && i < count; i++)
        add_receiver(build, node->items[i]);
}
