/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/api/api.h"
#include "dashboard/source.h"

/* What is done to a run: POST /api/v1/runs/{run}/VERB for each verb. */

static int act(const struct request *request, const char *verb,
               struct answer *answer, struct err *err)
{
    const struct dashboard_source *source =
        dashboard_source(request_dashboard(request));

    if (source->act == NULL)
        return answer_error(answer, 501, "nothing can be done to runs here");
    return answer_json(answer,
                       source->act(source->user, request_id(request, 0), verb,
                                   request_body(request), err),
                       err);
}

#define X(verb)                                                                \
    static int answer_##verb(const struct request *request,                    \
                             struct store *store, struct answer *answer,       \
                             struct err *err)                                  \
    {                                                                          \
        (void)store;                                                           \
        return act(request, #verb, answer, err);                               \
    }
DASHBOARD_VERBS(X)
#undef X

#define SUMMARY_stop                                                           \
    "Ends the run's trials and its engine, which can be resumed."
#define SUMMARY_pause   "Starts no more trials."
#define SUMMARY_resume  "Starts trials again, after a pause."
#define SUMMARY_retry   "Runs jobs again that are over."
#define SUMMARY_enqueue "Has the search try a setting next."
#define SUMMARY_note    "Sets, or takes away, the note of the run or a job."
#define SUMMARY_tag     "Gives the run, or jobs, tags, and takes them away."

#define TAKES_stop    "Stop"
#define TAKES_pause   "Pause"
#define TAKES_resume  "Resume"
#define TAKES_retry   "Retry"
#define TAKES_enqueue "Enqueue"
#define TAKES_note    "Note"
#define TAKES_tag     "Tag"

#define X(verb)                                                                \
    {.method = "POST",                                                         \
     .path = "/api/v1/runs/{run}/" #verb,                                      \
     .role = ROLE_OPERATOR,                                                    \
     .summary = SUMMARY_##verb,                                                \
     .answers = "Done",                                                        \
     .takes = TAKES_##verb,                                                    \
     .answer = answer_##verb},
const struct route action_routes[] = {DASHBOARD_VERBS(X){0}};
#undef X
