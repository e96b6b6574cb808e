/* SPDX-License-Identifier: Apache-2.0 */
/* Capture options: finding them, and what their values may be; see options.h. */
#include "base/options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/diag.h"
#include "base/nearest.h"

/* As describe_range() says it. */
#define OPTION_RANGE_BYTES 128

const struct option *option_find(const char *key)
{
	for (size_t i = 0; i < n_options; i++)
		if (strcmp(key, options_table[i].key) == 0)
			return &options_table[i];
	return NULL;
}

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The prefix of |key| that only known keys may have; "" when it has none. */
static const char *reserved_prefix(const char *key)
{
	static const char *const prefixes[] = {"ptap_", "gpu_", "tpu_"};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (has_prefix(key, prefixes[i]))
			return prefixes[i];
	return "";
}

int option_is_reserved(const char *key)
{
	return *reserved_prefix(key) != '\0';
}

/* Among the keys with |prefix|, which may be "", and one of |uses|. */
static const char *find_nearest(const char *key, const char *prefix, unsigned uses)
{
	const char *best = NULL;
	unsigned int best_distance = 0;

	for (size_t i = 0; i < n_options; i++) {
		unsigned int distance = nearest_distance(key, options_table[i].key);

		if (!has_prefix(options_table[i].key, prefix) || !(options_table[i].uses & uses))
			continue;
		if (!best || distance < best_distance) {
			best_distance = distance;
			best = options_table[i].key;
		}
	}
	return best;
}

/* Among the keys of its own kind, when it has a prefix. */
const char *option_find_nearest(const char *key)
{
	return find_nearest(key, reserved_prefix(key), UINT_MAX);
}

/* What a value may be, e.g. "0 to 3", "true or false". */
static const char *describe_range(const struct option *o, char *text, size_t n)
{
	const char *unit = o->unit ? o->unit : "";
	const char *space = o->unit ? " " : "";

	if (o->type == OPTION_BOOL)
		snprintf(text, n, "true or false");
	else if (o->type == OPTION_STRING)
		snprintf(text, n, "%s", o->unit ? o->unit : "text");
	else if (o->min == INT64_MIN && o->max == INT64_MAX)
		snprintf(text, n, "an integer");
	else if (o->max == INT64_MAX)
		snprintf(text, n, "at least %" PRId64 "%s%s", o->min, space, unit);
	else
		snprintf(text, n, "%" PRId64 " to %" PRId64 "%s%s", o->min, o->max, space, unit);
	return text;
}

int option_bad_value(const struct option *o, const char *value, struct diag *d)
{
	char range[OPTION_RANGE_BYTES];

	return diag_set(d, -EINVAL, "%s: bad value \"%.64s\": must be %s%s", o->key, value,
		describe_range(o, range, sizeof range),
		o->type == OPTION_INT && o->max == INT64_MAX ? ", a whole number below 2^63" : "");
}

static int name_nearest(const char *key, const char *value, const char *nearest, struct diag *d)
{
	char range[OPTION_RANGE_BYTES];

	return diag_set(d, -EINVAL,
		"%.64s: no such option (value \"%.64s\"); the nearest known one is %s (%s)", key,
		value, nearest, describe_range(option_find(nearest), range, sizeof range));
}

int option_unknown(const char *key, const char *value, struct diag *d)
{
	return name_nearest(key, value, option_find_nearest(key), d);
}

int option_unknown_of_recorder(const char *key, const char *value, struct diag *d)
{
	return name_nearest(key, value, find_nearest(key, "", OPTION_OF_RECORDER), d);
}

int option_check_recorder(const char *key, struct diag *d)
{
	const struct option *o = option_find(key);
	char keys[256];
	size_t n = 0;

	if (o && o->uses & OPTION_OF_RECORDER)
		return 0;
	for (size_t i = 0; i < n_options && n < sizeof keys; i++)
		if (options_table[i].uses & OPTION_OF_RECORDER)
			n += (size_t)snprintf(keys + n, sizeof keys - n, "%s%s", n ? ", " : "",
				options_table[i].key);
	return diag_set(
		d, -EINVAL, "%.64s: not an option of a flight recorder; it has %s", key, keys);
}

void options_print_help(enum option_use use, FILE *out)
{
	for (size_t i = 0; i < n_options; i++) {
		const struct option *o = &options_table[i];
		char range[OPTION_RANGE_BYTES];

		if (!(o->uses & use))
			continue;
		fprintf(out, "  %-38s %s (%s%s%s)\n", o->key, o->help,
			describe_range(o, range, sizeof range), o->default_text ? "; default " : "",
			o->default_text ? o->default_text : "");
	}
}
