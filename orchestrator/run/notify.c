/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/notify.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/hmac.h"
#include "base/mem.h"
#include "base/net/fetch.h"
#include "base/token.h"

enum {
    TRIES_MAX = 10,
    FIRST_DELAY_MS = 1000,
    DELAY_FACTOR = 4,
    DELAY_MAX_MS = 3600 * 1000,
    TURN_MS = 100,
    WAITING_MAX = 1000, /* messages to one receiver */
    DELIVERY_BYTES = 16,
    ERROR_SIZE = 256
};

/* A message is in the record; its state here may be ahead of it. */
struct message {
    TAILQ_ENTRY(message) link;
    struct notifier *notifier;
    int64_t id;
    size_t receiver;
    char *delivery, *event, *body;
    int64_t tries;
    int64_t due_ms; /* clock_monotonic_ms() */
    bool is_committed;
    bool is_under_way;
    bool is_news; /* what follows is not in the record yet */
    bool is_delivered, is_given_up;
    char error[ERROR_SIZE];
};

TAILQ_HEAD(messages, message);

struct notifier {
    uv_loop_t *loop;
    struct store *store;
    int64_t run;
    const struct experiment *experiment;
    struct fetcher *fetcher;
    uv_timer_t due;
    struct messages messages; /* in the order of their making */
    size_t count;
};

/* ---- messages ---- */

static struct message *add_message(struct notifier *notifier, size_t receiver,
                                   const char *event)
{
    struct message *message = mem_zero(sizeof(*message));

    message->notifier = notifier;
    message->receiver = receiver;
    message->event = mem_copy_string(event);
    TAILQ_INSERT_TAIL(&notifier->messages, message, link);
    notifier->count++;
    return message;
}

/* One that is in no list. */
static void message_destroy(struct message *message)
{
    free(message->delivery);
    free(message->event);
    free(message->body);
    free(message);
}

static size_t waiting_for(const struct notifier *notifier, size_t receiver)
{
    const struct message *message;
    size_t count = 0;

    TAILQ_FOREACH(message, &notifier->messages, link)
    {
        count += message->receiver == receiver;
    }
    return count;
}

/* ---- sending ---- */

static int64_t delay_ms(int64_t tries)
{
    double ms = FIRST_DELAY_MS * pow(DELAY_FACTOR, (double)(tries - 1));

    return ms < DELAY_MAX_MS ? (int64_t)ms : DELAY_MAX_MS;
}

/* Whether another try may find the receiver in a better state. */
static bool may_pass(int status)
{
    return status == 0 || status == 408 || status == 425 || status == 429 ||
           status >= 500;
}

static void on_answer(void *user, const struct fetch_answer *answer)
{
    struct message *message = user;
    int status = answer->status;

    message->is_under_way = false;
    message->is_news = true;
    message->tries++;
    message->error[0] = '\0';
    message->is_delivered = status >= 200 && status < 300;
    if (message->is_delivered)
        return;
    if (status == 0)
        snprintf(message->error, sizeof(message->error), "%s", answer->text);
    else
        snprintf(message->error, sizeof(message->error), "HTTP status %d",
                 status);
    message->is_given_up = !may_pass(status) || message->tries >= TRIES_MAX;
    message->due_ms = clock_monotonic_ms() + delay_ms(message->tries);
}

static void post(struct message *message)
{
    struct notifier *notifier = message->notifier;
    const struct receiver *receiver =
        &notifier->experiment->receivers[message->receiver];
    size_t length = strlen(message->body);
    char hex[HMAC_HEX_SIZE] = "";
    char *delivery = mem_printf("X-Smtune-Delivery: %s", message->delivery);
    char *event = mem_printf("X-Smtune-Event: %s", message->event);
    char *signature = NULL;
    const char *headers[] = {"Content-Type: application/json", delivery, event,
                             NULL, NULL};
    struct err err;

    if (receiver->secret_env != NULL) {
        hmac_sha256_hex(getenv(receiver->secret_env), message->body, length,
                        hex);
        signature = mem_printf("X-Smtune-Signature: sha256=%s", hex);
        headers[3] = signature;
    }
    message->is_under_way = true;
    if (fetch(notifier->fetcher,
              &(struct fetch_request){
                  .method = FETCH_POST,
                  .url = receiver->url,
                  .headers = headers,
                  .body = message->body,
                  .body_bytes = length,
                  .timeout_ms = (int)receiver->timeout_ms,
              },
              on_answer, message, &err) != 0)
        on_answer(message, &(struct fetch_answer){.text = err.text});
    free(delivery);
    free(event);
    free(signature);
}

