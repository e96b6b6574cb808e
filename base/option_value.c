/* SPDX-License-Identifier: Apache-2.0 */
/* Options' values, out of text; see options.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "base/options.h"

static int parse_bool(const char *text, int64_t *out)
{
	static const char *const words[2][4] = {
		{"false", "0", "no", "off"},
		{"true", "1", "yes", "on"},
	};

	for (int value = 0; value < 2; value++) {
		for (int i = 0; i < 4; i++) {
			if (strcasecmp(text, words[value][i]) == 0) {
				*out = value;
				return 0;
			}
		}
	}
	return -EINVAL;
}

static int parse_int(const char *text, int64_t *out)
{
	char *end;

	/* No white space in front, as strtoll() would allow. */
	if (!(*text == '-' || (*text >= '0' && *text <= '9')))
		return -EINVAL;
	errno = 0;
	*out = strtoll(text, &end, 10);
	if (errno == ERANGE || *end || end == text)
		return -EINVAL;
	return 0;
}

int option_parse_number(const struct option *o, const char *text, int64_t *out, struct diag *d)
{
	int r = o->type == OPTION_BOOL ? parse_bool(text, out) : parse_int(text, out);

	if (r < 0 || *out < o->min || *out > o->max)
		return option_bad_value(o, text, d);
	return 0;
}

static const char *type_name(enum option_type type)
{
	static const char *const names[] = {
		[OPTION_BOOL] = "bool", [OPTION_INT] = "int64", [OPTION_STRING] = "string"};

	return names[type];
}

/* JAX's CUPTI tracer and libtpu look at the type of these. */
static int has_strict_type(const char *key)
{
	return strncmp(key, "gpu_", 4) == 0 || strncmp(key, "tpu_", 4) == 0 ||
	       strncmp(key, "tracemark_", 10) == 0;
}

int option_check_type(
	const struct option *o, enum option_type given, const char *value, struct diag *d)
{
	int is_convertible =
		o->type != OPTION_STRING && (given == OPTION_STRING || o->type == OPTION_BOOL);

	if (given == o->type || (is_convertible && !has_strict_type(o->key)))
		return 0;
	return diag_set(d, -EINVAL,
		"%s: wrong type of \"%.64s\": must be a value of type %s, not %s", o->key, value,
		type_name(o->type), type_name(given));
}

enum option_type option_guess_type(const char *text, int64_t *number)
{
	if (parse_int(text, number) == 0)
		return OPTION_INT;
	if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0) {
		parse_bool(text, number);
		return OPTION_BOOL;
	}
	return OPTION_STRING;
}
