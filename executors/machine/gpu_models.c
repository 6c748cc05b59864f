/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * GPUs by type. nvidia-smi lists them in the order of the PCI bus, as CUDA
 * counts them here (CUDA_DEVICE_ORDER), so a line's index is the name that an
 * attempt gets in CUDA_VISIBLE_DEVICES. A GPU that the environment names by its
 * UUID, or by the beginning of it, is found by that. MIG devices are in another
 * listing (-L), below their GPU: "NVIDIA A100-SXM4-40GB MIG 1g.5gb" here.
 *
 * A type is compared word by word, not as a part of the name: "a10" is part of
 * "A100", and another GPU. Signs between words do not count, as one product is
 * written RTX 4090, rtx4090 and rtx_4090. A MIG device is of the type that its
 * profile is, 1g.5gb, or its GPU and the profile, a100_1g.5gb. It is no a100.
 */
#include "executors/machine/gpu_models.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "executors/machine/program_output.h"

enum { WAIT_MS = 20000, PROFILE_MAX = 24, CARD_MAX = 64 };

static const char mig[] = " MIG "; /* between the names of both */

/* ---- the listings ---- */

/* Whether the environment's name of a GPU is that of the line. */
static bool is_named(const struct gpu *gpu, const char *index, const char *uuid)
{
    if (strncmp(gpu->name, "GPU-", 4) == 0)
        return strncmp(gpu->name, uuid, strlen(gpu->name)) == 0;
    return strcmp(gpu->name, index) == 0;
}

static void read_line(const char *line, const char *end, const struct gpu *gpus,
                      struct gpu_models *models)
{
    char index[GPU_NAME_MAX], uuid[GPU_NAME_MAX], name[GPU_MODEL_MAX];

    gpu_field_next(&line, end, index, sizeof(index));
    gpu_field_next(&line, end, uuid, sizeof(uuid));
    gpu_field_next(&line, end, name, sizeof(name));
    for (size_t i = 0; i < models->count; i++)
        if (is_named(&gpus[i], index, uuid))
            memcpy(models->names[i], name, sizeof(name));
}

void gpu_models_read(const char *text, const struct gpu *gpus, size_t count,
                     struct gpu_models *models)
{
    *models = (struct gpu_models){.count = count < GPUS_MAX ? count : GPUS_MAX};
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");

        read_line(text, text + length, gpus, models);
        text += length + (text[length] == '\n');
    }
}

/* Lines of a GPU, and of its MIG devices below it:
 *
 *     GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5b...)
 *       MIG 1g.5gb      Device  0: (UUID: MIG-c6d4...)
 */
void gpu_models_read_mig(const char *text, const struct gpu *gpus,
                         struct gpu_models *models)
{
    char card[CARD_MAX] = "", profile[PROFILE_MAX], uuid[GPU_NAME_MAX];

    for (; *text != '\0'; text += strspn(text, "\n")) {
        char line[256];
        size_t length = strcspn(text, "\n");

        snprintf(line, sizeof(line), "%.*s", (int)length, text);
        text += length;
        if (sscanf(line, "GPU %*d: %63[^(]", card) == 1) {
            for (size_t end = strlen(card); end > 0 && card[end - 1] == ' ';)
                card[--end] = '\0';
        } else if (sscanf(line, " MIG %23s Device %*d: (UUID: %63[^)])",
                          profile, uuid) == 2) {
            for (size_t i = 0; i < models->count; i++)
                if (strncmp(gpus[i].name, uuid, strlen(gpus[i].name)) == 0)
                    snprintf(models->names[i], GPU_MODEL_MAX, "%s%s%s", card,
                             mig, profile);
        }
    }
}

