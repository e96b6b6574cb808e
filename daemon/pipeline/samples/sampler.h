/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes CPU samples of the processes of a recording, on a thread of its own: it empties the
 * kernel's rings and unwinds the stacks ten times a second, so that no copy of a stack stays for
 * longer.
 */
#ifndef DAEMON_SAMPLER_H
#define DAEMON_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct modules;
struct sampler;
struct samples;

#define SAMPLER_WHY_BYTES 512

struct sampler_config {
	const char *root; /* "", or a test's fake root; borrowed */
	struct modules *modules; /* borrowed */
	unsigned rate_hz; /* samples for a second of processor time; 1 to 4999 */
	bool has_states; /* intervals of threads are wanted, too */
	/* memory for samples and stacks; later ones are left out, and counted */
	uint64_t max_bytes;
	bool keeps_newest; /* the oldest ones are dropped instead */
};

/*
 * Opens events for the process |pid|: it is sampled from the return of this call on. NULL: nothing
 * can be sampled, and |why| (SAMPLER_WHY_BYTES) has the reason for people, or "": the process has
 * ended.
 */
struct sampler *sampler_start(const struct sampler_config *config, pid_t pid, char *why);

/* Adds a process, soon. */
void sampler_add_process(struct sampler *s, pid_t pid);
/* Removes a process that has ended, soon, with its samples. */
void sampler_remove_process(struct sampler *s, pid_t pid);

/*
 * Copies the samples from |from_ns| (CLOCK_MONOTONIC) until now to |out|, which is empty. Waits
 * until the rings have been emptied.
 * Threads: any, while no other one stops the sampler.
 */
void sampler_copy(struct sampler *s, struct samples *out, int64_t from_ns);

/*
 * Moves the samples from |from_ns| (CLOCK_MONOTONIC) on to |out|, which is empty, and drops older
 * ones. The sampler goes on.
 */
void sampler_cut(struct sampler *s, struct samples *out, int64_t from_ns);

/*
 * Ends the sampling and moves all samples to |out|, which is empty. |s| must not be used
 * afterwards. |why| becomes a sentence for people when samples are missing, or "".
 */
void sampler_stop(struct sampler *s, struct samples *out, char *why);

#endif
