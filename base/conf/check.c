/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The check of a file's bytes before libyaml reads them: size, UTF-8, control
 * characters, ends of lines. libyaml would refuse some of them with a worse
 * message. It would accept U+2028 as the end of a line, which many editors do
 * not. After this check the place in a message is the place in the user's
 * editor.
 */
#include <string.h>

#include "base/conf/conf_impl.h"
#include "base/text.h"

static int check_size(size_t length, struct diags *diags)
{
    static const struct diag_place whole_file = {0, 0, 1};

    if (length <= CONF_MAX_BYTES)
        return 0;
    return diags_add(diags, whole_file, NULL,
                     "the file is longer than %d bytes", CONF_MAX_BYTES);
}

/* libyaml ends a line at each of these, and an editor at most of them; then
 * nobody would agree on the numbers of lines. */
static bool is_odd_line_end(uint32_t rune)
{
    return rune == 0x85 || rune == 0x2028 || rune == 0x2029;
}

static bool is_control(uint32_t rune)
{
    return (rune < 0x20 && rune != '\t' && rune != '\n' && rune != '\r') ||
           (rune >= 0x7f && rune < 0xa0) || rune == 0xfeff || rune == 0xfffe ||
           rune == 0xffff;
}

static int check_rune(uint32_t rune, const char *rest, size_t left,
                      struct diag_place place, struct diags *diags)
{
    if (rune == '\0')
        return diags_add(diags, place, NULL,
                         "a NUL byte: this is not a text file");
    if (rune == '\r' && (left < 2 || rest[1] != '\n'))
        return diags_add(diags, place, "end lines with LF or CR LF",
                         "a carriage return that ends no line");
    if (is_odd_line_end(rune))
        return diags_add(diags, place, "end lines with LF or CR LF",
                         "the line separator U+%04X", (unsigned)rune);
    if (is_control(rune))
        return diags_add(diags, place, NULL, "the control character U+%04X",
                         (unsigned)rune);
    return 0;
}

int conf_check_text(const char *text, size_t length, struct diags *diags)
{
    struct diag_place place = {1, 1, 1};

    if (check_size(length, diags) != 0)
        return -1;
    if (length >= 2 &&
        (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return diags_add(diags, (struct diag_place){0, 0, 1},
                         "save it as UTF-8", "the file is UTF-16");
    while (length > 0) {
        uint32_t rune = 0;
        size_t bytes = text_next_rune(text, length, &rune);

        if (bytes == 0)
            return diags_add(diags, place, "save the file as UTF-8",
                             "byte 0x%02x is not UTF-8", (unsigned char)*text);
        if (check_rune(rune, text, length, place, diags) != 0)
            return -1;
        place.column = rune == '\n' ? 1 : place.column + 1;
        place.line += rune == '\n';
        text += bytes;
        length -= bytes;
    }
    return 0;
}
