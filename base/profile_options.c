/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the options of a capture; see profile_options.h. */
#include "base/profile_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "base/options.h"

/* A key at this distance from a known one counts as mistyped. */
#define TYPO_DISTANCE 2u

void profile_options_init(struct profile_options *o)
{
	*o = (struct profile_options){.host_tracer_level = 2, .device_tracer_level = 1};
}

static void value_deinit(struct option_value *v)
{
	free(v->key);
	free(v->text);
}

void profile_options_deinit(struct profile_options *o)
{
	for (size_t i = 0; i < o->n_map; i++)
		value_deinit(&o->map[i]);
	free(o->map);
	profile_options_init(o);
}

/*
 * The session id becomes a part of file paths and of requests of stock servers: it may have only
 * the letters that these allow.
 */
static int session_id_set(
	struct profile_options *o, const struct option *row, const char *text, struct diag *d)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t n = strlen(text);

	if (n >= sizeof o->session_id || text[strspn(text, letters)])
		return diag_set(d, -EINVAL,
			"%s: bad value \"%.64s\": must be at most %zu letters, digits, _ or -",
			row->key, text, sizeof o->session_id - 1);
	memcpy(o->session_id, text, n + 1);
	return 0;
}

static int field_set(
	struct profile_options *o, const struct option *row, const char *text, struct diag *d)
{
	const struct {
		const char *key;
		uint32_t *u32;
		uint64_t *u64;
	} fields[] = {
		{"host_tracer_level", &o->host_tracer_level, NULL},
		{"device_tracer_level", &o->device_tracer_level, NULL},
		{"python_tracer_level", &o->python_tracer_level, NULL},
		{"duration_ms", NULL, &o->duration_ms},
		{"delay_ms", NULL, &o->delay_ms},
		{"start_timestamp_ns", NULL, &o->start_timestamp_ns},
	};
	int64_t number;
	int r;

	if (row->type == OPTION_STRING)
		return session_id_set(o, row, text, d);
	r = option_parse_number(row, text, &number, d);
	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		if (strcmp(fields[i].key, row->key) != 0)
			continue;
		if (fields[i].u32)
			*fields[i].u32 = (uint32_t)number;
		else
			*fields[i].u64 = (uint64_t)number;
	}
	return 0;
}

struct option_value *profile_options_find(const struct profile_options *o, const char *key)
{
	for (size_t i = 0; i < o->n_map; i++)
		if (strcmp(o->map[i].key, key) == 0)
			return &o->map[i];
	return NULL;
}

/*
 * Returns the entry of |key| in the map: the existing one, or a new one at the end. NULL: out of
 * memory.
 */
static struct option_value *map_place(struct profile_options *o, const char *key)
{
	struct option_value *v = profile_options_find(o, key);

	if (v)
		return v;
	if (grow(&o->map, &o->n_map_allocated, o->n_map + 1))
		return NULL;
	v = &o->map[o->n_map];
	*v = (struct option_value){.key = strdup(key)};
	if (!v->key)
		return NULL;
	o->n_map++;
	return v;
}

static int map_store(struct profile_options *o, const struct option *row, const char *key,
	enum option_type type, int64_t number, const char *text)
{
	char *copy = type == OPTION_STRING ? strdup(text) : NULL;
	struct option_value *v;

	if (type == OPTION_STRING && !copy)
		return -ENOMEM;
	v = map_place(o, key);
	if (!v) {
		free(copy);
		return -ENOMEM;
	}
	free(v->text);
	v->option = row;
	v->type = type;
	v->number = number;
	v->text = copy;
	return 0;
}

/* Returns true if the key is for proftap's servers. Two of proftap's keys are for host daemons. */
static bool key_is_of_our_servers(const char *key)
{
	return strncmp(key, "ptap_", 5) == 0 && strcmp(key, "ptap_target") != 0 &&
	       strcmp(key, "ptap_machine_usage") != 0;
}

int profile_options_note_ours(const struct profile_options *o, struct diag *d)
{
	char keys[384] = "";
	size_t n = 0;

	for (size_t i = 0; i < o->n_map && n < sizeof keys; i++)
		if (key_is_of_our_servers(o->map[i].key))
			n += (size_t)snprintf(keys + n, sizeof keys - n, "%s%s%s", n ? ", " : "",
				o->map[i].key,
				strcmp(o->map[i].key, "ptap_max_capture_bytes") == 0
					? " (--max_bytes)"
					: "");
	if (!n)
		return 0;
	return diag_set(d, OPTION_NOTED,
		"%.383s: without effect: this server is not one of proftap's", keys);
}

const char *profile_options_get_text(const struct profile_options *o, const char *key)
{
	const struct option_value *value = profile_options_find(o, key);

	return value ? value->text : NULL;
}

int64_t profile_options_get_number(
	const struct profile_options *o, const char *key, int64_t otherwise)
{
	const struct option_value *value = profile_options_find(o, key);

	return value ? value->number : otherwise;
}

