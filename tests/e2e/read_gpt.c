/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read_gpt logits FOLDER TOKEN...: the logits of a GPT-2 in Hugging Face's
 * format behind each of the tokens, a line each. read_gpt tokens PATH: the
 * tokens of each text of standard input, a line each, by the tokenizer at PATH.
 * Each text has a NUL behind it. read_gpt text PATH: the other way, from lines
 * to texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "training/data/tokenizer_files.h"
#include "training/trained_gpt.h"

static int fail(const struct err *err)
{
    fprintf(stderr, "read_gpt: %s\n", err->text);
    return EXIT_FAILURE;
}

static int print_logits(const char *folder, size_t count, char **words)
{
    uint16_t *tokens = calloc(count + 1, sizeof(*tokens));
    struct trained_gpt gpt;
    struct matrix logits;
    struct err err;

    for (size_t i = 0; i < count; i++)
        tokens[i] = (uint16_t)strtoul(words[i], NULL, 10);
    if (trained_gpt_load(&gpt, folder, &err) != 0)
        return fail(&err);
    logits = gpt_go_on(gpt.model, tokens, 0, count);
    for (size_t i = 0; i < logits.rows * logits.columns; i++)
        printf("%.9g%c", (double)logits.data[i],
               (i + 1) % logits.columns == 0 ? '\n' : ' ');
    trained_gpt_clear(&gpt);
    free(tokens);
    return EXIT_SUCCESS;
}

static void print_tokens(const struct bpe *bpe, const char *text)
{
    size_t length = strlen(text);
    uint16_t *tokens = calloc(length + 1, sizeof(*tokens));
    size_t count = bpe_encode(bpe, (const uint8_t *)text, length, tokens);

    for (size_t i = 0; i < count; i++)
        printf("%s%d", i > 0 ? " " : "", tokens[i]);
    putchar('\n');
    free(tokens);
}

static void print_text(const struct bpe *bpe, const char *line)
{
    struct buf text = BUF_INIT;
    char *end;

    for (;; line = end) {
        unsigned long token = strtoul(line, &end, 10);

        if (end == line)
            break;
        bpe_decode(bpe, (uint16_t)token, &text);
    }
    fwrite(buf_text(&text), 1, text.length, stdout);
    putchar('\0');
    buf_clear(&text);
}

static int convert(const char *path, bool to_tokens)
{
    struct err err;
    struct bpe *bpe = tokenizer_read(path, &err);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    if (bpe == NULL)
        return fail(&err);
    while ((length = getdelim(&line, &capacity, to_tokens ? '\0' : '\n',
                              stdin)) > 0) {
        if (to_tokens)
            print_tokens(bpe, line);
        else
            print_text(bpe, line);
    }
    free(line);
    bpe_destroy(bpe);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc >= 4 && strcmp(argv[1], "logits") == 0)
        return print_logits(argv[2], (size_t)argc - 3, argv + 3);
    if (argc == 3 &&
        (strcmp(argv[1], "tokens") == 0 || strcmp(argv[1], "text") == 0))
        return convert(argv[2], strcmp(argv[1], "tokens") == 0);
    fputs("usage: read_gpt logits|tokens|text FOLDER [TOKEN...]\n", stderr);
    return 2;
}
