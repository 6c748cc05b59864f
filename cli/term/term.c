/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/term/term.h"

#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/text.h"

enum { COLUMNS_MAX = 10000 };

static const char *const codes[] = {
    [STYLE_PLAIN] = "\033[0m", [STYLE_BOLD] = "\033[1m",
    [STYLE_DIM] = "\033[2m",   [STYLE_GOOD] = "\033[32m",
    [STYLE_BAD] = "\033[31m",  [STYLE_BUSY] = "\033[36m",
    [STYLE_NOTE] = "\033[33m",
};

static const struct {
    const char *state;
    enum style style;
} state_styles[] = {
    {"succeeded", STYLE_GOOD},   {"ok", STYLE_GOOD},
    {"failed", STYLE_BAD},       {"fail", STYLE_BAD},
    {"running", STYLE_BUSY},     {"active", STYLE_BUSY},
    {"stopped", STYLE_NOTE},     {"paused", STYLE_NOTE},
    {"warn", STYLE_NOTE},        {"unknown", STYLE_NOTE},
    {"interrupted", STYLE_NOTE}, {"nonfinite", STYLE_NOTE},
    {"waiting", STYLE_DIM},      {"ready", STYLE_DIM},
    {"skipped", STYLE_DIM},      {"cancelled", STYLE_DIM},
};

bool term_is_dumb(void)
{
    const char *name = getenv("TERM");

    return name == NULL || name[0] == '\0' || strcmp(name, "dumb") == 0;
}

int term_columns(int fd)
{
    const char *fallback = getenv("COLUMNS");
    struct winsize size;
    long columns;

    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    columns = fallback != NULL ? strtol(fallback, NULL, 10) : 0;
    return columns > 0 && columns < COLUMNS_MAX ? (int)columns : 0;
}

int term_lines(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

bool term_is_writable(int fd)
{
    struct pollfd file = {.fd = fd, .events = POLLOUT};

    return fd < 0 || poll(&file, 1, 0) != 0;
}

bool term_is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *name = getenv("TERM");

    if (name != NULL && strcmp(name, "dumb") == 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        const char *locale = getenv(variables[i]);

        if (locale != NULL && locale[0] != '\0')
            return strcasestr(locale, "utf-8") != NULL ||
                   strcasestr(locale, "utf8") != NULL;
    }
    return false;
}

bool term_has_colour(const char *choice, bool is_terminal)
{
    const char *none = getenv("NO_COLOR");
    const char *force = getenv("CLICOLOR_FORCE");

    if (choice != NULL && strcmp(choice, "always") == 0)
        return true;
    if (choice != NULL && strcmp(choice, "never") == 0)
        return false;
    if (none != NULL && none[0] != '\0')
        return false;
    if (force != NULL && force[0] != '\0' && strcmp(force, "0") != 0)
        return true;
    return is_terminal && !term_is_dumb();
}

const char *term_shown(const char *text, struct buf *shown)
{
    buf_truncate(shown, 0);
    text_escape(text, strlen(text), shown);
    return buf_text(shown);
}

const char *term_style(enum style style, bool colour)
{
    return colour ? codes[style] : "";
}

enum style term_state_style(const char *state)
{
    for (size_t i = 0; i < ARRAY_LEN(state_styles); i++) {
        if (strcmp(state_styles[i].state, state) == 0)
            return state_styles[i].style;
    }
    return STYLE_PLAIN;
}
