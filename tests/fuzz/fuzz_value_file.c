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
    json_t *object = value_file_parse(size % 8 == 0 ? "f.json" : "f", text,
                                      size, &err),
           *value;
    const char *key;

    assert((object == NULL) == (err.kind == ERR_FILE));
    json_object_foreach(object, key, value)
    {
        assert(value_file_find(object, key, NULL) == value);
    }
    text[strcspn(text, "\n")] = '\0';
    value_file_find(object, text, NULL);
    json_decref(object);
    free(text);
    return 0;
}
