/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the kernels of a view: whatever is a span of a device's stream, no step, and on no derived line. */
#ifndef TRACE_CODEC_KERNELS_H
#define TRACE_CODEC_KERNELS_H

#include <stdint.h>

struct codec_result;
struct diag;
struct item;
struct sink;
struct view;
struct view_track;

struct kernels {
	const struct view *view;
	const struct view_track *track; /* that is read */
	struct codec_result *result;
	struct sink *sink;
	void *state; /* of |put| */
	/* Of each, which result->n_items counts already. */
	void (*put)(struct kernels *k, const struct item *item);
	uint64_t n_others; /* that are no kernels */
};

/* What is no kernel is counted as lost. 0 or a negative errno, of the sink's too. */
int kernels_read(struct kernels *k, struct diag *d);

#endif
