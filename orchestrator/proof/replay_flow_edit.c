/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run whose file was edited. The steps of a new file start from the state of
 * the old ones, so each event is also noted in step records; an edit tells them
 * to the steps of its file. Without edits there are no records, and a note does
 * nothing.
 */
#include "orchestrator/proof/replay_flow_impl.h"

#include "base/mem.h"

void proving_note_state(struct proving *proving, size_t step,
                        enum flow_state state)
{
    if (proving->records == NULL)
        return;
    proving->records[step].state = state;
    proving->records[step].is_cut_off = false;
}

void proving_note_cut_off(struct proving *proving, size_t step)
{
    temps_cut_off(proving->steps->temps, step);
    if (proving->records != NULL)
        proving->records[step].is_cut_off = true;
}

void proving_note_begin(struct proving *proving, size_t step,
                        const json_t *detail)
{
    if (proving->records == NULL)
        return;
    step_record_forget(&proving->records[step]);
    proving->records[step].state = FLOW_ACTIVE;
    proving->records[step].matrix =
        mem_copy_string(detail_string(detail, "matrix"));
}

void proving_note_job(struct proving *proving, const struct flow_job *job,
                      enum job_state state, const char *outputs)
{
    if (proving->records == NULL)
        return;
    *step_record_copy(&proving->records[job->step], job->copy) =
        (struct copy_record){
            .is_there = true,
            .round = job->round,
            .state = state,
            .rounds = mem_copy_string(job->rounds),
            .outputs = mem_copy_string(outputs),
        };
}

/* The file that holds from now on, which it takes over: its steps are told how
 * far those of the one before are. */
static int follow_spec(struct proving *proving, struct spec *spec)
{
    struct steps *steps =
        steps_create(spec->workflow, proving->run_name, proving->replay->err);
    int result = steps == NULL ? -1
                               : steps_tell(steps, proving->records,
                                            proving->replay->err);

    if (result != 0) {
        steps_destroy(steps);
        spec_clear(spec);
        return -1;
    }
    steps_destroy(proving->steps);
    spec_clear(&proving->spec);
    proving->steps = steps;
    proving->spec = *spec;
    proving->workflow = spec->workflow;
    return 0;
}

int proving_take_file(struct proving *proving, bool is_first)
{
    struct spec spec;

    if (replay_parse_spec(proving->replay, is_first ? "" : "edited_", &spec) !=
        0)
        return -1;
    if (spec.workflow == NULL || is_first != (proving->records == NULL) ||
        spec.workflow->step_count != proving->workflow->step_count) {
        spec_clear(&spec);
        return proving_differ(proving, NULL, "the edited file has other steps");
    }
    if (is_first)
        proving->records =
            mem_array(spec.workflow->step_count, sizeof(*proving->records));
    return follow_spec(proving, &spec);
}
