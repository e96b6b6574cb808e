/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of the host daemon; see invocation.h. */
#include "daemon/host/invocation.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "daemon/host/settings.h"

static int is_flag(const char *word)
{
	return strcmp(word, "--print-config") == 0;
}

int invocation_parse(struct invocation *i, char *const *argv, struct diag *d)
{
	*i = (struct invocation){.words = argv};
	for (; *argv; argv++) {
		if (is_flag(*argv)) {
			i->is_print = 1;
			continue;
		}
		if (strncmp(*argv, "--", 2) != 0)
			return diag_set(d, -EINVAL, "%.64s: not an option", *argv);
		if (!argv[1])
			return diag_set(d, -EINVAL, "%.64s: needs a value", *argv);
		if (strcmp(*argv, "--config") == 0)
			i->config = argv[1];
		argv++;
	}
	return 0;
}

static int read_file(const struct invocation *i, struct settings *s, struct diag *d)
{
	if (!i->config && access(INVOCATION_CONFIG, F_OK))
		return 0;
	return settings_load(s, i->config ? i->config : INVOCATION_CONFIG, d);
}

static int read_words(const struct invocation *i, struct settings *s, struct diag *d)
{
	int r = 0;

	for (char *const *word = i->words; !r && *word; word++) {
		if (is_flag(*word))
			continue;
		if (strcmp(*word, "--config") != 0)
			r = settings_set(s, *word + 2, word[1], d);
		word++;
	}
	return r;
}

int invocation_read(const struct invocation *i, struct settings *out, struct diag *d)
{
	struct settings s;
	int r;

	settings_init(&s);
	r = read_file(i, &s, d);
	if (!r)
		r = read_words(i, &s, d);
	if (!r)
		*out = s;
	return r;
}
