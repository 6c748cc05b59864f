/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/text.h"
#include "cli/drive/progress.h"
#include "cli/term/panel.h"

struct shown {
    FILE *file;
    char *text;
    size_t size;
    struct progress *progress;
};

static void start(struct shown *shown, struct progress_style style)
{
    shown->text = NULL;
    shown->file = open_memstream(&shown->text, &shown->size);
    assert_non_null(shown->file);
    shown->progress = progress_create_for(shown->file, -1, style);
}

static const char *finish(struct shown *shown,
                          const struct progress_snapshot *now)
{
    progress_finish(shown->progress, now);
    fclose(shown->file);
    return shown->text;
}

static struct progress_snapshot snapshot(void)
{
    return (struct progress_snapshot){
        .run = "fashion",
        .method = "sobol",
        .metric = "val_error",
        .done = 12,
        .total = 24,
        .running = 2,
        .slots = 2,
        .succeeded = 11,
        .failed = 1,
        .elapsed_ms = 63000,
        .eta_ms = 65000,
        .best_trial = 7,
        .best = 0.118,
        .previous_best = 0.1234,
        .best_params = "lr=0.012 width=128",
    };
}

static struct progress_trial trial(int64_t number)
{
    return (struct progress_trial){
        .number = number,
        .state = "succeeded",
        .value = 0.1234,
        .duration_ms = 3200,
        .params = "lr=0.012 width=128",
    };
}

static const struct progress_style in_a_pipe = {.mode = PROGRESS_LINES};

static void test_progress__says_a_line_a_trial_in_a_pipe(void **state)
{
    struct progress_snapshot now = snapshot();
    struct progress_trial ended = trial(12);
    struct shown shown;

    (void)state;
    start(&shown, in_a_pipe);
    progress_trial_ended(shown.progress, &ended, &now, 0);
    ended.number = 13;
    ended.is_best = true;
    now.done = 13;
    progress_trial_ended(shown.progress, &ended, &now, 500);
    assert_string_equal(
        finish(&shown, &now),
        "trial 12 succeeded  val_error=0.1234  3.2 s  lr=0.012 width=128  "
        "(best 0.118, trial 7; 12/24)\n"
        "trial 13 succeeded  val_error=0.1234  3.2 s  lr=0.012 width=128  "
        "(new best; 13/24)\n");
    free(shown.text);
}

static void test_progress__says_what_a_schedule_decides(void **state)
{
    struct progress_snapshot now = snapshot();
    struct progress_trial ended = trial(12);
    struct shown shown;

    (void)state;
    now.unit = "epochs";
    ended.state = "paused";
    ended.cause = "ok";
    ended.resource = 3;
    start(&shown, in_a_pipe);
    progress_trial_ended(shown.progress, &ended, &now, 0);
    ended.state = "promoted";
    ended.resource = 9;
    ended.duration_ms = 0;
    progress_trial_ended(shown.progress, &ended, &now, 0);
    ended.duration_ms = 3200;
    ended.state = "stopped";
    ended.cause = "cancelled";
    ended.text = "0.1234 is not among the best 2 of 6 at 9";
    progress_trial_ended(shown.progress, &ended, &now, 0);
    assert_string_equal(
        finish(&shown, &now),
        "trial 12 paused at 3 epochs  val_error=0.1234  3.2 s  "
        "lr=0.012 width=128  (best 0.118, trial 7; 12/24)\n"
        "trial 12 promoted to 9 epochs  val_error=0.1234  "
        "lr=0.012 width=128  (best 0.118, trial 7; 12/24)\n"
        "trial 12 stopped at 9 epochs  val_error=0.1234  3.2 s  "
        "lr=0.012 width=128  0.1234 is not among the best 2 of 6 at 9  "
        "(best 0.118, trial 7; 12/24)\n");
    free(shown.text);
}

