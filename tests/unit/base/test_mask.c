/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"

static void check(const struct mask *mask, const char *text,
                  const char *expected)
{
    struct buf out = BUF_INIT;

    mask_add(mask, text, strlen(text), &out);
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
}

static void test_mask__known_values(void **state)
{
    struct mask *mask = mask_create();

    (void)state;
    check(mask, "swordfish", "swordfish");
    mask_hide(mask, "env.LOGIN", "swordfish");
    mask_hide(mask, "env.LONG", "swordfish-2");
    mask_hide(mask, "env.AGAIN", "swordfish");
    mask_hide(mask, "env.SHORT", "1");
    mask_hide(mask, "env.EMPTY", "");
    check(mask, "cannot start '/opt/swordfish/x'",
          "cannot start '/opt/<env.LOGIN>/x'");
    check(mask, "aswordfish-2b 1", "a<env.LONG>b 1");
    check(mask, "swordfis", "swordfis");
    mask_hide(mask, "env.BLOCK", " of a block\n");
    mask_hide(mask, "env.BLANK", " \n \n ");
    mask_hide(mask, "env.LINES", "one\n  two");
    check(mask, "of a block\nof a block", "<env.BLOCK>\n<env.BLOCK>");
    check(mask, "one\n  two one\n two", "<env.LINES>\n   one\n two");
    mask_destroy(mask);
    mask_destroy(NULL);
    check(NULL, "swordfish TOKEN=a", "swordfish TOKEN=***");
}

static void test_mask__patterns(void **state)
{
    static const char *const cases[][2] = {
        {"API_TOKEN=abc lr=0.1", "API_TOKEN=*** lr=0.1"},
        {"--export=ALL,WANDB_API_KEY=abc,X=1",
         "--export=ALL,WANDB_API_KEY=***,X=1"},
        {"password: hunter2", "password: ***"},
        {"{\"user_token\": \"a b\", \"n\": 1}",
         "{\"user_token\": \"***\", \"n\": 1}"},
        {"{\"token\":\"a\\\"b\",\"n\":1}", "{\"token\":\"***\",\"n\":1}"},
        {"{\\\"token\\\": \\\"abc\\\", \\\"n\\\": 1}",
         "{\\\"token\\\": \\\"***\\\", \\\"n\\\": 1}"},
        {"\"secrets\": [\"a\", [\"b\"]], \"n\": 1",
         "\"secrets\": ***, \"n\": 1"},
        {"'secret': 12, 'n': 1", "'secret': ***, 'n': 1"},
        {"--token abc --lr 1", "--token *** --lr 1"},
        {"--api-key=abc --lr 1", "--api-key=*** --lr 1"},
        {"--no-token --lr 1", "--no-token --lr 1"},
        {"Authorization: Bearer a.b-c d\nnext", "Authorization: ***\nnext"},
        {"sent bearer abc now", "sent bearer *** now"},
        {"X-SLURM-USER-TOKEN: eyJh", "X-SLURM-USER-TOKEN: ***"},
        {"AccountingStoragePass = (null)x", "AccountingStoragePass = ***)x"},
        {"https://me:pa@ss@host/p?token=1&a=2",
         "https://***@host/p?token=***&a=2"},
        {"http://host/a@b", "http://host/a@b"},
        {"token=", "token="},
        {"token", "token"},
        {"unknown key 'lr'", "unknown key 'lr'"},
        {"missing key: 'trial'", "missing key: 'trial'"},
        {"KEY=abc", "KEY=***"},
        {"--key abc", "--key ***"},
        {"${{ api_key == 'a' }}", "${{ api_key == 'a' }}"},
        {"a basic example, sent Basic dXNlcjpw",
         "a basic example, sent Basic ***"},
        {"--max-tokens 100 --tokenizer=gpt2 --pad-token '<pad>' monkey=3",
         "--max-tokens 100 --tokenizer=gpt2 --pad-token '<pad>' monkey=3"},
        {"--token ${{ t }} --lr 1", "--token ${{ t }} --lr 1"},
        {"--token a${{ t + 1 }}b --lr 1", "--token *** --lr 1"},
        {"--token ${{ t", "--token ${{ t"},
        {"--token \"${{ t }}x\" --lr 1", "--token \"***\" --lr 1"},
        {"A_TOKEN=$HF_TOKEN B_TOKEN=${HF_TOKEN} x",
         "A_TOKEN=$HF_TOKEN B_TOKEN=${HF_TOKEN} x"},
        {"--token \"$HF_TOKEN\" x", "--token \"$HF_TOKEN\" x"},
        {"A_TOKEN=$ecret A_TOKEN=$HF.x A_TOKEN=${HF x",
         "A_TOKEN=*** A_TOKEN=*** A_TOKEN=*** x"},
        {"upload --to hf_abcdefghij0123456789 now", "upload --to *** now"},
        {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln!", "***!"},
        {"\"token\": {\"a\": \"b\"", "\"token\": ***"},
        {"token=\"abc", "token=\"***"},
        {"--password \"\" --token= x", "--password \"\" --token= ***"},
        {"token:\nlr: 1", "token:\nlr: 1"},
        {"--token \\\n  a --lr 1", "--token \\\n  *** --lr 1"},
        {"A_TOKEN=\\\na b", "A_TOKEN=\\\n*** b"},
        {"TOKEN='a\n  b\n' c", "TOKEN='***\n  \n' c"},
        {"://", "://"},
        {"a://b", "a://b"},
    };
    struct mask *mask = mask_create();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check(mask, cases[i][0], cases[i][1]);
    mask_destroy(mask);
}

static void test_mask__environment(void **state)
{
    char secret[] = "SLURM_JWT=eyJhbGci", plain[] = "HOME=/home/me",
         odd[] = "TOKEN", pass[] = "DB_PASS=letmein";
    char *environment[] = {secret, plain, odd, pass, NULL};
    struct mask *mask = mask_create();

    (void)state;
    mask_hide_environment(mask, environment);
    check(mask, "eyJhbGci in /home/me, letmein",
          "<SLURM_JWT> in /home/me, <DB_PASS>");
    mask_destroy(mask);
}

/* No cut of a text makes the pass read beyond its end. */
static void test_mask__every_cut(void **state)
{
    static const char text[] =
        "a \"token\": {\"b\": \"c\\\"\"} --a-key 'd' http://e:f@g "
        "X_TOKEN=$A_B K_KEY=${{ a }} l-token ${{ Bearer h\\";
    struct mask *mask = mask_create();

    (void)state;
    for (size_t length = 0; length < sizeof(text); length++) {
        char *cut = memcpy(test_malloc(length + 1), text, length);
        struct buf out = BUF_INIT;

        mask_add(mask, cut, length, &out);
        buf_clear(&out);
        test_free(cut);
    }
    mask_destroy(mask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mask__known_values),
        cmocka_unit_test(test_mask__patterns),
        cmocka_unit_test(test_mask__environment),
        cmocka_unit_test(test_mask__every_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
