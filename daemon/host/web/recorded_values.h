/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The newest values of counters, and the last steps, that flight recorders hold, of the programs whose names the operator has listed (the setting
 * recorder_metrics). Their servers are asked at each scrape; of the others nobody is asked.
 */
#ifndef DAEMON_RECORDED_VALUES_H
#define DAEMON_RECORDED_VALUES_H

#include <stddef.h>
#include <sys/types.h>

struct program;
struct programs;

/*
 * How many programs are asked in one scrape, by pid; and how many counters, and steps, are taken of
 * all of them together.
 */
#define RECORDED_MAX_PROGRAMS 32u
#define RECORDED_MAX_VALUES 1024u

struct recorded_value {
	pid_t pid;
	char *process; /* malloc'ed, as the next one */
	char *name; /* of the counter, or of the step */
	double value; /* of a counter; of a step its number */
	double step_s; /* of a step: how long it took */
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

/* Whether a program of that |name| is meant by |patterns|: a comma list, each with * and ? as a shell has them. */
int recorded_values_match(const char *patterns, const char *name);

/*
 * Asks those of |v| (|n|, by pid) that |patterns| mean and whose flight recorder runs, and waits |wait_ms| for all of them together. One that does not answer, or memory that ran
 * out, is missing values. Any thread but the loop's.
 */
void recorded_values_ask(struct recorded_values *r, struct programs *programs,
	const struct program *v, size_t n, const char *patterns, int wait_ms);
void recorded_values_deinit(struct recorded_values *r);

#endif
