/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The newest values of counters, and the last steps, in flight recorders. Each scrape asks the
 * servers of the programs whose names the operator has listed in the setting recorder_metrics, and
 * no others.
 */
#ifndef DAEMON_RECORDED_VALUES_H
#define DAEMON_RECORDED_VALUES_H

#include <stddef.h>
#include <sys/types.h>

struct program;
struct programs;

/*
 * The limits of one scrape: the number of programs that it asks, those with the lowest pids; and
 * the number of counters that it takes from all programs together, and likewise of steps.
 */
#define RECORDED_MAX_PROGRAMS 32u
#define RECORDED_MAX_VALUES 1024u

struct recorded_value {
	pid_t pid;
	char *process; /* malloc'ed, like |name| */
	char *name; /* of the counter, or of the step */
	double value; /* the value of a counter, or the number of a step */
	double step_s; /* duration of a step */
};

struct recorded_list {
	struct recorded_value *v; /* malloc'ed */
	size_t n;
	size_t n_allocated;
};

struct recorded_values {
	struct recorded_list counters;
	struct recorded_list steps;
};

/*
 * Asks the programs of |v| (|n|, by pid) that match |patterns| and whose flight recorder runs, and
 * waits |wait_ms| for all of them together. The values of a program that does not answer are
 * missing, as are those for which memory ran out. Any thread but the loop's.
 */
void recorded_values_ask(struct recorded_values *r, struct programs *programs,
	const struct program *v, size_t n, const char *patterns, int wait_ms);
void recorded_values_deinit(struct recorded_values *r);

#endif
