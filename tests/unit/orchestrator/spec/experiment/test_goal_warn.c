/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "orchestrator/spec/experiment/goal_warn.h"

static void test_goal_warn__words_tell(void **state)
{
    static const struct {
        const char *metric;
        bool unlikely_to_minimize, unlikely_to_maximize;
    } cases[] = {
        {"val_accuracy", true, false},
        {"mAP", true, false},
        {"eval/f1", true, false},
        {"valAcc", true, false},
        {"test.top1", true, false},
        {"mAP@0.5", true, false},
        {"val_loss", false, true},
        {"RMSE", false, true},
        {"trainLoss", false, true},
        {"val-err", false, true},
        {"accuracy_loss", false, false},
        {"score", false, false},
        {"seconds", false, false},
        {"accountable", false, false},
        {"x", false, false},
        {"", false, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (goal_is_unlikely(cases[i].metric, false) !=
                cases[i].unlikely_to_minimize ||
            goal_is_unlikely(cases[i].metric, true) !=
                cases[i].unlikely_to_maximize)
            fail_msg("%s", cases[i].metric);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goal_warn__words_tell),
    };

    return cmocka_run_group_tests_name("goal_warn", tests, NULL, NULL);
}
