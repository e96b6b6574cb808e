/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of trace_processor; see processor_command.h. */
#include "client/view/processor_command.h"

#include <stdbool.h>

#include "client/process/terminal.h"

#define FILE_NAME "FILE.pftrace"

static void write_option(const struct processor_option *o, FILE *out)
{
	fprintf(out, " --%s", o->name);
	if (!o->value)
		return;
	putc('=', out);
	terminal_write_word(o->value, out);
}

/* An operand that looks like an option comes behind the end of options. */
static bool is_end_needed(const struct processor_command *c)
{
	for (size_t i = 0; i < c->n_places; i++)
		if (c->places[i][0] == '-')
			return true;
	return false;
}

void processor_command_write(const struct processor_command *c, FILE *out)
{
	fputs("  proftap convert -t perfetto -o " FILE_NAME, out);
	for (size_t i = 0; i < c->n_options; i++)
		write_option(&c->options[i], out);
	fputs(is_end_needed(c) ? " --" : "", out);
	for (size_t i = 0; i < c->n_places; i++) {
		putc(' ', out);
		terminal_write_word(c->places[i], out);
	}
	fputs(" && trace_processor server http " FILE_NAME "\n", out);
}