static void test_progress__tells_of_a_workflows_jobs(void **state)
{
    struct progress_snapshot now = {
        .run = "nightly", .steps = "train (3 of 8)", .done = 2, .total = 6};
    struct progress_trial ended = {.job = "train[3]",
                                   .state = "failed",
                                   .cause = "exit",
                                   .text = "it exited with 1",
                                   .value = (double)NAN,
                                   .duration_ms = 3200};
    const struct progress_style panel = {.mode = PROGRESS_PANEL, .columns = 80};
    struct shown shown;

    (void)state;
    start(&shown, in_a_pipe);
    progress_trial_ended(shown.progress, &ended, &now, 0);
    assert_string_equal(finish(&shown, &now),
                        "train[3] failed (exit)  3.2 s  it exited with 1  "
                        "(2/6 steps)\n");
    free(shown.text);
    start(&shown, panel);
    progress_trial_ended(shown.progress, &ended, &now, 0);
    finish(&shown, &now);
    assert_non_null(strstr(shown.text, "2/6 steps"));
    assert_non_null(strstr(shown.text, "  train (3 of 8)"));
    assert_non_null(strstr(shown.text, "last: train[3] failed (exit)"));
    free(shown.text);
}

static void test_progress__counts_cached_steps(void **state)
{
    struct progress_snapshot now = {.run = "nightly",
                                    .done = 2,
                                    .total = 6,
                                    .succeeded = 11,
                                    .failed = 1,
                                    .cached = 1,
                                    .cached_jobs = 3};
    struct progress_trial ended = {.number = 9,
                                   .job = "prep",
                                   .state = "succeeded",
                                   .value = (double)NAN,
                                   .is_cached = true};
    struct shown shown;

    (void)state;
    start(&shown, in_a_pipe);
    progress_trial_ended(shown.progress, &ended, &now, 0);
    assert_string_equal(finish(&shown, &now),
                        "prep succeeded (cached)  (2/6 steps, 1 cached)\n");
    free(shown.text);
    start(&shown,
          (struct progress_style){.mode = PROGRESS_PANEL, .columns = 100});
    progress_update(shown.progress, &now, 0);
    finish(&shown, &now);
    assert_non_null(strstr(shown.text, "2/6 steps, 1 cached  "));
    assert_non_null(strstr(shown.text, "11 succeeded, 3 cached, 1 failed"));
    free(shown.text);
}

static void test_progress__counts_what_rests_and_what_is_used(void **state)
{
    struct progress_snapshot now = snapshot();
    struct shown shown;

    (void)state;
    now.paused = 5;
    now.unit = "epochs";
    now.used = 40;
    now.budget = 200;
    start(&shown,
          (struct progress_style){.mode = PROGRESS_PANEL, .columns = 100});
    progress_update(shown.progress, &now, 0);
    assert_non_null(strstr(finish(&shown, &now),
                           "2 of 2 running, 11 succeeded, 1 failed, 5 paused; "
                           "40 of 200 epochs"));
    free(shown.text);
}

static void test_progress__says_what_is_infeasible(void **state)
{
    struct progress_snapshot now = snapshot();
    struct progress_trial ended = trial(12);
    struct shown shown;

    (void)state;
    ended.others = "latency_ms=25";
    ended.is_infeasible = true;
    start(&shown, in_a_pipe);
    progress_trial_ended(shown.progress, &ended, &now, 0);
    assert_string_equal(
        finish(&shown, &now),
        "trial 12 succeeded (infeasible)  val_error=0.1234 latency_ms=25  "
        "3.2 s  lr=0.012 width=128  (best 0.118, trial 7; 12/24)\n");
    free(shown.text);
}

static void test_progress__counts_the_front(void **state)
{
    struct progress_snapshot now = snapshot();
    struct progress_trial ended = trial(12);
    struct shown shown;

    (void)state;
    ended.others = "weights=9000";
    now.front = 5;
    start(&shown, in_a_pipe);
    progress_trial_ended(shown.progress, &ended, &now, 0);
    ended.is_best = true;
    now.front = 6;
    progress_trial_ended(shown.progress, &ended, &now, 0);
    assert_string_equal(
        finish(&shown, &now),
        "trial 12 succeeded  val_error=0.1234 weights=9000  3.2 s  lr=0.012 "
        "width=128  (5 on the front; 12/24)\n"
        "trial 12 succeeded  val_error=0.1234 weights=9000  3.2 s  lr=0.012 "
        "width=128  (new of 6 on the front; 12/24)\n");
    free(shown.text);
}

