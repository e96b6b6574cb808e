/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which share of the time in spans of a name their threads used a processor: the rest is waiting.
 *
 * A trace has the processor time of each thread ten times a second ("thread cpu % NAME (TID)"). Each interval between two of
 * these is one equation: the time that the thread spent in spans of each name by itself, times that name's unknown share, adds
 * up to its processor time. All threads and intervals together are a least-squares problem with shares from 0 to 1. Time
 * in slow units (slow.h) is told apart from that in others. The error comes from how well the shares found explain the
 * intervals; names that always occur in the same proportion cannot be told apart, and have a large one.
 *
 * Recorded thread states can take the place of the estimate: whoever asks gets a share and its error either way.
 */
#ifndef TRACE_REPORT_CPU_SHARES_H
#define TRACE_REPORT_CPU_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_shares;
struct diag;
struct digest;
struct view_track;

/* Reads the samples of |g|'s view. 0, or a negative errno with |d|; *out belongs to the caller, NULL: the trace has none. */
int cpu_shares_new(const struct digest *g, struct cpu_shares **out, struct diag *d);
struct cpu_shares *cpu_shares_free(struct cpu_shares *c); /* NULL ok; returns NULL */

/*
 * Begins with a thread: the times that follow are spent on it. false: its processor time is not
 * known.
 */
bool cpu_shares_begin(struct cpu_shares *c, const struct view_track *track);
/* The thread spent this time in spans of |name| by itself (ROW_OUTERMOST: in none); times come in their order. */
void cpu_shares_spend(
	struct cpu_shares *c, uint32_t name, bool is_slow, int64_t start_ns, int64_t end_ns);
void cpu_shares_end(struct cpu_shares *c); /* of the thread */
/* No more is spent: finds the shares. */
void cpu_shares_solve(struct cpu_shares *c);

/* Time of a name, in slow units or elsewhere. */
struct cpu_part {
	uint32_t name;
	bool is_slow;
	double ns;
};

/* Processor time of all parts together, and its error (2 sigma), which is at most their time; false: it is not known. */
bool cpu_shares_find(const struct cpu_shares *c, const struct cpu_part *parts, size_t n, double *ns,
	double *error_ns);
/* Of all of a name, slow or not: the share and its error; false: not known. */
bool cpu_shares_get(const struct cpu_shares *c, uint32_t name, double *share, double *error);
/* Whether it is known, by more than the error, that spans of this name wait most of their time (three quarters). */
bool cpu_shares_is_wait(const struct cpu_shares *c, uint32_t name);

#endif
