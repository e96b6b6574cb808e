/* SPDX-License-Identifier: Apache-2.0 */
/* Capture options: lookup, ranges, and values; see options.h. */
#include "base/options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "base/nearest.h"

/* --- Options without effect ------------------------------------------------------------------ */

/* Keys, and beginnings of keys, that are accepted and have no effect. */
static const struct {
	const char *key;
	bool is_prefix;
	bool is_of_true; /* "false" needs no note: it is the behaviour without the key, too */
	const char *words; /* the text after the key */
} idle[] = {
	{"ptap_target", false, false,
		"ignored: a host daemon takes it from stock clients; proftap has --target"},
	{"gpu_aggregated_tracing", false, true, "ignored: events are recorded one by one"},
	{"gpu_enable_nvtx_tracking", false, true,
		"without effect here: NVTX's ranges are spans without it, under proftap run"},
	{"gpu_dump_graph_node_mapping", false, true,
		"without effect today: nodes of graphs always know where they were made"},
	{"gpu_range_profiling_counters", false, false,
		"ignored: kernels are not run again for metrics; gpu_pm_sample_counters samples them"},
	{"gpu_range_profiling_allow_multipass", false, true,
		"ignored: kernels are not run again for metrics"},
	{"tpu_", true, false, "ignored: this machine has no TPU"},
	{"tracemark_", true, false, "ignored: this machine has no TPU"},
	{"enable_continuous_profiling", false, true,
		"without effect: the call says whether a session is continuous, see proftap start"},
	{"override_hostnames", false, false,
		"ignored: clients take it apart and send override_hostname"},
};

/* Ranges of numbers: those outside count as the nearest bound. */
static const struct {
	const char *key;
	bool keeps_zero; /* 0 means none, and stays */
	int64_t min;
	int64_t max;
} clamped[] = {
	{"gpu_pm_sample_interval_us", false, 1, INT64_C(86400000000)},
	{"gpu_pm_sample_buffer_size_per_gpu_mb", false, 64, 4096},
	{"ptap_gpu_usage_interval_ms", true, 10, 100},
	{"ptap_usage_interval_ms", true, 10, 60000},
};

/* Returns the row of idle[] for |key|, or -1. */
static int idle_find(const char *key)
{
	for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
		if (strncmp(key, idle[i].key, strlen(idle[i].key) + !idle[i].is_prefix) == 0)
			return (int)i;
	return -1;
}

static int idle_note(const struct option *o, int64_t number, struct diag *d)
{
	int i = idle_find(o->key);

	if (i < 0 || (!number && idle[i].is_of_true))
		return 0;
	return diag_set(d, OPTION_NOTED, "%s: %s", o->key, idle[i].words);
}

bool option_is_for_other_servers(const char *key)
{
	return idle_find(key) >= 0 && strncmp(key, "ptap_", 5) != 0;
}

static int clamped_note(const struct option *o, int64_t *number, struct diag *d)
{
	for (size_t i = 0; i < sizeof clamped / sizeof clamped[0]; i++) {
		int64_t said = *number;

		if (strcmp(o->key, clamped[i].key) != 0 || (clamped[i].keeps_zero && !said))
			continue;
		if (said < clamped[i].min)
			*number = clamped[i].min;
		if (said > clamped[i].max)
			*number = clamped[i].max;
		if (*number != said)
			return diag_set(d, OPTION_NOTED,
				"%s: %" PRId64 " counts as %" PRId64 ": it is %" PRId64
				" to %" PRId64 " %s",
				o->key, said, *number, clamped[i].min, clamped[i].max, o->unit);
	}
	return 0;
}

int option_note(const struct option *o, int64_t *number, struct diag *d)
{
	int r = idle_note(o, *number, d);

	return r ? r : clamped_note(o, number, d);
}

/* --- Keys and ranges ------------------------------------------------------------------------- */

/* Room for the text of option_describe_range(). */
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

/* Returns the prefix of |key| that is reserved for known keys; "" when it has none. */
static const char *key_reserved_prefix(const char *key)
{
	static const char *const prefixes[] = {"ptap_", "gpu_", "tpu_"};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (has_prefix(key, prefixes[i]))
			return prefixes[i];
	return "";
}

bool option_is_reserved(const char *key)
{
	return *key_reserved_prefix(key) != '\0';
}

/* Searches among the keys with |prefix|, which may be "", and one of |uses|. */
static const char *option_find_nearest_of(const char *key, const char *prefix, unsigned uses)
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

/* Searches only among the keys with the same prefix, if |key| has one. */
const char *option_find_nearest(const char *key)
{
	return option_find_nearest_of(key, key_reserved_prefix(key), UINT_MAX);
}

/* Describes the possible values, e.g. "0 to 3", "true or false". */
static const char *option_describe_range(const struct option *o, char *text, size_t n)
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
		option_describe_range(o, range, sizeof range),
		o->type == OPTION_INT && o->max == INT64_MAX ? ", a whole number below 2^63" : "");
}

static int option_name_nearest(
	const char *key, const char *value, const char *nearest, struct diag *d)
{
	char range[OPTION_RANGE_BYTES];

	return diag_set(d, -EINVAL,
		"%.64s: no such option (value \"%.64s\"); the nearest known one is %s (%s)", key,
		value, nearest, option_describe_range(option_find(nearest), range, sizeof range));
}

int option_unknown(const char *key, const char *value, struct diag *d)
{
	return option_name_nearest(key, value, option_find_nearest(key), d);
}

int option_unknown_of_recorder(const char *key, const char *value, struct diag *d)
{
	return option_name_nearest(
		key, value, option_find_nearest_of(key, "", OPTION_OF_RECORDER), d);
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
			option_describe_range(o, range, sizeof range),
			o->default_text ? "; default " : "",
			o->default_text ? o->default_text : "");
	}
}

/* --- Values ---------------------------------------------------------------------------------- */

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

	/* Refuse leading white space, which strtoll() would accept. */
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

/* JAX's CUPTI tracer and libtpu check the type of these keys. */
static bool key_has_strict_type(const char *key)
{
	return strncmp(key, "gpu_", 4) == 0 || strncmp(key, "tpu_", 4) == 0 ||
	       strncmp(key, "tracemark_", 10) == 0;
}

int option_check_type(
	const struct option *o, enum option_type given, const char *value, struct diag *d)
{
	bool is_convertible =
		o->type != OPTION_STRING && (given == OPTION_STRING || o->type == OPTION_BOOL);

	if (given == o->type || (is_convertible && !key_has_strict_type(o->key)))
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