static void test_progress__says_why_a_trial_failed(void **state)
{
    struct progress_snapshot now = snapshot();
    struct progress_trial ended = trial(3);
    struct shown shown;

    (void)state;
    ended.state = "failed";
    ended.cause = "launch_error";
    ended.text = "no such file: \033[31mtrain";
    ended.value = (double)NAN;
    now.best_trial = 0;
    now.total = 0;
    start(&shown, in_a_pipe);
    progress_trial_ended(shown.progress, &ended, &now, 0);
    ended.will_retry = true;
    ended.text = NULL;
    progress_trial_ended(shown.progress, &ended, &now, 0);
    assert_string_equal(
        finish(&shown, &now),
        "trial 3 failed (launch_error)  3.2 s  lr=0.012 width=128  no such "
        "file: \\x1b[31mtrain  (12)\n"
        "trial 3 ended (launch_error), will be retried  3.2 s  lr=0.012 "
        "width=128  (12)\n");
    free(shown.text);
}

/* 2,000 trials in two seconds: few lines, and all 2,000 accounted for. */
static void test_progress__rations_lines_and_counts_the_rest(void **state)
{
    struct progress_snapshot now = snapshot();
    struct shown shown;
    long lines = 0, said = 0;
    char *line, *rest;

    (void)state;
    start(&shown, in_a_pipe);
    for (int64_t i = 1; i <= 2000; i++) {
        struct progress_trial ended = trial(i);

        ended.is_best = i == 1500;
        now.done = i;
        progress_trial_ended(shown.progress, &ended, &now, i);
        progress_update(shown.progress, &now, i);
    }
    rest = (char *)(uintptr_t)finish(&shown, &now);
    assert_non_null(strstr(rest, "trial 1500 succeeded"));
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        long more = 1;

        if (strncmp(line, "... and ", 8) == 0)
            more = strtol(line + 8, NULL, 10);
        said += more;
        lines++;
    }
    assert_int_equal(said, 2000);
    assert_in_range(lines, 10, 40);
    free(shown.text);
}

static void test_progress__a_quiet_second_ends_the_silence(void **state)
{
    struct progress_snapshot now = snapshot();
    struct shown shown;

    (void)state;
    start(&shown, in_a_pipe);
    for (int64_t i = 1; i <= 20; i++) {
        struct progress_trial ended = trial(i);

        progress_trial_ended(shown.progress, &ended, &now, 0);
    }
    progress_update(shown.progress, &now, 900);
    fflush(shown.file);
    assert_null(strstr(shown.text, "more trials"));
    progress_update(shown.progress, &now, 1100);
    fflush(shown.file);
    assert_non_null(strstr(shown.text, "... and 15 more trials  (best 0.118, "
                                       "trial 7; 12/24)\n"));
    finish(&shown, &now);
    free(shown.text);
}

static void test_progress__does_not_wait_for_a_full_pipe(void **state)
{
    struct progress_snapshot now = snapshot();
    struct progress_trial ended = trial(1);
    struct progress *progress;
    static char bytes[1 << 17];
    int ends[2];
    FILE *file;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], bytes, sizeof(bytes)) > 0)
        ;
    fcntl(ends[1], F_SETFL, 0);
    file = fdopen(ends[1], "w");
    progress = progress_create_for(file, fileno(file), in_a_pipe);
    progress_trial_ended(progress, &ended, &now, 0);
    progress_update(progress, &now, 5000);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    while (read(ends[0], bytes, sizeof(bytes)) > 0)
        ;
    progress_update(progress, &now, 10000);
    memset(bytes, 0, sizeof(bytes));
    assert_true(read(ends[0], bytes, sizeof(bytes)) > 0);
    assert_memory_equal(bytes, "... and 1 more trial  (", 23);
    progress_finish(progress, &now);
    fclose(file);
    close(ends[0]);
}

