/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the samples of a thread, each with its weight and with the span that was open on the thread
 * at its time. A sample says that the thread ran, or that it waited; codecs never add up weights of
 * both kinds.
 */
#ifndef TRACE_CODEC_THREAD_SAMPLES_H
#define TRACE_CODEC_THREAD_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

struct codec_result;
struct diag;
struct item;
struct view;
struct view_track;

struct thread_sample {
	const struct item *item; /* valid until the next sample */
	bool is_waiting; /* the thread waited; otherwise it ran */
	int64_t weight_ns; /* time of waiting, or processor time of a sample; 0: unknown */
	uint32_t span; /* name of the innermost open span; NAMES_NONE: no span was open */
	bool has_step; /* a step was open */
	int64_t step_num; /* of the innermost step */
};

/* Gets each sample. 0, or a negative errno that ends the reading. */
typedef int thread_sample_reader(void *context, const struct thread_sample *sample);
/*
 * Reads the samples of |track|, one of view->samples, in the order of time. 0, or a negative errno:
 * that of |reader|, or one of the cursor, which also sets |d|.
 */
int thread_samples_read(const struct view *view, const struct view_track *track,
	thread_sample_reader *reader, void *context, struct diag *d);

/*
 * Returns the track whose row has the samples or states of |track|: the thread's; without spans,
 * that of its samples; without these, |track| itself. NULL: a grouping has no row for them, which
 * is counted as a loss.
 */
const struct view_track *thread_samples_find_row(
	const struct view *view, const struct view_track *track, struct codec_result *result);

/* True if the sample has a stack and a weight; otherwise it is counted as a loss. */
bool thread_sample_has_weight(const struct thread_sample *s, struct codec_result *result);

/* Returns the name of the file whose code ran in the innermost frame of |stack|; "": none. */
const char *thread_sample_get_module(const struct view *view, uint32_t stack);

/* Finds the number of the processor on which the thread of a sample or state ran; -1: unknown. */
int64_t thread_sample_find_cpu(const struct item *item);

#endif
