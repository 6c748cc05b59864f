/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec.h"

#include "base/buf.h"
#include "base/conf.h"
#include "base/fs.h"
#include "orchestrator/workflow.h"

int spec_parse(struct spec *spec, const struct experiment_source *source,
               struct diags *diags, struct err *err)
{
    *spec = (struct spec){0};
    if (workflow_is(source->text, source->length)) {
        spec->workflow = workflow_parse(source, diags, err);
        spec->experiment =
            spec->workflow != NULL ? spec->workflow->common : NULL;
    } else {
        spec->experiment = experiment_parse(source, diags, err);
    }
    return spec->experiment != NULL ? 0 : -1;
}

int spec_load(struct spec *spec, const char *path,
              const char *const *assignments, size_t assignment_count,
              struct diags *diags, struct err *err)
{
    struct buf text = BUF_INIT;
    struct err why = {0};
    int result = -1;

    *spec = (struct spec){0};
    /* what is too long is for conf_check_text to tell */
    if (fs_read(path, CONF_MAX_BYTES, &text, &why) == 0 || why.kind == ERR_FILE)
        result = spec_parse(spec,
                            &(struct experiment_source){
                                .text = buf_text(&text),
                                .length = text.length,
                                .path = path,
                                .assignments = assignments,
                                .assignment_count = assignment_count,
                            },
                            diags, err);
    else if (err != NULL)
        *err = why;
    buf_clear(&text);
    return result;
}

void spec_clear(struct spec *spec)
{
    if (spec->workflow != NULL)
        workflow_destroy(spec->workflow);
    else
        experiment_destroy(spec->experiment);
    *spec = (struct spec){0};
}
