/* SPDX-License-Identifier: Apache-2.0 */
/* The options and the exit status of the host daemon; see host.h. */
#include <errno.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/line_break.h"
#include "daemon/host/config/invocation.h"
#include "daemon/host/config/settings.h"
#include "daemon/host/host.h"

#define INDENT "                  "

static void print_setting(const struct setting *row, FILE *out)
{
	char form[160];

	snprintf(form, sizeof form, "(%s; default \"%s\")", row->form, row->default_text);
	fprintf(out, "  --%s VALUE\n", row->key);
	line_break_print(out, INDENT, row->help, SETTINGS_WIDTH);
	line_break_print(out, INDENT, form, SETTINGS_WIDTH);
}

void host_print_help(FILE *out)
{
	fputs("  --config FILE   read the settings from FILE instead of " INVOCATION_CONFIG "\n"
	      "  --print-config  print the settings, each with its meaning, and exit\n",
		out);
	for (size_t i = 0; i < n_settings; i++)
		print_setting(&settings_table[i], out);
	fputs("A relative path begins at the working directory.\n", out);
}

static int print_failure(int r, const struct diag *d)
{
	fprintf(stderr, "proftapd: %s\n", d->text);
	return r == -EINVAL ? 2 : 1;
}

int host_main(int argc, char **argv, int *status)
{
	struct invocation invocation;
	struct settings settings;
	struct diag d = DIAG_INIT;
	int r = invocation_parse(&invocation, argc, argv, &d);

	if (r > 0)
		return r;
	if (!r)
		r = invocation_read(&invocation, &settings, &d);
	if (r)
		*status = print_failure(r, &d);
	else if (!invocation.is_print)
		*status = host_run(&invocation, &settings);
	else
		settings_print(&settings, stdout);
	return 0;
}
