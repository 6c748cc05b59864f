/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tool `smtrain vocabulary`: learns tokens from the part of a text that gpt
 * trains on. The part that gpt measures on stays out, otherwise its tokens
 * would fit the held-out text too well.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "training/data/bpe.h"
#include "training/data/text.h"
#include "training/tools.h"
#include "training/util/text_file.h"

struct vocabulary_options {
    int64_t size;
    const char *data, *output;
};

static const struct flag vocabulary_flags[] = {
    {.name = "size",
     .type = FLAG_INT,
     .offset = offsetof(struct vocabulary_options, size),
     .argument = "N",
     .initial = "1024",
     .doc = "tokens, including the 256 bytes",
     .min = BPE_BYTES,
     .max = BPE_SIZE_MAX},
    {.name = "data",
     .type = FLAG_TEXT,
     .offset = offsetof(struct vocabulary_options, data),
     .argument = "FILE",
     .doc = "text to read (default: Debian's dictionary)"},
    {.name = "output",
     .type = FLAG_TEXT,
     .offset = offsetof(struct vocabulary_options, output),
     .argument = "FILE",
     .doc = "file to write the vocabulary to"},
    {.name = NULL},
};

static int vocabulary_run(const void *options, struct buf *out, struct err *err)
{
    const struct vocabulary_options *how = options;
    const char *path;
    size_t length;
    uint8_t *text;
    struct bpe *bpe;
    int status;

    if (how->output == NULL)
        return err_set(err, ERR_USAGE, "missing --output");
    path = data_path(&data_text, how->data, err);
    text = path != NULL ? text_file_read(path, &length, err) : NULL;
    if (text == NULL)
        return -1;
    length = text_learnable(length);
    bpe = bpe_learn(text, length, (size_t)how->size);
    status = bpe_save(bpe, how->output, err);
    if (status == 0)
        buf_printf(out, "tokens=%zu bytes=%zu\n", bpe_size(bpe), length);
    bpe_destroy(bpe);
    free(text);
    return status;
}

const struct tool tool_vocabulary = {
    .name = "vocabulary",
    .summary = "learn the tokens of a text, for gpt",
    .about = "Learns the tokens of a text, frequent sequences of bytes "
             "(byte-pair encoding),\n"
             "for `smtrain gpt --vocabulary FILE`. It ignores the held-out and "
             "test parts.\n",
    .examples =
        "  smtrain vocabulary --data text.txt --size 1024 --output vocabulary\n"
        "  smtrain gpt --data text.txt --vocabulary vocabulary\n",
    .flags = vocabulary_flags,
    .options_size = sizeof(struct vocabulary_options),
    .run = vocabulary_run,
};
