/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the share of the time in spans of a name in which their threads used a processor; the
 * rest is waiting.
 *
 * A trace has the processor time of each thread ten times a second ("thread cpu % NAME (TID)").
 * Each interval between two samples is one equation: the self time that the thread spent in spans
 * of each name, times the unknown share of that name, adds up to the thread's processor time. All
 * threads and intervals together are a least-squares problem with shares from 0 to 1. Time in slow
 * units (slow.h) has shares of its own. The error is computed from how well the shares explain the
 * intervals; names that always occur in the same proportion cannot be separated, and have a large
 * error.
 *
 * If recorded thread states replace the estimate one day, callers still get a share and its error.
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

/*
 * Reads the samples of |g|'s view. 0, or a negative errno with |d|. The caller owns *out; it is
 * NULL if there are none.
 */
int cpu_shares_new(const struct digest *g, struct cpu_shares **out, struct diag *d);
struct cpu_shares *cpu_shares_free(struct cpu_shares *c); /* NULL ok; returns NULL */

/*
 * Begins a thread, to which the next calls of cpu_shares_spend() belong. False: its processor time
 * is not known.
 */
bool cpu_shares_begin(struct cpu_shares *c, const struct view_track *track);
/*
 * Adds self time of a span of |name| on the thread (ROW_OUTERMOST: outside of all spans). Times
 * must come in their order.
 */
void cpu_shares_spend(
	struct cpu_shares *c, uint32_t name, bool is_slow, int64_t start_ns, int64_t end_ns);
void cpu_shares_end(struct cpu_shares *c); /* ends the thread */
/* Computes the shares, after all times were added. */
void cpu_shares_solve(struct cpu_shares *c);

/* Self time of a name, in slow units or elsewhere. */
struct cpu_part {
	uint32_t name;
	bool is_slow;
	double ns;
};

/*
 * Finds the processor time of all parts together, and its error (2 sigma); false if it is not
 * known.
 */
bool cpu_shares_find(const struct cpu_shares *c, const struct cpu_part *parts, size_t n, double *ns,
	double *error_ns);
/* Finds the share and its error for all spans of a name, slow or not; false if it is not known. */
bool cpu_shares_get(const struct cpu_shares *c, uint32_t name, double *share, double *error);
/* True if spans of this name certainly wait three quarters of their time or more. */
bool cpu_shares_is_wait(const struct cpu_shares *c, uint32_t name);

#endif
