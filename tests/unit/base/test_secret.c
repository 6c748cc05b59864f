/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"

/* Which names are secrets: the table that people argue about. */
static const struct {
    const char *name;
    bool is_secret;
} names[] = {
    {"HF_TOKEN", true},
    {"hf_token", true},
    {"hfToken", true},
    {"token", true},
    {"TOKEN2", true},
    {"HF_TOKEN_1", true},
    {"TOKEN_PROD", true},
    {"X-SLURM-USER-TOKEN", true},
    {"--auth-token", true},
    {"authtoken", true},
    {"api_key", true},
    {"apiKey", true},
    {"APIKey", true},
    {"apikey", true},
    {"WANDB_API_KEY", true},
    {"AWS_SECRET_ACCESS_KEY", true},
    {"KEY", true},
    {"api_keys", true},
    {"ACCESS_TOKENS", true},
    {"ssh_private_key", true},
    {"SECRET", true},
    {"secrets", true},
    {"client_secret", true},
    {"clientsecret", true},
    {"SECRET_ID", true},
    {"password", true},
    {"PGPASSWORD", true},
    {"db-passwd", true},
    {"DB_PASS", true},
    {"MYSQL_PWD", true},
    {"AccountingStoragePass", true},
    {"passphrase", true},
    {"GOOGLE_CREDENTIALS", true},
    {"Authorization", true},
    {"Set-Cookie", true},
    {"SLURM_JWT", true},
    {"model.api_key", true},

    {"", false},
    {"_", false},
    {"1", false},
    {"lr", false},
    {"hotkey", false},
    {"monkey", false},
    {"keyboard", false},
    {"keys", false},
    {"tokens", false},
    {"max_tokens", false},
    {"MAX_TOKENS", false},
    {"max_token", false},
    {"n_token", false},
    {"tokenizer", false},
    {"TOKENIZERS_PARALLELISM", false},
    {"pad_token", false},
    {"eos_token_id", false},
    {"token_dropout", false},
    {"tokenType", false},
    {"cost_per_token", false},
    {"key_dim", false},
    {"num_key_value_heads", false},
    {"primary_key", false},
    {"sort-key", false},
    {"PUBLIC_KEY", false},
    {"AWS_ACCESS_KEY_ID", false},
    {"bypass_cache", false},
    {"pass_through", false},
    {"PWD", false},
    {"OLDPWD", false},
    {"TOKEN_FILE", false},
    {"PASSWORD_FILE", false},
    {"KEY_PATH", false},
    {"secret_env", false},
    {"secretary", false},
    {"compass", false},
    {"averyveryveryveryverylongwordwithoutany", false},
    {"averyveryveryverylongwordbeforeapassword", true},
};

static void test_secret__names(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (secret_is_name(names[i].name, strlen(names[i].name)) !=
            names[i].is_secret)
            fail_msg("'%s' must%s be a secret's name", names[i].name,
                     names[i].is_secret ? "" : " not");
}

/* The name ends where its length does. */
static void test_secret__part_of_a_text(void **state)
{
    (void)state;
    assert_true(secret_is_name("token=x", 5));
    assert_false(secret_is_name("tokens", 4));
    assert_false(secret_is_name("token", 0));
}

/* Values that show what they are; none of them was ever valid. */
static const struct {
    const char *name, *value;
    bool is_secret;
} values[] = {
    {"X", "hf_abcdefghij0123456789abcdefghij0123", true},
    {"X", "ghp_abcdefghij0123456789abcdefghij012345", true},
    {"X", "github_pat_11ABCDEFG0_abcdefghij", true},
    {"X", "sk-abcdefghij0123456789", true},
    {"X", "sk-proj-abcd_efgh-ijkl0123", true},
    {"X", "AKIAABCDEFGHIJ012345", true},
    {"X", "xoxb-123456789012-abcdef", true},
    {"X", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", true},
    {"X", "-----BEGIN RSA PRIVATE KEY-----\nMIIE", true},
    {"WANDB_API_KEY", "0123456789abcdef0123456789abcdef01234567", true},
    {"WANDB_API_KEY", "${{ key }}", false},
    {"WANDB_API_KEY", "0123456789abcdef", false},
    {"COMMIT", "0123456789abcdef0123456789abcdef01234567", false},
    {"X", "", false},
    {"X", "hf_", false},
    {"X", "hf_checkpoint_step_10000000", false},
    {"X", "hf_datasetsdirectory", false},
    {"X", "sk-learn-random-forest", false},
    {"X", "AKIA", false},
    {"X", "https://example.org/hf_home", false},
    {"OMP_NUM_THREADS", "4", false},
};

static void test_secret__values(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (secret_is_value(values[i].name, values[i].value) !=
            values[i].is_secret)
            fail_msg("'%s' must%s be a secret", values[i].value,
                     values[i].is_secret ? "" : " not");
    assert_true(secret_is_made("hf_abcdefghij0123456789", 23));
    assert_false(secret_is_made("hf_abcdefghij0123456789", 18));
    assert_true(secret_is_in("run --to=hf_abcdefghij0123456789, now"));
    assert_false(secret_is_in("run --to=xhf_abcdefghij0123456789"));
    assert_false(secret_is_in(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secret__names),
        cmocka_unit_test(test_secret__part_of_a_text),
        cmocka_unit_test(test_secret__values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