/* Returns a value as text, for messages and for the conversion to the row's own type. */
static const char *value_text(
	enum option_type type, int64_t number, const char *text, char *buffer, size_t n)
{
	if (type == OPTION_STRING)
		return text ? text : "";
	snprintf(buffer, n, "%" PRId64, number);
	return buffer;
}

static int map_store_known(
	struct profile_options *o, const struct option *row, const char *text, struct diag *d)
{
	int64_t number = 0;
	int note;
	int r = 0;

	if (row->type != OPTION_STRING)
		r = option_parse_number(row, text, &number, d);
	else if (row->check && row->check(text))
		r = option_bad_value(row, text, d);
	if (r < 0)
		return r;
	note = option_note(row, &number, d);
	r = map_store(o, row, row->key, row->type, number, text);
	return r < 0 ? r : note;
}

/* The key is usually for another profiler, or one of ours that was mistyped. */
static int map_ignore_unknown(const char *key, struct diag *d)
{
	const char *nearest = option_find_nearest(key);
	bool is_near = nearest && nearest_distance(key, nearest) <= TYPO_DISTANCE;

	return diag_set(d, OPTION_NOTED,
		"%.64s: not an option of proftap; only collectors of devices get it%s%s", key,
		is_near ? "; the nearest is " : "", is_near ? nearest : "");
}

static int map_store_unknown(struct profile_options *o, const char *key, enum option_type type,
	int64_t number, const char *text, struct diag *d)
{
	char buffer[32];
	int r;

	if (option_is_reserved(key))
		return option_unknown(
			key, value_text(type, number, text, buffer, sizeof buffer), d);
	r = map_store(o, NULL, key, type, number, text ? text : "");
	return r < 0 ? r : map_ignore_unknown(key, d);
}

int profile_options_set_map(struct profile_options *o, const char *key, enum option_type type,
	int64_t number, const char *text, struct diag *d)
{
	const struct option *row = option_find(key);
	const char *value;
	char buffer[32];
	int r;

	if (!row)
		return map_store_unknown(o, key, type, number, text, d);
	if (row->place == OPTION_FIELD)
		return diag_set(d, OPTION_NOTED,
			"%s: ignored: a field of ProfileOptions, not a key of its map", key);
	value = value_text(type, number, text, buffer, sizeof buffer);
	r = option_check_type(row, type, value, d);
	return r ? r : map_store_known(o, row, value, d);
}

int profile_options_parse(struct profile_options *o, const char *key_value, struct diag *d)
{
	const char *equals = strchr(key_value, '=');
	const struct option *row;
	int64_t number = 0;
	enum option_type type;
	char key[128];

	if (!equals || equals == key_value || (size_t)(equals - key_value) >= sizeof key)
		return diag_set(d, -EINVAL, "%.64s: not of the form key=value", key_value);
	memcpy(key, key_value, (size_t)(equals - key_value));
	key[equals - key_value] = '\0';
	row = option_find(key);
	if (row && row->place == OPTION_FIELD)
		return field_set(o, row, equals + 1, d);
	if (row)
		return map_store_known(o, row, equals + 1, d);
	type = option_guess_type(equals + 1, &number);
	return map_store_unknown(o, key, type, number, equals + 1, d);
}

int profile_options_check_recorder(const struct profile_options *o, struct diag *d)
{
	const struct {
		const char *key;
		bool is_set;
	} fields[] = {
		{"python_tracer_level", o->python_tracer_level != 0},
		{"duration_ms", o->duration_ms != 0},
		{"delay_ms", o->delay_ms != 0},
		{"start_timestamp_ns", o->start_timestamp_ns != 0},
		{"session_id", o->session_id[0] != '\0'},
	};
	char buffer[32];
	int r = 0;

	if (!o->host_tracer_level)
		r = diag_set(d, -EINVAL,
			"host_tracer_level: 0 records nothing; a flight recorder needs 1 to 3");
	for (size_t i = 0; i < sizeof fields / sizeof fields[0] && !r; i++)
		if (fields[i].is_set)
			r = option_check_recorder(fields[i].key, d);
	for (size_t i = 0; i < o->n_map && !r; i++) {
		const struct option_value *v = &o->map[i];

		if (v->option)
			r = option_check_recorder(v->key, d);
		else
			r = option_unknown_of_recorder(v->key,
				value_text(v->type, v->number, v->text, buffer, sizeof buffer), d);
	}
	return r;
}

int profile_options_check_recording(const struct profile_options *o, struct diag *d)
{
	for (size_t i = 0; i < o->n_map; i++)
		if (o->map[i].option && o->map[i].option->uses == OPTION_OF_RECORDER)
			return diag_set(d, -EINVAL,
				"%s: an option of a flight recorder only: proftap start --recorder",
				o->map[i].key);
	return 0;
}
