/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up CPU samples: by function, and by the spans that were open on the sampled thread. A
 * function counts once in a sample's total, however often it is in the stack.
 */
#ifndef TRACE_REPORT_FUNCTIONS_H
#define TRACE_REPORT_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/report/name_map.h"

struct diag;
struct digest;

struct function_row {
	uint32_t function; /* index into the texts of the view's stacks */
	uint64_t n_self; /* samples in which it was innermost */
	uint64_t n_total; /* samples whose stack has it */
};

/* The samples that were taken while spans of a name were open, in spans inside of them, too. */
struct span_functions {
	uint32_t name; /* index into the view's names */
	uint64_t n_samples;
	struct function_row *v; /* innermost functions; n_total is 0 */
	size_t n;
	size_t n_allocated;
	struct name_map places; /* from functions to |v| */
};

struct functions {
	uint64_t n_samples;
	int64_t period_ns; /* processor time of a sample; 0: unknown, or files differ */
	struct function_row *v; /* most self samples first */
	size_t n;
	size_t n_allocated;
	struct name_map places; /* from functions to |v|, until they are sorted */
	struct span_functions *spans; /* most samples first */
	size_t n_spans;
	size_t n_spans_allocated;
	struct name_map span_places; /* from names to |spans|, until they are sorted */
};

/* Reads the samples of the digest's view and time. 0 or a negative errno with |d|. */
int functions_make(const struct digest *g, struct functions *out, struct diag *d);
void functions_deinit(struct functions *f); /* all zero is empty */

#endif