/* CUDA's other order is its own secret. */
static int check_order(const struct gpu *gpus, size_t count, struct err *err)
{
    const char *order = getenv("CUDA_DEVICE_ORDER");

    if (order == NULL || strcmp(order, "PCI_BUS_ID") == 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (isdigit((unsigned char)gpus[i].name[0]))
            return err_set(err, ERR_FAILED,
                           "types of GPUs need CUDA_DEVICE_ORDER=PCI_BUS_ID, "
                           "not '%s'",
                           order);
    return 0;
}

static int list(char *const *argv, struct program_output *output,
                struct err *err)
{
    int status = program_run(argv, WAIT_MS, output);

    if (status == 0)
        return 0;
    output->text[strcspn(output->text, "\n")] = '\0';
    if (WIFEXITED(status) && WEXITSTATUS(status) == PROGRAM_MISSING)
        return err_set(err, ERR_FAILED,
                       "no program 'nvidia-smi' in PATH, which names the types "
                       "of GPUs");
    return err_set(err, ERR_FAILED,
                   "nvidia-smi did not list the types of GPUs: \"%s\"",
                   output->text);
}

/* Asks for each listing that names some of them; a machine that has none needs
 * no nvidia-smi. */
int gpu_models_find(const struct gpu *gpus, size_t count,
                    struct gpu_models *models, struct err *err)
{
    static char program[] = "nvidia-smi",
                query[] = "--query-gpu=index,uuid,name",
                format[] = "--format=csv,noheader", tree[] = "-L";
    char *cards[] = {program, query, format, NULL};
    char *devices[] = {program, tree, NULL};
    struct program_output output = {.length = 0};
    size_t mig_count = 0;

    for (size_t i = 0; i < count; i++)
        mig_count += gpu_is_mig(&gpus[i]);
    if (check_order(gpus, count, err) != 0)
        return -1;
    if (count > mig_count && list(cards, &output, err) != 0)
        return -1;
    gpu_models_read(output.text, gpus, count, models);
    if (mig_count > 0) {
        if (list(devices, &output, err) != 0)
            return -1;
        gpu_models_read_mig(output.text, gpus, models);
    }
    return 0;
}

/* ---- types ---- */

/* The number of letters and digits that the word at `text` has. */
static size_t word_length(const char *text)
{
    size_t length = 0;

    while (isalnum((unsigned char)text[length]))
        length++;
    return length;
}

static const char *skip_signs(const char *text)
{
    while (*text != '\0' && !isalnum((unsigned char)*text))
        text++;
    return text;
}

/* Whether the type ends at the end of a word, where it begins at this one. */
static bool begins_with(const char *model, const char *type)
{
    for (type = skip_signs(type); *type != '\0'; type = skip_signs(type)) {
        model = skip_signs(model);
        if (tolower((unsigned char)*model) != tolower((unsigned char)*type))
            return false;
        model++;
        type++;
    }
    return !isalnum((unsigned char)*model);
}

static bool has_words(const char *model, const char *type)
{
    for (model = skip_signs(model); *model != '\0'; model = skip_signs(model)) {
        if (begins_with(model, type))
            return true;
        model += word_length(model);
    }
    return false;
}

static size_t skip_signs_before(const char *text, size_t end)
{
    while (end > 0 && !isalnum((unsigned char)text[end - 1]))
        end--;
    return end;
}

/* The type has all of the profile at its end, and before it what the card is.
 */
static bool is_part_of(const char *card, const char *profile, const char *type)
{
    size_t left = skip_signs_before(profile, strlen(profile));
    size_t rest = skip_signs_before(type, strlen(type));
    char *before;
    bool is;

    for (; left > 0; left = skip_signs_before(profile, left - 1)) {
        if (rest == 0 || tolower((unsigned char)profile[left - 1]) !=
                             tolower((unsigned char)type[rest - 1]))
            return false;
        rest = skip_signs_before(type, rest - 1);
    }
    before = mem_copy_bytes(type, rest);
    is = rest == 0 || has_words(card, before);
    free(before);
    return is;
}

bool gpu_model_is(const char *model, const char *type)
{
    const char *profile = strstr(model, mig);
    char card[GPU_MODEL_MAX];

    if (profile == NULL)
        return has_words(model, type);
    snprintf(card, sizeof(card), "%.*s", (int)(profile - model), model);
    return is_part_of(card, profile + strlen(mig), type);
}

static bool is_first(const struct gpu_models *models, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (strcmp(models->names[before], models->names[i]) == 0)
            return false;
    return true;
}

/* "2 NVIDIA A100-SXM4-80GB, 1 Tesla T4" */
static void describe(const struct gpu_models *models, struct buf *out)
{
    for (size_t i = 0; i < models->count; i++) {
        size_t count = 0;

        if (!is_first(models, i))
            continue;
        for (size_t j = i; j < models->count; j++)
            count += strcmp(models->names[i], models->names[j]) == 0;
        buf_printf(out, "%s%zu %s", out->length > 0 ? ", " : "", count,
                   models->names[i][0] != '\0' ? models->names[i]
                                               : "without a name");
    }
}

int gpu_models_choose(const struct gpu_models *models, const char *type,
                      int wanted, uint64_t *set, struct err *err)
{
    struct buf names = BUF_INIT;
    int count = 0;

    *set = 0;
    for (size_t i = 0; i < models->count; i++)
        if (gpu_model_is(models->names[i], type)) {
            *set |= UINT64_C(1) << i;
            count++;
        }
    if (count >= wanted)
        return 0;
    describe(models, &names);
    err_set(err, ERR_FAILED,
            "needs %d GPU%s of type '%s', this machine has %d (its GPUs: %s)",
            wanted, units_plural(wanted), type, count,
            names.length > 0 ? buf_text(&names) : "none");
    buf_clear(&names);
    return -1;
}
