/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of the host daemon; see invocation.h. */
#include "daemon/host/config/invocation.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/local_path.h"
#include "daemon/host/config/settings.h"

/* The settings that arguments_parse() fills. */
struct invocation_reader {
	struct invocation invocation;
	struct settings *settings; /* NULL: their options are skipped */
};

static int read_file(const struct invocation *i, struct settings *s, struct diag *d)
{
	if (!i->config && access(INVOCATION_CONFIG, F_OK))
		return 0;
	return settings_load(s, i->config ? i->config : INVOCATION_CONFIG, d);
}

/* Sets |key| to |path|, which is relative to the working directory. */
static int set_relative(struct settings *s, const char *key, const char *path, struct diag *d)
{
	_cleanup_free_ char *dir = getcwd(NULL, 0);
	_cleanup_free_ char *whole = NULL;
	int r = local_path_check(key, path, d);

	if (r)
		return r;
	if (!dir)
		return diag_set(d, -errno, "%s: \"%.64s\": the working directory is not known: %s",
			key, path, errno_words(-errno));
	if (asprintf(&whole, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, path) < 0) {
		whole = NULL;
		return diag_set(d, -ENOMEM, "%s: out of memory", key);
	}
	return settings_set(s, key, whole, d);
}

static int set_key(void *reader, const char *key, const char *value, struct diag *d)
{
	struct settings *s = ((struct invocation_reader *)reader)->settings;

	if (!s)
		return 0;
	if (value[0] && value[0] != '/' && settings_is_path(key))
		return set_relative(s, key, value, d);
	return settings_set(s, key, value, d);
}

static const struct argument_option options[] = {
	{"config", 0, ARGUMENT_TEXT, offsetof(struct invocation_reader, invocation.config), 0, 0,
		NULL, "FILE", "settings"},
	{"print-config", 0, ARGUMENT_FLAG, offsetof(struct invocation_reader, invocation.is_print),
		0, 0, NULL, NULL, "print the settings"},
};
static const struct arguments arguments = {
	.options = options,
	.n_options = sizeof options / sizeof options[0],
	.set_key = set_key,
	.has_only_options = true,
};

static int read_options(int argc, char **argv, struct invocation_reader *reader, struct diag *d)
{
	int n_left;

	return arguments_parse(&arguments, argc, argv, reader, &n_left, d);
}

int invocation_parse(struct invocation *i, int argc, char **argv, struct diag *d)
{
	struct invocation_reader reader = {.invocation = {.argc = argc, .argv = argv}};
	int r = read_options(argc, argv, &reader, d);

	*i = reader.invocation;
	return r;
}

int invocation_read(const struct invocation *i, struct settings *out, struct diag *d)
{
	struct settings s;
	struct invocation_reader reader = {.settings = &s};
	int r;

	settings_init(&s);
	r = read_file(i, &s, d);
	if (!r)
		r = read_options(i->argc, i->argv, &reader, d);
	if (!r)
		*out = s;
	return r;
}
