/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes of a recording use, sampled while it runs; usage.h is one of them. */
#ifndef DAEMON_RECORDING_USAGE_H
#define DAEMON_RECORDING_USAGE_H

#include <stddef.h>

struct recording;

/* For the sources from |first| on, as long as there are descriptors; who gets none is counted. */
void recording_usage_begin(struct recording *r, size_t first);

/* One process after the other, some at a visit. */
void recording_usage_visit(struct recording *r);

/* The last samples; |r->error| says when some are missing for lack of memory. */
void recording_usage_end(struct recording *r);

#endif
