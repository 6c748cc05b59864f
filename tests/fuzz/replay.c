/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/rng.h"

/*
 * A fuzz target without libFuzzer: `replay_NAME INPUTS FOUND SEEDS [DICT]` runs
 * the target on each file of the folder SEEDS and then on INPUTS mutations of
 * them, the same ones in every run. It needs no instrumentation, so that it
 * links with the library of the unit tests. Each input is in the file FOUND
 * while the target reads it, and stays there where that ends the program.
 *
 * The n-th mutation depends on n, the seeds in the order of their names, and
 * the words of the dictionary, which is one of libFuzzer's.
 */

enum { MAX_INPUT_BYTES = 65536, MAX_STEPS = 8, MAX_RUN_BYTES = 64 };

struct inputs {
    struct buf *items;
    size_t count, capacity;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct buf *inputs_add(struct inputs *inputs)
{
    inputs->items = mem_grow(inputs->items, inputs->count, &inputs->capacity,
                             sizeof(*inputs->items));
    inputs->items[inputs->count] = (struct buf)BUF_INIT;
    return &inputs->items[inputs->count++];
}

static void inputs_clear(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        buf_clear(&inputs->items[i]);
    free(inputs->items);
}

/* Every file of the folder, by name. */
static int read_seeds(const char *folder, struct inputs *seeds, struct err *err)
{
    struct dirent **entries = NULL;
    int status = 0;
    int count = scandir(folder, &entries, NULL, alphasort);

    if (count < 0)
        return err_set(err, ERR_FILE, "cannot read %s", folder);
    for (int i = 0; i < count; i++) {
        char *path = fs_join(folder, entries[i]->d_name);

        if (entries[i]->d_name[0] != '.' && status == 0)
            status = fs_read(path, MAX_INPUT_BYTES, inputs_add(seeds), err);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* A dictionary has one word a line, in quotes, with \xHH, \" and \\. */
static void add_word(const char *line, struct inputs *words)
{
    const char *c = strchr(line, '"');
    const char *end = strrchr(line, '"');
    struct buf *word;

    if (line[0] == '#' || c == end)
        return;
    word = inputs_add(words);
    for (c++; c < end; c++) {
        char digits[3] = {0};

        if (c[0] == '\\' && c[1] == 'x') {
            memcpy(digits, c + 2, 2);
            buf_add_char(word, (char)strtol(digits, NULL, 16));
            c += 3;
        } else {
            c += c[0] == '\\';
            buf_add_char(word, *c);
        }
    }
}

static int read_words(const char *path, struct inputs *words, struct err *err)
{
    struct buf text = BUF_INIT;

    if (fs_read(path, MAX_INPUT_BYTES, &text, err) != 0)
        return -1;
    for (char *rest = text.data, *line; (line = strsep(&rest, "\n")) != NULL;)
        add_word(line, words);
    buf_clear(&text);
    return 0;
}

/* Puts bytes of another place, of `text`, in the place of `length` bytes. */
static void replace(struct buf *input, size_t at, size_t length,
                    const char *text, size_t text_length)
{
    struct buf changed = BUF_INIT;

    buf_add(&changed, input->data, at);
    buf_add(&changed, text, text_length);
    buf_add(&changed, input->data + at + length, input->length - at - length);
    buf_clear(input);
    *input = changed;
}

static size_t below(struct rng *rng, size_t bound)
{
    return bound == 0 ? 0 : (size_t)rng_below(rng, bound);
}

static void mutate(struct buf *input, const struct inputs *seeds,
                   const struct inputs *words, struct rng *rng)
{
    static const char numbers[][24] = {
        "0",     "-1",    "2147483647", "4294967296", "9223372036854775807",
        "1e308", "-1e-9", "nan",        "0x10",       "18446744073709551616"};
    size_t at = below(rng, input->length + 1);
    size_t rest = input->length - at;
    size_t length =
        below(rng, (rest < MAX_RUN_BYTES ? rest : MAX_RUN_BYTES) + 1);
    const struct buf *other = &seeds->items[below(rng, seeds->count)];
    char byte = (char)below(rng, 256);

    switch (below(rng, 6)) {
    case 0: /* a bit */
        if (rest > 0)
            input->data[at] ^= (char)(1 << below(rng, 8));
        break;
    case 1:
        replace(input, at, length < rest ? below(rng, 2) : 0, &byte, 1);
        break;
    case 2:
        replace(input, at, length, NULL, 0);
        break;
    case 3: { /* the end, or some, of a seed */
        size_t from = below(rng, other->length + 1);
        size_t left = other->length - from;

        replace(input, at, below(rng, 2) ? rest : 0, other->data + from,
                below(rng, 2) ? left : below(rng, left + 1));
        break;
    }
    case 4: {
        const char *number = numbers[below(rng, sizeof(numbers) / 24)];

        replace(input, at, strspn(buf_text(input) + at, "0123456789"), number,
                strlen(number));
        break;
    }
    default:
        if (words->count > 0) {
            const struct buf *word = &words->items[below(rng, words->count)];

            replace(input, at, below(rng, 2) ? length : 0, word->data,
                    word->length);
        }
    }
}

/* The target reads a copy that has no byte behind it. */
static int run(const struct buf *input, int found)
{
    uint8_t *data = mem_alloc(input->length > 0 ? input->length : 1);

    if (input->length > 0)
        memcpy(data, input->data, input->length);
    if (ftruncate(found, 0) != 0 || lseek(found, 0, SEEK_SET) != 0 ||
        fs_write_all(found, data, input->length) != 0) {
        free(data);
        return -1;
    }
    LLVMFuzzerTestOneInput(data, input->length);
    free(data);
    return 0;
}

static int run_mutation(uint64_t number, const struct inputs *seeds,
                        const struct inputs *words, int found)
{
    struct buf input = BUF_INIT;
    struct rng rng;
    const struct buf *seed;
    size_t steps;
    int status;

    rng_init(&rng, 1, number, 0);
    seed = &seeds->items[below(&rng, seeds->count)];
    buf_add(&input, seed->data, seed->length);
    for (steps = 1 + below(&rng, MAX_STEPS); steps > 0; steps--)
        mutate(&input, seeds, words, &rng);
    if (input.length > MAX_INPUT_BYTES)
        buf_truncate(&input, MAX_INPUT_BYTES);
    status = run(&input, found);
    buf_clear(&input);
    return status;
}

static int run_all(long count, const struct inputs *seeds,
                   const struct inputs *words, int found)
{
    for (size_t i = 0; i < seeds->count; i++) {
        if (run(&seeds->items[i], found) != 0)
            return -1;
    }
    for (long n = 0; n < count; n++) {
        if (run_mutation((uint64_t)n, seeds, words, found) != 0)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct inputs seeds = {NULL, 0, 0}, words = {NULL, 0, 0};
    struct err err = {0};
    long count = argc >= 4 ? strtol(argv[1], NULL, 10) : -1;
    int found;

    if (count < 0 || argc > 5) {
        fprintf(stderr, "usage: replay INPUTS FOUND SEEDS [DICT]\n");
        return 2;
    }
    if (read_seeds(argv[3], &seeds, &err) != 0 ||
        (argc == 5 && read_words(argv[4], &words, &err) != 0)) {
        fprintf(stderr, "replay: %s\n", err.text);
        return 1;
    }
    inputs_add(&seeds); /* the empty one */
    found = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (found < 0 || run_all(count, &seeds, &words, found) != 0) {
        fprintf(stderr, "replay: cannot write %s\n", argv[2]);
        return 1;
    }
    close(found);
    unlink(argv[2]);
    printf("%zu seeds, %ld mutations\n", seeds.count, count);
    inputs_clear(&seeds);
    inputs_clear(&words);
    return 0;
}
