/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/spec.h"

#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/conf.h"
#include "base/fs.h"
#include "orchestrator/spec/workflow/workflow.h"

/* What other tools call the steps of a workflow; NULL: the file has none such,
 * or is an experiment. */
static const char *find_other_word(const struct experiment_source *source)
{
    static const char *const words[] = {"jobs", "tasks", "stages", "rules"};
    static const char *const own[] = {"objective", "parameters", "trial"};

    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (conf_has_key(source->text, source->length, own[i]))
            return NULL;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (conf_has_key(source->text, source->length, words[i]))
            return words[i];
    return NULL;
}

/* One message, in place of all that the file lacks of an experiment. */
static int refuse_other_word(const struct experiment_source *source,
                             const char *word, struct diags *diags)
{
    struct conf_doc *doc = conf_parse(source->text, source->length, diags);

    if (doc != NULL)
        diags_add(diags, conf_get_key(conf_root(doc), word)->place,
                  "for example steps: [{build: {command: make}}, {test: "
                  "{command: make check}}]",
                  "a workflow has its jobs under 'steps', not under '%s'",
                  word);
    conf_destroy(doc);
    return -1;
}

int spec_parse(struct spec *spec, const struct experiment_source *source,
               struct diags *diags, struct err *err)
{
    bool is_workflow = workflow_is(source->text, source->length);
    const char *word = is_workflow ? NULL : find_other_word(source);

    *spec = (struct spec){0};
    if (word != NULL)
        return refuse_other_word(source, word, diags);
    if (is_workflow) {
        spec->workflow = workflow_parse(source, diags, err);
        spec->experiment =
            spec->workflow != NULL ? spec->workflow->common : NULL;
    } else {
        spec->experiment = experiment_parse(source, diags, err);
    }
    return spec->experiment != NULL ? 0 : -1;
}

int spec_load(struct spec *spec, const struct experiment_source *file,
              struct diags *diags, struct err *err)
{
    struct experiment_source source = *file;
    struct buf text = BUF_INIT;
    struct err why = {0};
    int result = -1;

    *spec = (struct spec){0};
    /* what is too long is for conf_check_text to tell */
    if (fs_read(file->path, CONF_MAX_BYTES, &text, &why) == 0 ||
        why.kind == ERR_FILE) {
        source.text = buf_text(&text);
        source.length = text.length;
        result = spec_parse(spec, &source, diags, err);
    } else if (err != NULL) {
        *err = why;
    }
    buf_clear(&text);
    return result;
}

void spec_warn(const struct spec *spec, struct diags *warnings)
{
    if (spec->workflow != NULL)
        workflow_warn(spec->workflow, warnings);
    else
        experiment_warn(spec->experiment, warnings);
}

void spec_clear(struct spec *spec)
{
    if (spec->workflow != NULL)
        workflow_destroy(spec->workflow);
    else
        experiment_destroy(spec->experiment);
    *spec = (struct spec){0};
}

const struct schema_key *spec_schema(const char *text)
{
    return workflow_is(text, strlen(text)) ? workflow_schema
                                           : experiment_schema;
}
