/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/signal_name.h"

#include <signal.h>
#include <string.h>
#include <strings.h>

#include "base/system/signals.h"

static int parse_number(const char *text)
{
    int number = 0;

    for (const char *at = text; *at != '\0'; at++) {
        if (*at < '0' || *at > '9' || number > SIGNAL_MAX)
            return -1;
        number = 10 * number + (*at - '0');
    }
    return number >= 1 && number <= SIGNAL_MAX ? number : -1;
}

int signal_find(const char *text)
{
    if (strncasecmp(text, "SIG", 3) == 0)
        text += 3;
    for (int i = 1; i <= SIGNAL_NAMES; i++) {
        if (strcasecmp(signal_name(i), text) == 0)
            return i;
    }
    return parse_number(text);
}

bool signal_can_be_handled(int number)
{
    return number != SIGKILL && number != SIGSTOP;
}
