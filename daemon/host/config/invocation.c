/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of the host daemon; see invocation.h. */
#include "daemon/host/config/invocation.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/local_path.h"
#include "daemon/host/config/settings.h"

#define KEY_BYTES 64

/* "--KEY VALUE" or "--KEY=VALUE". */
struct option {
	char key[KEY_BYTES];
	const char *value; /* NULL: a flag */
};

static int is_flag(const struct option *o)
{
	return strcmp(o->key, "print-config") == 0;
}

/* How many of |words| the option is that they begin with, or -EINVAL with |d|. */
static int read_option(char *const *words, struct option *out, struct diag *d)
{
	const char *key = words[0] + 2;
	size_t n_key = strcspn(words[0], "=");

	if (strncmp(words[0], "--", 2) != 0 || n_key < 3)
		return diag_set(d, -EINVAL, "%.64s: not an option", words[0]);
	snprintf(out->key, sizeof out->key, "%.*s", (int)(n_key - 2), key);
	out->value = NULL;
	if (words[0][n_key])
		out->value = words[0] + n_key + 1;
	else if (!is_flag(out))
		out->value = words[1];
	if (is_flag(out) && out->value)
		return diag_set(d, -EINVAL, "--%s: takes no value", out->key);
	if (!is_flag(out) && !out->value)
		return diag_set(d, -EINVAL, "%.64s: needs a value", words[0]);
	return out->value && !words[0][n_key] ? 2 : 1;
}

int invocation_parse(struct invocation *i, char *const *argv, struct diag *d)
{
	struct option option;

	*i = (struct invocation){.words = argv};
	for (int n; *argv; argv += n) {
		n = read_option(argv, &option, d);
		if (n < 0)
			return n;
		if (is_flag(&option))
			i->is_print = 1;
		else if (strcmp(option.key, "config") == 0)
			i->config = option.value;
	}
	return 0;
}

static int read_file(const struct invocation *i, struct settings *s, struct diag *d)
{
	if (!i->config && access(INVOCATION_CONFIG, F_OK))
		return 0;
	return settings_load(s, i->config ? i->config : INVOCATION_CONFIG, d);
}

/* |path| as it is from the working directory on. */
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

static int set_word(struct settings *s, const struct option *o, struct diag *d)
{
	if (o->value[0] && o->value[0] != '/' && settings_is_path(o->key))
		return set_relative(s, o->key, o->value, d);
	return settings_set(s, o->key, o->value, d);
}

/* They have been parsed. */
static int read_words(const struct invocation *i, struct settings *s, struct diag *d)
{
	struct option option;
	int r = 0;

	for (char *const *word = i->words; !r && *word;) {
		int n = read_option(word, &option, d);

		if (n < 0)
			return n;
		if (!is_flag(&option) && strcmp(option.key, "config") != 0)
			r = set_word(s, &option, d);
		word += n;
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
