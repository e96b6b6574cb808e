/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of the host daemon; see host.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "daemon/host/host.h"
#include "daemon/host/settings.h"

#define CONFIG "/etc/proftap/proftapd.conf"

struct arguments {
	const char *config; /* NULL: CONFIG, if it is there */
	int is_print;
	struct settings settings;
};

void host_print_help(FILE *out)
{
	fputs("  --config FILE   settings; without it " CONFIG ", if it is there\n"
	      "  --print-config  print the settings, with what they mean, and end\n",
		out);
	for (size_t i = 0; i < n_settings; i++)
		fprintf(out,
			"  --%s VALUE\n                  %s\n                  (%s; default \"%s\")\n",
			settings_table[i].key, settings_table[i].help, settings_table[i].form,
			settings_table[i].default_text);
}

/* The file is read before the words, whose settings go before it. */
static int load(struct arguments *a, struct diag *d)
{
	if (!a->config && access(CONFIG, F_OK))
		return 0;
	return settings_load(&a->settings, a->config ? a->config : CONFIG, d);
}

static int need_value(char **argv, struct diag *d)
{
	return argv[1] ? 0 : diag_set(d, -EINVAL, "%.64s: needs a value", argv[0]);
}

/* One pass for the file's name and flags, one for the settings. */
static int walk(struct arguments *a, char **argv, int is_second, struct diag *d)
{
	int r = 0;

	for (; !r && *argv; argv++) {
		if (strcmp(*argv, "--print-config") == 0) {
			a->is_print = 1;
			continue;
		}
		if (strncmp(*argv, "--", 2) != 0)
			return diag_set(d, -EINVAL, "%.64s: not an option", *argv);
		r = need_value(argv, d);
		if (!r && strcmp(*argv, "--config") == 0)
			a->config = argv[1];
		else if (!r && is_second)
			r = settings_set(&a->settings, *argv + 2, argv[1], d);
		argv++;
	}
	return r;
}

int host_main(int argc, char **argv)
{
	struct arguments a = {.config = NULL};
	struct diag d = DIAG_INIT;
	int r;

	(void)argc;
	settings_init(&a.settings);
	r = walk(&a, argv + 2, 0, &d);
	if (!r)
		r = load(&a, &d);
	if (!r)
		r = walk(&a, argv + 2, 1, &d);
	if (r) {
		fprintf(stderr, "proftapd: %s\n", d.text);
		return r == -EINVAL ? 2 : 1;
	}
	if (!a.is_print)
		return host_run(&a.settings);
	settings_print(&a.settings, stdout);
	return 0;
}
