/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps, names, tables and numbers in the forms that programs print. */
#include "base/metrics/metrics.h"

#include "tests/unit/base/metrics/metrics_test.h"

static void test_metric_forms__step_is_named_or_counted(void **state)
{
    static const struct example examples[] = {
        {"loss=3\nloss=2\nacc=1\nloss=1", "loss@1=3 loss@2=2 acc@1=1 loss@3=1"},
        {"step=10 loss=3\nacc=2\nloss=1 Step: 7\nacc=0",
         "loss@10=3 acc@10=2 loss@7=1 acc@7=0"},
        {"loss=1 epoch=2 step=3 iter=4", "loss@3=1 epoch@3=2 iter@3=4"},
        {"iteration=5 iter=6 loss=1", "iter@5=6 loss@5=1"},
        {"epoch=1.5 iter=4 loss=1", "iter@1.5=4 loss@1.5=1"},
        {"epoch=-1 loss=1", "epoch@1=-1 loss@1=1"},
        {"step=nan loss=1", "step@1=nan loss@1=1"},
        {"step=1e300 loss=1", "step@1=1e+300 loss@1=1"},
        {"step=9007199254740992 loss=1", "loss@9007199254740992=1"},
        {"step=0 loss=1", "loss@0=1"},
        {"step=4", ""},
        {"{\"step\": 3, \"loss\": 1}\n{\"loss\": 2}\nacc=1",
         "loss@3=1 loss@4=2 acc@1=1"},
    };

    (void)state;
    assert_examples(examples, ARRAY_LEN(examples));
}

static void test_metric_forms__words_and_brackets_name_the_step(void **state)
{
    static const struct example examples[] = {
        {"EPOCH 3: loss=1", "loss@3=1"},
        {"Epoch 1/5\n3/3 [====] - loss: 0.5 - acc: 1\nEpoch 2/5\nloss: 0.4",
         "loss@1=0.5 acc@1=1 loss@2=0.4"},
        {"Iteration 7, loss = 2.5\nValidation score: 0.25",
         "loss@7=2.5 validation_score@7=0.25"},
        {"Train Epoch: 2 [0/600 (0%)]\tLoss: 3", "Loss@2=3"},
        {"2026-11-21 10:00:00,123 INFO Epoch [3/10], loss: 1", "loss@3=1"},
        {"Epoch(val) [4][50/50]  acc: 1", "acc@4=1"},
        {"Epoch: [5][ 10/79]\tTime 0.5\tacc=1", "acc@5=1"},
        {"[7]\tvalid_0's auc: 1\n[8]\ttrain-auc:0.5",
         "valid_0's auc@7=1 train-auc@8=0.5"},
        {"[2/9] loss=1\n[3] loss=2\n4:\tloss: 3", "loss@2=1 loss@3=2 loss@4=3"},
        {"[1] \"loss=1\"\n[1] \"loss=2\"", "loss@1=1 loss@2=2"},
        {"12:30:45 loss=1\n[12:30:45] loss=2\n[2026-11-21] loss=3",
         "loss@1=1 loss@2=2 loss@3=3"},
        {"epoch 3\nbest epoch 1: loss=1", "loss@3=1"},
        {"saved per-epoch 7 loss=1", "loss@1=1"},
    };

    (void)state;
    assert_examples(examples, ARRAY_LEN(examples));
}

/* Reads it as where the schedule's resource has that name. */
static void assert_reads_resource(const char *resource, const char *text,
                                  const char *expected)
{
    struct metric_rules *rules = metric_rules_create(NULL, 0, NULL);

    metric_rules_set_resource(rules, resource);
    assert_reads_by(rules, text, strlen(text), expected);
    metric_rules_destroy(rules);
}

