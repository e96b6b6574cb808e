/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up the samples of threads: by function, and by the spans that were open on the thread.
 * Samples of threads that ran and of threads that waited are never added together. A function
 * counts once in a sample's total, however often it is in the stack.
 */
#ifndef TRACE_REPORT_FUNCTIONS_H
#define TRACE_REPORT_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/report/name_map.h"

struct diag;
struct digest;
struct stacks;

/* --- sums ------------------------------------------------------------------------------------- */

struct function_row {
	uint32_t function; /* index into the texts of the view's stacks */
	uint64_t n_self; /* samples in which it was innermost */
	uint64_t n_total; /* samples whose stack has it */
	int64_t self_ns; /* time of these samples */
	int64_t total_ns;
};

/* Functions that ran, or functions in which threads waited. All zero is empty. */
struct function_list {
	uint64_t n_samples;
	int64_t ns; /* processor time that the samples stand for, or waiting time */
	struct function_row *v; /* longest self time first */
	size_t n;
	size_t n_allocated;
	struct name_map places; /* from functions to |v|, until they are sorted */
};

/*
 * Sums up the samples that were taken while spans of a name were open, and in spans inside of
 * them.
 */
struct span_functions {
	uint32_t name; /* index into the view's names */
	/* Time of these spans in sampled processes; those inside of others of the name add none */
	int64_t wall_ns;
	/* The innermost functions alone: their totals are 0. */
	struct function_list ran;
	struct function_list waited;
};

struct functions {
	int64_t period_ns; /* processor time of a sample; 0: unknown, or files differ */
	struct function_list ran;
	struct function_list waited;
	struct span_functions *spans; /* those with samples, the longest time in samples first */
	size_t n_spans;
	size_t n_spans_allocated;
	struct name_map span_places; /* from names to |spans|, until they are sorted */
};

/* Reads the samples of the digest's view and time. 0 or a negative errno with |d|. */
int functions_make(const struct digest *g, struct functions *out, struct diag *d);
void functions_deinit(struct functions *f); /* all zero is empty */

/* --- functions of a stack --------------------------------------------------------------------- */

/* Finds the functions of stacks, each of them once in a stack. */
struct stack_functions {
	const struct stacks *stacks;
	uint64_t *seen; /* by function: number of the last stack that had it */
	uint64_t n_read; /* number of stacks */
	uint32_t *v; /* functions of the stack that was read last, the innermost first */
	size_t n;
};

/* 0 or -ENOMEM; call stack_functions_deinit() in any case. */
int stack_functions_init(struct stack_functions *s, const struct stacks *stacks);
void stack_functions_deinit(struct stack_functions *s);
/* |stack| is a number in |stacks|. */
void stack_functions_read(struct stack_functions *s, uint32_t stack);

#endif
