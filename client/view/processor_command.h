/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line for what is too large for a browser: it has Google's trace_processor, a program of this machine, hold the trace,
 * which the page of the Perfetto UI then only asks.
 */
#ifndef CLIENT_PROCESSOR_COMMAND_H
#define CLIENT_PROCESSOR_COMMAND_H

#include <stddef.h>
#include <stdio.h>

/* Of proftap convert, as it was given. */
struct processor_option {
	const char *name;
	const char *value; /* NULL: a flag */
};

struct processor_command {
	const struct processor_option *options;
	size_t n_options;
	char *const *places; /* operands */
	size_t n_places;
};

/* As a line of its own that a shell reads back. */
void processor_command_write(const struct processor_command *c, FILE *out);

#endif
