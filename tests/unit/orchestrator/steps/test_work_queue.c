/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/work_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/mem.h"

/* What happens is written down as words: "w" for what the thread did and "d"
 * for what was told, with the item's letter; "c" when the queue is closed. */
struct bench {
    uv_loop_t loop;
    struct work_queue *queue; /* NULL: closed */
    char words[64];
    int items; /* that have not been destroyed */
    void (*on_done)(struct bench *bench);
};

struct errand {
    struct work_item item;
    struct bench *bench;
    char letter;
    int rounds;      /* so often the thread goes on with it */
    bool is_endless; /* until it is told to stop */
};

static void add_word(struct bench *bench, char kind, char letter)
{
    size_t length = strlen(bench->words);

    assert_true(length + 4 < sizeof(bench->words));
    bench->words[length] = kind;
    bench->words[length + 1] = letter;
    bench->words[length + 2] = ' ';
}

static void on_work(void *owner, struct work_item *item,
                    const atomic_bool *stop)
{
    const struct errand *errand = (struct errand *)item;
    const struct timespec moment = {.tv_nsec = 100000};

    while (errand->is_endless && !atomic_load(stop))
        nanosleep(&moment, NULL); /* its work, which has no end */
    add_word(owner, 'w', errand->letter);
}

static bool on_done(void *owner, struct work_item *item)
{
    struct errand *errand = (struct errand *)item;
    struct bench *bench = owner;

    assert_ptr_equal(item->user, &errand->bench->words);
    if (errand->rounds-- > 0)
        return true;
    add_word(bench, 'd', errand->letter);
    if (bench->on_done != NULL)
        bench->on_done(bench);
    return false;
}

static void destroy(struct work_item *item)
{
    struct errand *errand = (struct errand *)item;

    errand->bench->items--;
    free(errand);
}

static void on_closed(void *owner)
{
    struct bench *bench = owner;

    add_word(bench, 'c', '.');
    bench->queue = NULL;
}

static const struct work_queue_ops ops = {on_work, on_done, destroy, on_closed};

static void bench_open(struct bench *bench)
{
    memset(bench, 0, sizeof(*bench));
    assert_int_equal(uv_loop_init(&bench->loop), 0);
    bench->queue = work_queue_create(&bench->loop, &ops, bench);
}

/* All ask in one name. */
static void add(struct bench *bench, struct errand like)
{
    struct errand *errand = mem_zero(sizeof(*errand));

    *errand = like;
    errand->bench = bench;
    errand->item.user = &bench->words;
    bench->items++;
    work_queue_add(bench->queue, &errand->item);
}

static void forget(struct bench *bench)
{
    work_queue_forget(bench->queue, &bench->words);
}

/* Does all that there is to do, and looks what was done. */
static void bench_close(struct bench *bench, const char *words)
{
    uv_run(&bench->loop, UV_RUN_DEFAULT);
    if (bench->queue != NULL)
        work_queue_destroy(bench->queue);
    assert_null(bench->queue);
    assert_string_equal(bench->words, words);
    assert_int_equal(bench->items, 0);
    assert_int_equal(uv_loop_close(&bench->loop), 0);
}

static void test_work_queue__does_one_after_another(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench);
    add(&bench, (struct errand){.letter = 'a'});
    add(&bench, (struct errand){.letter = 'b'});
    add(&bench, (struct errand){.letter = 'c'});
    assert_null(strchr(bench.words, 'd')); /* never from inside the question */
    bench_close(&bench, "wa da wb db wc dc c. ");
}

static void test_work_queue__goes_on_with_what_is_not_done(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench);
    add(&bench, (struct errand){.letter = 'a', .rounds = 2});
    add(&bench, (struct errand){.letter = 'b'});
    bench_close(&bench, "wa wa wa da wb db c. ");
}

/* What the thread has in hand is stopped; what waits is not begun. */
static void test_work_queue__forgets(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench);
    add(&bench, (struct errand){.letter = 'a', .is_endless = true});
    add(&bench, (struct errand){.letter = 'b'});
    forget(&bench);
    assert_int_equal(bench.items, 1);
    add(&bench, (struct errand){.letter = 'c'});
    bench_close(&bench, "wa wc dc c. ");
}

/* Those of others stay. */
static void test_work_queue__forgets_one_user_alone(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench);
    add(&bench, (struct errand){.letter = 'a'});
    add(&bench, (struct errand){.letter = 'b'});
    work_queue_forget(bench.queue, &bench.loop);
    bench_close(&bench, "wa da wb db c. ");
}

static void test_work_queue__closes_when_the_thread_has_stopped(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench);
    add(&bench, (struct errand){.letter = 'a', .is_endless = true});
    add(&bench, (struct errand){.letter = 'b'});
    work_queue_destroy(bench.queue);
    assert_non_null(bench.queue);
    bench_close(&bench, "wa c. ");
}

/* ---- what is told leads to calls ---- */

static void close_in_it(struct bench *bench)
{
    work_queue_destroy(bench->queue);
    assert_non_null(bench->queue);
}

static void add_in_it(struct bench *bench)
{
    bench->on_done = NULL;
    add(bench, (struct errand){.letter = 'b'});
}

static void forget_in_it(struct bench *bench)
{
    forget(bench);
    assert_int_equal(bench->items, 1);
    add_in_it(bench);
}

static void test_work_queue__is_called_from_what_it_tells(void **state)
{
    static const struct {
        void (*on_done)(struct bench *bench);
        const char *words;
    } cases[] = {
        {close_in_it, "wa da c. "},
        {add_in_it, "wa da wz dz wb db c. "},
        {forget_in_it, "wa da wb db c. "},
    };
    struct bench bench;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bench_open(&bench);
        bench.on_done = cases[i].on_done;
        add(&bench, (struct errand){.letter = 'a'});
        add(&bench, (struct errand){.letter = 'z'});
        bench_close(&bench, cases[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_queue__does_one_after_another),
        cmocka_unit_test(test_work_queue__goes_on_with_what_is_not_done),
        cmocka_unit_test(test_work_queue__forgets),
        cmocka_unit_test(test_work_queue__forgets_one_user_alone),
        cmocka_unit_test(test_work_queue__closes_when_the_thread_has_stopped),
        cmocka_unit_test(test_work_queue__is_called_from_what_it_tells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
