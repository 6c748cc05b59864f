/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_source STORE WHAT [RUN [NUMBER]]: prints what the dashboard is told, the
 * same by several threads at once, each with a connection of its own. WHAT is a
 * function of struct dashboard_source. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "cli/serve/dashboard_source.h"
#include "store/store.h"

enum { THREADS = 4 };

struct question {
    const char *store, *what;
    int64_t run, number;
    struct dashboard_source source;
};

static json_t *ask(const struct question *question, struct store *store,
                   struct err *err)
{
    const struct dashboard_source *source = &question->source;
    void *user = source->user;

    if (strcmp(question->what, "run") == 0)
        return source->run(user, store, question->run, err);
    if (strcmp(question->what, "origin") == 0)
        return source->origin(user, store, question->run, err);
    if (strcmp(question->what, "job") == 0)
        return source->job(user, store, question->run, question->number, err);
    if (strcmp(question->what, "why") == 0)
        return source->why(user, store, question->run, question->number, err);
    if (strcmp(question->what, "importance") == 0)
        return source->importance(user, store, question->run, err);
    if (strcmp(question->what, "graph") == 0)
        return source->graph(user, store, question->run, err);
    return source->machine(user, store, err);
}

static void *answer(void *user)
{
    const struct question *question = user;
    struct err err = {0};
    struct store *store = store_open(question->store, STORE_READ, &err);
    struct buf text = BUF_INIT;
    json_t *json = store == NULL ? NULL : ask(question, store, &err);

    if (json != NULL)
        json_print_pretty(json, &text);
    else
        buf_printf(&text, "error %d: %s\n", (int)err.kind, err.text);
    json_decref(json);
    store_close(store);
    return buf_take(&text);
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];
    char *answers[THREADS];
    struct question question = {
        .store = words[1],
        .what = words[2],
        .run = count > 3 ? strtoll(words[3], NULL, 10) : 0,
        .number = count > 4 ? strtoll(words[4], NULL, 10) : 0,
    };
    struct source_user *user = source_user_create(words[1]);
    bool is_same = true;

    source_set_documents(&question.source, user);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, answer, &question);
    for (size_t i = 0; i < THREADS; i++) {
        void *text;

        pthread_join(threads[i], &text);
        answers[i] = text;
    }
    fputs(answers[0], stdout);
    fprintf(stderr, "%.1f ms of CPU each\n",
            (double)clock() / CLOCKS_PER_SEC * 1000.0 / THREADS);
    for (size_t i = 1; i < THREADS; i++)
        is_same &= strcmp(question.what, "machine") == 0 ||
                   strcmp(answers[i], answers[0]) == 0;
    for (size_t i = 0; i < THREADS; i++)
        free(answers[i]);
    source_user_destroy(user);
    return is_same ? 0 : 1;
}
