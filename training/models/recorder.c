/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/models/recorder.h"

void recorder_init(struct recorder *recorder, const struct backend *backend,
                   bool is_wanted)
{
    *recorder =
        (struct recorder){.calls = is_wanted ? backend->recording : NULL};
}

static size_t kept_count(const struct recorder *recorder)
{
    return recorder->count < RECORDER_MAX ? recorder->count : RECORDER_MAX;
}

void recorder_clear(struct recorder *recorder)
{
    for (size_t i = 0; i < kept_count(recorder); i++)
        if (recorder->kept[i].recording != NULL)
            recorder->calls->forget(recorder->kept[i].recording);
    *recorder = (struct recorder){0};
}

static bool is_same(const struct batch *one, const struct batch *other)
{
    return one->inputs == other->inputs && one->targets == other->targets &&
           one->count == other->count && one->step == other->step &&
           one->first == other->first && one->scale == other->scale;
}

static struct recorded *find(struct recorder *recorder,
                             const struct batch *batch, int share)
{
    for (size_t i = 0; i < kept_count(recorder); i++) {
        struct recorded *it = &recorder->kept[i];

        if (it->share == share && is_same(&it->batch, batch))
            return it;
    }
    return NULL;
}

static void keep(struct recorder *recorder, const struct batch *batch,
                 int share)
{
    struct recorded *next = &recorder->kept[recorder->count % RECORDER_MAX];

    if (next->recording != NULL)
        recorder->calls->forget(next->recording);
    *next = (struct recorded){*batch, share, NULL};
    recorder->count++;
}

/* NULL: it is to be done plainly. The first time also makes ready what cannot
 * be while it is recorded: kernels are loaded, and those of products chosen. */
static struct recording *recording_of(struct recorder *recorder,
                                      struct model *model,
                                      const struct batch *batch, int share)
{
    const struct recording_calls *calls = recorder->calls;
    struct recorded *it = find(recorder, batch, share);

    if (it == NULL) {
        keep(recorder, batch, share);
        return NULL;
    }
    if (it->recording == NULL && calls->begin() == 0) {
        model_ask(model, batch, &recorder->totals);
        it->recording = calls->end();
    }
    if (it->recording == NULL)
        recorder_clear(recorder); /* nor could it the next time */
    return it->recording;
}

int recorder_train(struct recorder *recorder, struct model *model,
                   const struct batch *batch, int share, struct totals *totals,
                   struct err *err)
{
    const struct recording_calls *calls = recorder->calls;
    struct recording *recording = NULL;

    if (calls != NULL)
        recording = recording_of(recorder, model, batch, share);
    *totals = recorder->totals = (struct totals){0};
    if (recording == NULL)
        return model_train(model, batch, totals, err);
    calls->replay(recording);
    if (model->backend->synchronize(err) != 0)
        return -1;
    *totals = recorder->totals;
    return 0;
}