static void on_due(uv_timer_t *handle);

/* To each receiver its oldest message, once that is due. */
static void send_due(struct notifier *notifier)
{
    size_t count = notifier->experiment->receiver_count;
    bool *is_taken = mem_array(count, sizeof(*is_taken));
    int64_t now_ms = clock_monotonic_ms(), wait_ms = INT64_MAX;
    struct message *message;

    TAILQ_FOREACH(message, &notifier->messages, link)
    {
        if (is_taken[message->receiver] || !message->is_committed)
            continue;
        is_taken[message->receiver] = true;
        if (message->is_under_way || message->is_news)
            continue;
        if (message->due_ms <= now_ms)
            post(message);
        else if (message->due_ms - now_ms < wait_ms)
            wait_ms = message->due_ms - now_ms;
    }
    if (wait_ms < INT64_MAX)
        uv_timer_start(&notifier->due, on_due, (uint64_t)wait_ms, 0);
    free(is_taken);
}

static void on_due(uv_timer_t *handle)
{
    send_due(handle->data);
}

void notifier_send(struct notifier *notifier)
{
    struct message *message;

    TAILQ_FOREACH(message, &notifier->messages, link)
    {
        message->is_committed = true;
    }
    send_due(notifier);
}

/* Nothing else that the notifier waits for keeps a loop turning. */
int notifier_deliver(struct notifier *notifier, int64_t patience_ms,
                     int (*turn)(void *user), void *user)
{
    int64_t end_ms = clock_monotonic_ms() + patience_ms;
    int result = 0;

    uv_ref((uv_handle_t *)&notifier->due);
    while (result == 0 && notifier->count > 0 &&
           clock_monotonic_ms() < end_ms) {
        notifier_send(notifier);
        uv_timer_start(&notifier->due, on_due, TURN_MS, 0);
        uv_run(notifier->loop, UV_RUN_ONCE);
        result = turn(user);
    }
    uv_unref((uv_handle_t *)&notifier->due);
    return result;
}

/* ---- the record ---- */

bool notifier_wants(const struct notifier *notifier, enum notify_event event)
{
    const struct experiment *experiment = notifier->experiment;

    for (size_t i = 0; i < experiment->receiver_count; i++) {
        if (experiment->receivers[i].events & (1u << event))
            return true;
    }
    return false;
}

static int add_to(struct notifier *notifier, size_t receiver,
                  enum notify_event event, json_t *json, struct err *err)
{
    struct buf body = BUF_INIT;
    struct message *message;

    message = add_message(notifier, receiver, notify_event_names[event]);
    message->delivery = mem_zero(TOKEN_SIZE(DELIVERY_BYTES));
    token_draw(message->delivery, DELIVERY_BYTES);
    message->due_ms = clock_monotonic_ms();
    json_object_set_new(json, "delivery", json_from_text(message->delivery));
    json_print(json, &body);
    message->body = buf_take(&body);
    return store_add_notification(notifier->store,
                                  &(struct notification_new){
                                      .run = notifier->run,
                                      .delivery = message->delivery,
                                      .receiver = (int64_t)receiver,
                                      .event = message->event,
                                      .body = message->body,
                                      .time_ms = clock_wall_ms(),
                                  },
                                  &message->id, err);
}

int notifier_add(struct notifier *notifier, enum notify_event event,
                 json_t *message, struct err *err)
{
    const struct experiment *experiment = notifier->experiment;

    for (size_t i = 0; i < experiment->receiver_count; i++) {
        if ((experiment->receivers[i].events & (1u << event)) &&
            waiting_for(notifier, i) < WAITING_MAX &&
            add_to(notifier, i, event, message, err) != 0)
            return -1;
    }
    return 0;
}

