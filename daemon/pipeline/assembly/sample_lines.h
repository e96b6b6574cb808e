/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes planes of a process's CPU samples and of the states of its threads;
 * docs/internals/samples.md has their form.
 */
#ifndef DAEMON_SAMPLE_LINES_H
#define DAEMON_SAMPLE_LINES_H

#include <stdint.h>

struct plane;
struct sampled_process;
struct space;

/* The facts of the recording. */
struct sample_lines_input {
	int64_t start_ns; /* CLOCK_MONOTONIC; samples outside of the recording are left out */
	int64_t stop_ns;
	int64_t period_ns; /* processor time that a sample stands for */
	const char *plane_name;
	const char *process_name;
	const struct plane
		*host; /* the process's other plane, which has names of threads; or NULL */
};

/*
 * Adds a plane with a line for each thread that has a sample in the recording. The frames of |p|
 * have names. Adds nothing if there is no such sample. 0 or -ENOMEM.
 */
int sample_lines_add(
	const struct sample_lines_input *in, const struct sampled_process *p, struct space *space);

/*
 * Adds a plane with a line for each thread with known states. Adds nothing without one. 0 or
 * -ENOMEM.
 */
int state_lines_add(
	const struct sample_lines_input *in, const struct sampled_process *p, struct space *space);

#endif
