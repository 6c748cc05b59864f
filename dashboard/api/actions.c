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
        return answer_error(answer, 501, "this dashboard allows no actions");
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
    "Stops the run's trials and its engine; the run can be resumed."
#define SUMMARY_pause   "Starts no more trials."
#define SUMMARY_resume  "Starts trials again after a pause."
#define SUMMARY_retry   "Runs ended jobs again."
#define SUMMARY_enqueue "Evaluates a setting with the next new trial."
#define SUMMARY_note    "Sets or removes the note of the run or a job."
#define SUMMARY_tag     "Adds and removes tags of the run or of jobs."

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