/* Reads a metric of the file's; resource: of a schedule, or NULL. */
static void assert_reads_block(const char *name, const char *resource,
                               const char *text, const char *expected)
{
    const struct metric_rule rule = {name, NULL};
    struct metric_rules *rules = metric_rules_create(&rule, 1, NULL);

    if (resource != NULL)
        metric_rules_set_resource(rules, resource);
    assert_reads_by(rules, text, strlen(text), expected);
    metric_rules_destroy(rules);
}

static void test_metric_forms__any_row_of_a_block_names_its_step(void **state)
{
#define BLOCK(reward, steps)                                                   \
    "---------------------------------\n"                                      \
    "| rollout/           |          |\n"                                      \
    "|    ep_rew_mean     | " reward " |\n"                                    \
    "| time/              |          |\n"                                      \
    "|    iterations      | 7        |\n"                                      \
    "|    total_timesteps | " steps " |\n"                                     \
    "---------------------------------\n"
    static const struct {
        const char *name, *resource, *text, *expected;
    } cases[] = {
        {"ep_rew_mean", "timesteps",
         BLOCK("21.5", "2048") "Eval\n" BLOCK("22", "4096"),
         "ep_rew_mean@2048=21.5 ep_rew_mean@4096=22"},
        {"rollout/ep_rew_mean", "timesteps", BLOCK("21.5", "2048"),
         "rollout/ep_rew_mean@2048=21.5"},
        {"rollout/ep_rew_mean", "iterations", BLOCK("21.5", "2048"),
         "rollout/ep_rew_mean@7=21.5"},
        {"eval/ep_rew_mean", "timesteps", BLOCK("21.5", "2048"), ""},
        {"ep_rew_mean", NULL, BLOCK("21.5", "2048") BLOCK("22", "4096"),
         "ep_rew_mean@1=21.5 ep_rew_mean@2=22"},
        /* one that is not whole, and other lines of dashes */
        {"loss", "epochs", "----------\n| loss | 0.5 |\n| epoch | 3 |\n",
         "loss@3=0.5"},
        {"loss", "epochs",
         "----------\n| loss | 0.5 |\nloss=0.4\n----------\nloss=0.3\n",
         "loss@1=0.5 loss@2=0.4 loss@3=0.3"},
        {"loss", "epochs",
         "+-------+------+\n| epoch | loss |\n+-------+------+\n"
         "|     1 | 0.5  |\n|     2 | 0.4  |\n+-------+------+\n",
         "loss@1=0.5 loss@2=0.4"},
        {"loss", "epochs", "----------\n| loss | 0.5 | 7 |\n| loss |\n|\n",
         "loss@1=0.5"},
    };
#undef BLOCK

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_reads_block(cases[i].name, cases[i].resource, cases[i].text,
                           cases[i].expected);
}

