/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/job/value_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * What a job writes for others: an object of which each key is found, or a
 * message; and a key that nobody asked the writer about, the text's first line.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_copy_bytes(data, size);
    struct err err = {0};
    struct value_file file;
    int result = value_file_parse(size % 8 == 0 ? "f.json" : "f", text, size,
                                  &file, &err);
    const char *key;
    json_t *value;

    assert((result != 0) == (err.kind == ERR_FILE));
    json_object_foreach(file.values, key, value)
    {
        assert(value_file_find(file.values, key, NULL) == value);
    }
    json_object_foreach(file.texts, key, value)
    {
        assert(json_is_number(json_object_get(file.values, key)));
    }
    text[strcspn(text, "\n")] = '\0';
    if (result == 0)
        value_file_find(file.values, text, NULL);
    value_file_clear(&file);
    free(text);
    return 0;
}
