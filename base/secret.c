/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A name is split into words, at its separators and where capitals begin:
 * api_key, HF_TOKEN and AccountingStoragePass have a secret's word, monkey and
 * max_tokens have none. Words beside `token` and `key` can take the suspicion
 * back (pad_token, primary_key, key_dim). It is better to hide too much than
 * too little, so a word that is in no table does not.
 */
#include "base/secret.h"

#include <ctype.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"

enum { WORD_MAX = 24 };

/* A word that is one of these, or ends with it (PGPASSWORD), is a secret's. */
static const char *const secret_words[] = {
    "SECRET",        "SECRETS", "PASSWORD",   "PASSWORDS",   "PASSWD",
    "PASSPHRASE",    "APIKEY",  "CREDENTIAL", "CREDENTIALS", "AUTHTOKEN",
    "AUTHORIZATION", "COOKIE",  "COOKIES",    "JWT",         "ACCESSTOKEN",
    "ACCESSKEY",     "SSHPASS", "PRIVATEKEY",
};

/* These are one unless a word beside them shows that they are not. */
static const char *const doubtful_words[] = {"TOKEN", "KEY", "PASS", "PWD"};

/* In the plural, only behind one of these: max_tokens. */
static const char *const plural_words[] = {"TOKENS", "KEYS"};
static const char *const owners[] = {"API", "ACCESS", "AUTH", "PRIVATE"};

static const char *const harmless_before[] = {
    "PAD",   "EOS",   "BOS",     "UNK",     "SEP",       "CLS",   "MASK",
    "START", "END",   "STOP",    "SPECIAL", "NEXT",      "PER",   "MAX",
    "MIN",   "NUM",   "N",       "IMAGE",   "LABEL",     "QUERY", "PRIMARY",
    "SORT",  "GROUP", "FOREIGN", "PUBLIC",  "PARTITION", "DICT",  "INDEX",
    "JOIN",  "CACHE", "METRIC",
};

static const char *const harmless_after[] = {
    "ID",        "IDS",        "COUNT",  "DIM",    "DROPOUT", "EMBED",
    "EMBEDDING", "EMBEDDINGS", "LIMIT",  "LENGTH", "LEN",     "SIZE",
    "RATE",      "TYPE",       "TYPES",  "BUDGET", "PROB",    "LOSS",
    "ACC",       "ACCURACY",   "LEVEL",  "VALUE",  "HEAD",    "HEADS",
    "PADDING",   "COLUMN",     "MIXING", "PROJ",   "QUERY",   "MASK",
    "BITS",      "POINTS",     "FRAMES", "ERROR",
};

/* A file with the secret, or the name of what has it. */
static const char *const holders[] = {"FILE", "PATH", "DIR", "ENV", "NAME"};

/* What follows a prefix: so many characters at least, of these besides letters
 * and digits. */
static const struct {
    const char *prefix;
    size_t least;
    const char *others;
} makers[] = {
    {"hf_", 16, ""},         {"ghp_", 16, ""},         {"gho_", 16, ""},
    {"ghs_", 16, ""},        {"github_pat_", 16, "_"}, {"glpat-", 16, "_-"},
    {"sk-", 20, "_-"},       {"AKIA", 16, ""},         {"ASIA", 16, ""},
    {"xoxb-", 10, "-"},      {"xoxp-", 10, "-"},       {"xapp-", 10, "-"},
    {"AIza", 30, "_-"},      {"npm_", 30, ""},         {"eyJ", 14, "_-"},
    {"wandb_v1_", 16, "_-"},
};

#define IS_ONE_OF(word, list) text_is_among(word, list, ARRAY_LEN(list))

static bool is_secret_word(const char *word)
{
    size_t length = strlen(word);

    for (size_t i = 0; i < ARRAY_LEN(secret_words); i++) {
        size_t size = strlen(secret_words[i]);

        if (length >= size &&
            strcmp(word + length - size, secret_words[i]) == 0)
            return true;
    }
    return false;
}

/* Whether a word begins at a capital: apiKey, APIKey. */
static bool is_hump(const char *name, size_t at, size_t length)
{
    return at > 0 && isupper((unsigned char)name[at]) &&
           (!isupper((unsigned char)name[at - 1]) ||
            (at + 1 < length && islower((unsigned char)name[at + 1])));
}

/* The next word in capitals, without digits at its end (TOKEN2); "" at the end
 * of the name. One that is too long is cut in front. */
static void next_word(const char *name, size_t *at, size_t length,
                      char word[WORD_MAX + 1])
{
    size_t from, count;

    do {
        while (*at < length && !isalnum((unsigned char)name[*at]))
            ++*at;
        from = (*at)++;
        while (*at < length && isalnum((unsigned char)name[*at]) &&
               !is_hump(name, *at, length))
            ++*at;
        count = *at < length ? *at : length;
        while (count > from && isdigit((unsigned char)name[count - 1]))
            count--;
    } while (count <= from && *at < length);
    if (count > from + WORD_MAX)
        from = count - WORD_MAX;
    count = count > from ? count - from : 0;
    for (size_t i = 0; i < count; i++)
        word[i] = (char)toupper((unsigned char)name[from + i]);
    word[count] = '\0';
}

static bool is_secret_between(const char *before, const char *word,
                              const char *after)
{
    if (IS_ONE_OF(after, holders))
        return false;
    if (is_secret_word(word))
        return true;
    if (IS_ONE_OF(word, plural_words))
        return IS_ONE_OF(before, owners);
    if (!IS_ONE_OF(word, doubtful_words) || IS_ONE_OF(before, harmless_before))
        return false;
    if (word[0] == 'P') /* bypass_cache, and PWD is a folder */
        return after[0] == '\0' && (word[1] == 'A' || before[0] != '\0');
    return !IS_ONE_OF(after, harmless_after);
}

bool secret_is_name(const char *name, size_t length)
{
    char words[3][WORD_MAX + 1] = {"", "", ""};
    size_t at = 0;

    next_word(name, &at, length, words[1]);
    for (size_t i = 1; words[i % 3][0] != '\0'; i++) {
        next_word(name, &at, length, words[(i + 1) % 3]);
        if (is_secret_between(words[(i + 2) % 3], words[i % 3],
                              words[(i + 1) % 3]))
            return true;
    }
    return false;
}

bool secret_is_made(const char *value, size_t length)
{
    for (size_t i = 0; i < ARRAY_LEN(makers); i++) {
        size_t at = strlen(makers[i].prefix), digits = 0;

        if (length < at + makers[i].least ||
            memcmp(value, makers[i].prefix, at) != 0)
            continue;
        for (; at < length && (isalnum((unsigned char)value[at]) ||
                               (value[at] != '\0' &&
                                strchr(makers[i].others, value[at]) != NULL));
             at++)
            digits += isdigit((unsigned char)value[at]) != 0;
        if (at == length && digits > 0)
            return true;
    }
    return false;
}

bool secret_is_value(const char *name, const char *value)
{
    enum { HEX_MIN = 32 };
    size_t length = strlen(value), first = strcspn(value, ".");

    if (secret_is_made(value, first) ||
        strstr(value, "PRIVATE KEY-----") != NULL)
        return true;
    return length >= HEX_MIN &&
           strspn(value, "0123456789abcdefABCDEF") == length &&
           secret_is_name(name, strlen(name));
}

bool secret_is_in(const char *text)
{
    while (*text != '\0') {
        size_t length = 0;

        while (isalnum((unsigned char)text[length]) || text[length] == '_' ||
               text[length] == '-')
            length++;
        if (secret_is_made(text, length))
            return true;
        text += length > 0 ? length : 1;
    }
    return false;
}
