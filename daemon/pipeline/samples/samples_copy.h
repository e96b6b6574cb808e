/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the samples of a process from a time on, with the stacks and threads that they need. The
 * original may be freed afterwards, so the same copy drops old samples.
 */
#ifndef DAEMON_SAMPLES_COPY_H
#define DAEMON_SAMPLES_COPY_H

#include <stdint.h>

struct sampled_process;

struct samples_copy {
	const struct sampled_process *from;
	struct sampled_process *to;
	uint32_t *stacks; /* numbers in |to|, or STACKS_NONE */
	uint32_t *threads; /* indices in |to|, or UINT32_MAX */
	int error;
};

/*
 * Copies what is not older than |from_ns| (CLOCK_MONOTONIC) to |to|, which is empty. Mappings keep
 * their numbers. |from| must not change until samples_copy_end(). The error is that of the end.
 */
void samples_copy_begin(struct samples_copy *c, const struct sampled_process *from,
	struct sampled_process *to, int64_t from_ns);
/* Returns the number of the stack |stack| in the copy, which gets it; or STACKS_NONE. */
uint32_t samples_copy_take_stack(struct samples_copy *c, uint32_t stack);
/* 0, or -ENOMEM: samples are missing. */
int samples_copy_end(struct samples_copy *c);

#endif