static void test_progress__is_quiet_but_for_messages(void **state)
{
    struct progress_snapshot now = snapshot();
    struct progress_trial ended = trial(1);
    struct shown shown;

    (void)state;
    start(&shown, (struct progress_style){.mode = PROGRESS_NONE});
    progress_trial_ended(shown.progress, &ended, &now, 0);
    progress_update(shown.progress, &now, 5000);
    progress_message(shown.progress, "stopping");
    assert_string_equal(finish(&shown, &now), "stopping\n");
    free(shown.text);
}

/* A terminal small enough to think about: what its lines hold after output of
 * the codes that the panel uses. Anything else fails the test. */
struct screen {
    char lines[40][512];
    size_t row, column;
};

static void move_to_next(struct screen *screen)
{
    assert_true(++screen->row < 40);
}

static const char *obey(struct screen *screen, const char *code)
{
    char *end = NULL;
    long count = strtol(code, &end, 10);

    if (code[0] == '?')
        return strpbrk(code, "hl") + 1;
    if (*end == 'A') {
        assert_true(screen->row >= (size_t)count);
        screen->row -= (size_t)count;
    } else if (*end == 'J') {
        memset(screen->lines[screen->row] + screen->column, 0,
               512 - screen->column);
        for (size_t i = screen->row + 1; i < 40; i++)
            memset(screen->lines[i], 0, 512);
    } else {
        assert_int_equal(*end, 'm');
    }
    return end + 1;
}

static void play(struct screen *screen, const char *text)
{
    memset(screen, 0, sizeof(*screen));
    while (*text != '\0') {
        if (strncmp(text, "\033[", 2) == 0) {
            text = obey(screen, text + 2);
            continue;
        }
        if (*text == '\n')
            move_to_next(screen);
        if (*text == '\n' || *text == '\r')
            screen->column = 0;
        else
            screen->lines[screen->row][screen->column++] = *text;
        text++;
    }
}

/* A panel goes past the guard of the terminal. */
static void test_progress__a_panel_shows_nothing_but_styles(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    struct panel *panel = panel_create(file, -1, 80, 8);

    (void)state;
    panel_show(panel, "a\033[2Jm\xe2\x80\xae\xff\033[31mb\033[0m\n");
    fflush(file);
    assert_non_null(strstr(text,
                           "a\\x1b[2Jm\\xe2\\x80\\xae\\xff\033[31mb\033[0m"
                           "\n"));
    panel_destroy(panel);
    fclose(file);
    free(text);
}

static void test_progress__draws_a_panel_in_place(void **state)
{
    const struct progress_style style = {PROGRESS_PANEL, true, true, 100};
    struct progress_snapshot now = snapshot();
    struct progress_trial ended = trial(12);
    struct screen screen;
    struct shown shown;

    (void)state;
    start(&shown, style);
    for (int64_t i = 0; i < 10; i++)
        progress_update(shown.progress, &now, i * 100);
    progress_trial_ended(shown.progress, &ended, &now, 1000);
    fflush(shown.file);
    play(&screen, shown.text);
    assert_string_equal(
        screen.lines[0],
        "fashion  sobol  "
        "\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588"
        "\u2588\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591"
        "\u2591\u2591 12/24  1m 03s, about 1m 05s left");
    assert_string_equal(screen.lines[1],
                        "  2 of 2 running, 11 succeeded, 1 failed");
    assert_string_equal(screen.lines[2], "  best val_error 0.118 (trial 7, was "
                                         "0.1234)  lr=0.012 width=128");
    assert_string_equal(screen.lines[3],
                        "  last: trial 12 succeeded  val_error 0.1234  3.2 s");
    assert_int_equal(screen.row, 4);
    progress_message(shown.progress, "stopping: Ctrl-C again ends the trials");
    progress_update(shown.progress, &now, 1001);
    play(&screen, finish(&shown, &now));
    assert_string_equal(screen.lines[0],
                        "stopping: Ctrl-C again ends the trials");
    assert_string_equal(screen.lines[1], "");
    free(shown.text);
}