bool notifier_has_news(const struct notifier *notifier)
{
    const struct message *message;

    TAILQ_FOREACH(message, &notifier->messages, link)
    {
        if (message->is_news)
            return true;
    }
    return false;
}

int notifier_record(struct notifier *notifier, struct err *err)
{
    struct message *message, *next;
    int64_t now_ms = clock_wall_ms();

    for (message = TAILQ_FIRST(&notifier->messages); message != NULL;
         message = next) {
        next = TAILQ_NEXT(message, link);
        if (!message->is_news)
            continue;
        if (store_set_notification(
                notifier->store,
                &(struct notification_try){
                    .id = message->id,
                    .tries = message->tries,
                    .due_ms = now_ms + message->due_ms - clock_monotonic_ms(),
                    .delivered_ms = message->is_delivered ? now_ms : 0,
                    .given_up_ms = message->is_given_up ? now_ms : 0,
                    .error = message->error[0] != '\0' ? message->error : NULL,
                },
                err) != 0)
            return -1;
        message->is_news = false;
        if (message->is_delivered || message->is_given_up) {
            TAILQ_REMOVE(&notifier->messages, message, link);
            notifier->count--;
            message_destroy(message);
        }
    }
    return 0;
}

size_t notifier_waiting(const struct notifier *notifier)
{
    return notifier->count;
}

/* ---- life ---- */

/* What an earlier engine did not deliver is due at once. */
static int on_row(void *user, const struct notification_row *row)
{
    struct notifier *notifier = user;
    struct message *message;

    if (row->delivered_ms > 0 || row->given_up_ms > 0 ||
        (size_t)row->receiver >= notifier->experiment->receiver_count)
        return 0;
    message = add_message(notifier, (size_t)row->receiver, row->event);
    message->id = row->id;
    message->body = mem_copy_string(row->body);
    message->delivery = mem_copy_string(row->delivery);
    message->tries = row->tries;
    message->is_committed = true;
    return 0;
}

int notifier_check(const struct experiment *experiment, struct err *err)
{
    for (size_t i = 0; i < experiment->receiver_count; i++) {
        const char *name = experiment->receivers[i].secret_env;

        if (name != NULL && getenv(name) == NULL)
            return err_set(
                err, ERR_USAGE,
                "notify: missing environment variable '%s', which contains "
                "the secret",
                name);
    }
    return 0;
}

struct notifier *notifier_create(uv_loop_t *loop, struct store *store,
                                 int64_t run,
                                 const struct experiment *experiment,
                                 struct err *err)
{
    struct notifier *notifier;

    if (notifier_check(experiment, err) != 0)
        return NULL;
    notifier = mem_zero(sizeof(*notifier));
    TAILQ_INIT(&notifier->messages);
    notifier->loop = loop;
    notifier->store = store;
    notifier->run = run;
    notifier->experiment = experiment;
    uv_timer_init(loop, &notifier->due);
    uv_unref((uv_handle_t *)&notifier->due);
    notifier->due.data = notifier;
    notifier->fetcher = fetcher_create(loop, err);
    if (notifier->fetcher == NULL) {
        err_prefix(err, "notify");
        notifier_destroy(notifier);
        return NULL;
    }
    if (store_each_notification(store, run, on_row, notifier, err) != 0) {
        notifier_destroy(notifier);
        return NULL;
    }
    return notifier;
}

static void free_notifier(uv_handle_t *handle)
{
    free(handle->data);
}

void notifier_destroy(struct notifier *notifier)
{
    struct message *message;

    if (notifier == NULL)
        return;
    fetcher_destroy(notifier->fetcher);
    while ((message = TAILQ_FIRST(&notifier->messages)) != NULL) {
        TAILQ_REMOVE(&notifier->messages, message, link);
        message_destroy(message);
    }
    uv_close((uv_handle_t *)&notifier->due, free_notifier);
}
