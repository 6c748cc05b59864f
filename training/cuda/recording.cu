/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/recording.cuh"

#include <stdlib.h>

/*
 * A recording is a CUDA graph: what is put on the stream is captured instead of
 * done. Besides, it has the host's part of a pass: which totals are added up
 * when the device is waited for.
 */

struct recording {
    cudaGraphExec_t graph;
    struct pending pending;
};

static int recording_begin(void)
{
    if (cudaStreamBeginCapture(device_stream(),
                               cudaStreamCaptureModeThreadLocal) != cudaSuccess)
        return -1;
    device_begin_recording();
    return 0;
}

static void recording_forget(struct recording *recording)
{
    cudaGraphExecDestroy(recording->graph);
    free(recording);
}

static struct recording *make(cudaGraph_t graph)
{
    struct recording *recording =
        (struct recording *)calloc(1, sizeof(*recording));

    if (recording == NULL)
        return NULL;
    recording->pending = *device_pending();
    if (cudaGraphInstantiate(&recording->graph, graph, 0) == cudaSuccess)
        return recording;
    free(recording);
    return NULL;
}

static struct recording *recording_end(void)
{
    const bool is_whole = device_end_recording();
    struct recording *recording = NULL;
    cudaGraph_t graph = NULL;

    if (cudaStreamEndCapture(device_stream(), &graph) == cudaSuccess &&
        is_whole)
        recording = make(graph);
    if (graph != NULL)
        cudaGraphDestroy(graph);
    device_pending()->batches = 0;
    cudaGetLastError(); /* what could not be recorded is nobody's failure */
    return recording;
}

static void recording_replay(const struct recording *recording)
{
    *device_pending() = recording->pending;
    device_check("recorded pass",
                 cudaGraphLaunch(recording->graph, device_stream()));
}

const struct recording_calls recording_calls = {
    .begin = recording_begin,
    .end = recording_end,
    .replay = recording_replay,
    .forget = recording_forget,
};
