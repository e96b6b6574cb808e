/* SPDX-License-Identifier: Apache-2.0 */
/* What a person meets of the host daemon: its options, and its exit status; see host.h. */
#include <errno.h>
#include <stdio.h>

#include "base/diag.h"
#include "daemon/host/host.h"
#include "daemon/host/invocation.h"
#include "daemon/host/settings.h"

void host_print_help(FILE *out)
{
	fputs("  --config FILE   settings; without it " INVOCATION_CONFIG ", if it is there\n"
	      "  --print-config  print the settings, with what they mean, and end\n",
		out);
	for (size_t i = 0; i < n_settings; i++)
		fprintf(out,
			"  --%s VALUE\n                  %s\n                  (%s; default \"%s\")\n",
			settings_table[i].key, settings_table[i].help, settings_table[i].form,
			settings_table[i].default_text);
}

int host_main(int argc, char **argv)
{
	struct invocation invocation;
	struct settings settings;
	struct diag d = DIAG_INIT;
	int r;

	(void)argc;
	r = invocation_parse(&invocation, argv + 2, &d);
	if (!r)
		r = invocation_read(&invocation, &settings, &d);
	if (r) {
		fprintf(stderr, "proftapd: %s\n", d.text);
		return r == -EINVAL ? 2 : 1;
	}
	if (!invocation.is_print)
		return host_run(&invocation, &settings);
	settings_print(&settings, stdout);
	return 0;
}