static void test_metric_forms__the_resource_decides_what_a_step_is(void **state)
{
    static const struct {
        const char *resource, *text, *expected;
    } cases[] = {
        {"epochs", "{\"epoch\": 1, \"step\": 500, \"a\": 1}",
         "step@1=500 a@1=1"},
        {"epochs", "{\"epochs\": 9, \"epoch\": 2, \"a\": 1}",
         "epochs@2=9 a@2=1"},
        {"steps", "epoch=1 global_step=500 a=1", "epoch@500=1 a@500=1"},
        {"steps", "{\"trainer/global_step\": 500, \"epoch\": 1, \"a\": 1}",
         "epoch@500=1 a@500=1"},
        {"num_epochs", "step=9 Epoch=3 a=1", "step@3=9 a@3=1"},
        {"timesteps", "timesteps=1000 step=1 a=1", "step@1000=1 a@1000=1"},
        {"timesteps", "total_timesteps=1000 a=1", "a@1000=1"},
        {"max_iter", "Iteration 4, a = 1", "a@4=1"},
        {"iterations", "iter: 4 a: 1", "a@4=1"},
        {"batches", "batch 4 a: 1", "a@4=1"},
        {"epochs", "epoch=0.25 a=1\n{'a': 0.5, 'epoch': 1.5}",
         "a@0.25=1 a@1.5=0.5"},
        {"epochs", "step=4 a=1\nb=1", "a@4=1 b@1=1"},
        {"epochs", "Epoch 2\nstep=40 a=1\n[3/10] a=2", "step@2=40 a@2=1 a@2=2"},
        {"epochs", "epochs=9 lr=1\na=1\na=2", "lr@9=1 a@1=1 a@2=2"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_reads_resource(cases[i].resource, cases[i].text,
                              cases[i].expected);
}

static void test_metric_forms__a_second_mention_is_no_second_unit(void **state)
{
    static const struct example examples[] = {
        {"loss=2\nnew best loss=2\nloss=1\nnew best loss=1",
         "loss@1=2 loss@2=1"},
        {"loss=2\nloss=3\n(best loss=2)", "loss@1=2 loss@2=3"},
        {"best loss=2\nbest loss=1", "loss@1=2 loss@2=1"},
        {"loss=2\nsaved the model with loss=2\nloss=2", //
         "loss@1=2 loss@2=2"},
        {"loss=nan\nsaved with loss=nan", "loss@1=nan"},
    };

    (void)state;
    assert_examples(examples, ARRAY_LEN(examples));
}

static void test_metric_forms__train_and_val_are_part_of_a_name(void **state)
{
    static const struct example examples[] = {
        {"Train loss: 0.5 | Val loss: 0.25",
         "train_loss@1=0.5 val_loss@1=0.25"},
        {"Validation Accuracy = 1", "validation_accuracy@1=1"},
        {"Average loss: 0.5, last loss: 1", "loss@1=0.5"},
        {"\tTrain Loss: 2 | Train Acc: 51%\n\t Val. Loss: 1 |  Val. Acc: 55%",
         "train_loss@1=2 train_acc@1=51 val_loss@1=1 val_acc@1=55"},
        {"This is the interval. Loss: 1 in a test. acc: 2", "Loss@1=1 acc@1=2"},
        {"split=val loss=1", "loss@1=1"},
        {"interval loss=1", "loss@1=1"},
    };

    (void)state;
    assert_examples(examples, ARRAY_LEN(examples));
}

/* Reads it where the file asks for a metric with that name. */
static void assert_reads_asked(const char *name, const char *text,
                               const char *expected)
{
    struct metric_rules *rules = metric_rules_create(NULL, 0, NULL);

    metric_rules_ask(rules, name);
    metric_rules_ask(rules, name);
    assert_reads_by(rules, text, strlen(text), expected);
    metric_rules_destroy(rules);
}

static void test_metric_forms__names_that_are_asked_for_have_more_forms(
    void **state)
{
    static const struct {
        const char *name, *text, *expected;
    } cases[] = {
        {"acc@1", " * acc@1 70.5 acc@5 90", "acc@1@1=70.5"},
        {"metrics/mAP50(B)", "metrics/mAP50(B)=0.5\nmetrics/mAP50(B): 0.25",
         "metrics/mAP50(B)@1=0.5 metrics/mAP50(B)@2=0.25"},
        {"val loss", "val loss=1", "val loss@1=1"},
        {"pr\xc3\xa9"
         "cision",
         "{\"pr\\u00e9"
         "cision\": 0.5}",
         "pr\xc3\xa9"
         "cision@1=0.5"},
        {"maximize acc", "maximize acc=0.5", "maximize acc@1=0.5 acc@1=0.5"},
        {"-loss", "-loss=1 x-loss=2", "-loss@1=1 x-loss@1=2"},
        {"loss", "loss 0.5\nmy_loss 3 xloss 2 loss_x 4", "loss@1=0.5"},
        {"val_loss",
         "| val_loss | 0.5 |\n\xe2\x94\x82  val_loss \xe2\x94\x82 "
         "0.25 \xe2\x94\x82",
         "val_loss@1=0.5 val_loss@2=0.25"},
        {"val_loss", "Train loss: 1 Val loss: 0.5",
         "val_loss@1=0.5 train_loss@1=1"},
        {"loss", "Train loss: 1\nVal loss: 0.5", "loss@1=1 val_loss@1=0.5"},
        {"val_loss", "Train Loss: 1\nVal. Loss: 0.5",
         "train_loss@1=1 val_loss@1=0.5"},
        {"loss", "Train loss: 1 Val loss: 0.5",
         "train_loss@1=1 val_loss@1=0.5"},
        {"loss", "Val. loss: 1\nEval. loss: 3\nVal. loss: 0.5",
         "loss@1=1 eval_loss@1=3 loss@2=0.5"},
        {"auc", "valid_0's auc: 1\nvalid_1's auc: 3\nvalid_0's auc: 0.5",
         "auc@1=1 valid_1's auc@1=3 auc@2=0.5"},
        {"loss", "Loss: 2\nloss: 1\nLoss: 3", "loss@1=2 loss@2=1 Loss@1=3"},
        {"eval.loss", "{\"eval\": {\"loss\": 0.5}}", "eval.loss@1=0.5"},
        {"Average loss", "Test set: Average loss: 0.5, Accuracy: 98/100 (98%)",
         "Average loss@1=0.5 loss@1=0.5 Accuracy@1=98"},
        {"loss",
         "Loss after epoch 2: 0.5\nloss at step 3 = 0.25\nloss step 4: 1",
         "loss@2=0.5 loss@3=0.25 loss@4=1"},
        {"loss", "loss after epoch 3\nloss in 3 days\nloss at 3", ""},
        {"test_loss", "'test_loss' = tensor(0.5, device='cuda:0')",
         "test_loss@1=0.5"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_reads_asked(cases[i].name, cases[i].text, cases[i].expected);
}

static void test_metric_forms__tables_are_read_by_column(void **state)
{
    static const struct {
        const char *name, *text, *expected;
    } cases[] = {
        {"valid_loss",
         "  epoch    train_loss    valid_loss     dur\n"
         "-------  ------------  ------------  ------\n"
         "      1        \033[36m2.5\033[0m        \033[35m2.0\033[0m  0.1088\n"
         "      2        1.5           1.0  0.0203\n",
         "valid_loss@1=2 valid_loss@2=1"},
        {"valid_loss",
         "epoch     train_loss  valid_loss  accuracy  time    \n"
         "0         1.223       0.5         0.88      00:05   \n",
         "valid_loss@0=0.5"},
        {"loss_tagger",
         "E    #       LOSS TOK2VEC  LOSS TAGGER  SCORE \n"
         "---  ------  ------------  -----------  ------\n"
         "  0       0          0.00        75.50    0.31\n"
         "  1     200         48.00        25.50    0.92\n",
         "loss_tagger@0=75.5 loss_tagger@200=25.5"},
        {"Train Loss",
         "      Iter       Train Loss   Remaining Time \n"
         "         1           1.25            0.50s\n",
         "Train Loss@1=1.25"},
        {"loss",
         "| epoch | loss | acc |\n| 1 | 0.5 | 1 |\n| 2 | | 1 |\n"
         "| 3 | 0.25 | 1 |",
         "loss@1=0.5 loss@3=0.25"},
        {"acc", "epoch  acc  cp  dur\n    1  0.5   +  0.1\n    2  0.4      0.2",
         "acc@1=0.5 acc@2=0.4"},
        {"loss", "epoch loss\n1 0.5\n2 0.25", "loss@1=0.5 loss@2=0.25"},
        {"loss", "the loss of it\n1 0.5 3 4", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_reads_asked(cases[i].name, cases[i].text, cases[i].expected);
}

static void test_metric_forms__escapes_of_every_kind_are_ignored(void **state)
{
    static const struct example examples[] = {
        {"\033[1mloss\033[0m=\033[32;1m0.5\033[0m", "loss@1=0.5"},
        {"\033[?25lloss\033[K=\033[38:5:1m0.5", "loss@1=0.5"},
        {"\033]0;a=1\007loss=2", "loss@1=2"},
        {"\302\23332;1mloss\302\233K=\302\2330m0.5\302\205", "loss@1=0.5"},
        {"\302\2350;a=1\302\234loss=2 \302\220x=1\033\\acc=1",
         "loss@1=2 acc@1=1"},
        {"l\303\233=2 \302\265=3", "l\303\233@1=2 \302\265@1=3"},
        {"\033]8;;http://x/?a=1\033\\loss\033]8;;\033\\=2", "loss@1=2"},
        {"\033(Bloss=\033)0"
         "2\033=\033M",
         "loss@1=2"},
        {"\033Pa=1\033\\loss=2 \033[", "loss@1=2"},
        {"loss=1\033", "loss@1=1"},
        {"\033[\001loss=1\033[3", "loss@1=1"},
        {"loss=1 \033]a=1", "loss@1=1"},
    };

    (void)state;
    assert_examples(examples, ARRAY_LEN(examples));
}

static void test_metric_forms__numbers_are_read_or_refused_but_never_cut(
    void **state)
{
    static const struct example examples[] = {
        {"a=1,234,567 b=1,234.5 c=12,345,678.25e1",
         "a@1=1234567 b@1=1234.5 c@1=123456782.5"},
        {"a=0,52 b=12,5 c=-0,123 d=1,5e3",
         "a@1=0.52 b@1=12.5 c@1=-0.123 d@1=1500"},
        {"a=1,234\na=1,2,3\na=0.5,0.6\na=1.234,5\na=1'234", ""},
        {"a=1 234,5\na=12 345 678,25", ""},
        {"a=1 234 b=0 234,5\na=1 23,5", "a@1=1 b@1=0 a@2=1"},
        {"a=1\xe2\x80\xaf"
         "234\na=1\xc2\xa0"
         "234",
         ""},
        {"a=1, b=2,c=3", "a@1=1 b@1=2 c@1=3"},
        {"a=tensor(0.5) b=np.float64(0.25) c=tensor([2.], dtype=torch.float64)",
         "a@1=0.5 b@1=0.25 c@1=2"},
        {"a: Array(0.5, dtype=float32), b: [3.5], c=Decimal('1.5')",
         "a@1=0.5 b@1=3.5 c@1=1.5"},
        {"a=<tf.Tensor: shape=(), dtype=float32, numpy=0.5> b=1",
         "a@1=0.5 b@1=1"},
        {"a=[1, 2]\na=max(1, 2)\na=tensor(x)\na=tensor(1\na=<tf.x>\na=<tf.x",
         ""},
        {"a='1.5' b=\"2\" c='1", "a@1=1.5 b@1=2"},
    };

    (void)state;
    assert_examples(examples, ARRAY_LEN(examples));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metric_forms__step_is_named_or_counted),
        cmocka_unit_test(test_metric_forms__words_and_brackets_name_the_step),
        cmocka_unit_test(
            test_metric_forms__the_resource_decides_what_a_step_is),
        cmocka_unit_test(test_metric_forms__a_second_mention_is_no_second_unit),
        cmocka_unit_test(test_metric_forms__train_and_val_are_part_of_a_name),
        cmocka_unit_test(
            test_metric_forms__names_that_are_asked_for_have_more_forms),
        cmocka_unit_test(test_metric_forms__tables_are_read_by_column),
        cmocka_unit_test(test_metric_forms__any_row_of_a_block_names_its_step),
        cmocka_unit_test(test_metric_forms__escapes_of_every_kind_are_ignored),
        cmocka_unit_test(
            test_metric_forms__numbers_are_read_or_refused_but_never_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