static void test_progress__draws_ten_times_a_second(void **state)
{
    const struct progress_style style = {PROGRESS_PANEL, false, false, 80};
    struct progress_snapshot now = snapshot();
    struct shown shown;
    int frames = 0;

    (void)state;
    start(&shown, style);
    for (int64_t i = 0; i < 1000; i++)
        progress_update(shown.progress, &now, i);
    fflush(shown.file);
    for (const char *at = shown.text; (at = strstr(at, "?25l")); at++)
        frames++;
    assert_int_equal(frames, 10);
    finish(&shown, &now);
    free(shown.text);
}

static void test_progress__cuts_to_a_narrow_terminal(void **state)
{
    const struct progress_style style = {PROGRESS_PANEL, true, true, 20};
    struct progress_snapshot now = snapshot();
    struct screen screen;
    struct shown shown;

    (void)state;
    now.best_params = "w=\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e";
    now.note = "waits for a retry that is due in 30 s";
    start(&shown, style);
    progress_update(shown.progress, &now, 0);
    progress_update(shown.progress, &now, 1000);
    fflush(shown.file);
    play(&screen, shown.text);
    for (size_t i = 0; i < screen.row; i++)
        assert_in_range(text_columns(screen.lines[i]), 1, 19);
    assert_string_equal(screen.lines[3], "  waits for a retry");
    finish(&shown, &now);
    free(shown.text);
}

/* Lines that a narrower terminal has wrapped take more rows to go back over. */
static void test_progress__follows_a_terminal_made_narrower(void **state)
{
    const struct progress_style style = {.mode = PROGRESS_PANEL};
    struct progress_snapshot now = snapshot();
    struct shown shown;

    (void)state;
    now.best_params = NULL;
    setenv("COLUMNS", "80", 1);
    start(&shown, style);
    progress_update(shown.progress, &now, 0);
    setenv("COLUMNS", "30", 1);
    progress_update(shown.progress, &now, 1000);
    progress_update(shown.progress, &now, 2000);
    unsetenv("COLUMNS");
    /* of 78, 40 and 40 columns; then three that fit */
    finish(&shown, &now);
    assert_non_null(strstr(shown.text, "\033[7A\033[J"));
    assert_non_null(strstr(shown.text, "\033[3A\033[J"));
    free(shown.text);
}

static void test_progress__the_bar_fills(void **state)
{
    struct buf text = BUF_INIT;

    (void)state;
    panel_add_bar(0.0, false, &text);
    panel_add_bar(0.5, false, &text);
    panel_add_bar(1.7, false, &text);
    assert_string_equal(buf_text(&text), "........................"
                                         "############............"
                                         "########################");
    buf_truncate(&text, 0);
    for (int i = 0; i <= 1000; i++) {
        panel_add_bar(i / 1000.0, true, &text);
        assert_int_equal(text_columns(buf_text(&text)), BAR_COLUMNS);
        buf_truncate(&text, 0);
    }
    buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress__says_a_line_a_trial_in_a_pipe),
        cmocka_unit_test(test_progress__says_what_a_schedule_decides),
        cmocka_unit_test(test_progress__tells_of_a_workflows_jobs),
        cmocka_unit_test(test_progress__counts_what_rests_and_what_is_used),
        cmocka_unit_test(test_progress__counts_cached_steps),
        cmocka_unit_test(test_progress__says_what_is_infeasible),
        cmocka_unit_test(test_progress__counts_the_front),
        cmocka_unit_test(test_progress__says_why_a_trial_failed),
        cmocka_unit_test(test_progress__rations_lines_and_counts_the_rest),
        cmocka_unit_test(test_progress__a_quiet_second_ends_the_silence),
        cmocka_unit_test(test_progress__does_not_wait_for_a_full_pipe),
        cmocka_unit_test(test_progress__is_quiet_but_for_messages),
        cmocka_unit_test(test_progress__a_panel_shows_nothing_but_styles),
        cmocka_unit_test(test_progress__draws_a_panel_in_place),
        cmocka_unit_test(test_progress__draws_ten_times_a_second),
        cmocka_unit_test(test_progress__cuts_to_a_narrow_terminal),
        cmocka_unit_test(test_progress__follows_a_terminal_made_narrower),
        cmocka_unit_test(test_progress__the_bar_fills),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
