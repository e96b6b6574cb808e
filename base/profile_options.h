/* SPDX-License-Identifier: Apache-2.0 */
/* The options of one capture: values for rows of the table in options.h. */
#ifndef BASE_PROFILE_OPTIONS_H
#define BASE_PROFILE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/options.h"

struct diag;

/* A key of advanced_configuration with its value. */
struct option_value {
	const struct option
		*option; /* NULL for an unknown key without a reserved prefix, which is passed on */
	char *key;
	enum option_type type; /* the type of the given value */
	int64_t number; /* for OPTION_INT and OPTION_BOOL */
	char *text; /* for OPTION_STRING */
};

struct profile_options {
	uint32_t host_tracer_level; /* 0–3, default 2 */
	uint32_t device_tracer_level; /* 0–1, default 1 */
	uint32_t python_tracer_level; /* 0–1, default 0 */
	uint64_t duration_ms;
	uint64_t delay_ms; /* client only: becomes start_timestamp_ns */
	uint64_t start_timestamp_ns; /* Unix time; 0: now */
	char session_id[128]; /* "" : none */
	struct option_value *map; /* the keys of advanced_configuration */
	size_t n_map;
	size_t n_map_allocated;
};

/*
 * The longest duration that a client asks for, 73 years, far from any overflow when it becomes
 * nanoseconds. It stands for "until the end of the program". Then the end of the program causes no
 * warning.
 */
#define PROFILE_TO_THE_END_MS (INT64_MAX / 4000000)

void profile_options_init(struct profile_options *o); /* the defaults */
void profile_options_deinit(struct profile_options *o);

/*
 * Sets one option from `key=value` text. 0; -ENOMEM; OPTION_NOTED; or -EINVAL with |d| naming the
 * key, the value, the range and, for an unknown key, the nearest known one.
 */
int profile_options_parse(struct profile_options *o, const char *key_value, struct diag *d);

/*
 * Sets one key of advanced_configuration as received; |text| is used for OPTION_STRING, else
 * |number|. Errors as above: unknown keys that begin ptap_, gpu_ or tpu_ are -EINVAL; other unknown
 * keys are OPTION_NOTED, and passed on.
 */
int profile_options_set_map(struct profile_options *o, const char *key, enum option_type type,
	int64_t number, const char *text, struct diag *d);

/*
 * Checks that a flight recorder supports all options that were set. 0, or -EINVAL with |d|, which
 * names the first unsupported key, and the supported keys or the nearest one. host_tracer_level 0,
 * which records nothing, is not supported. A field with its default value, and
 * device_tracer_level, which clients always send, are accepted.
 */
int profile_options_check_recorder(const struct profile_options *o, struct diag *d);

/*
 * Does the same for a capture or a session: -EINVAL with |d| naming the first key that only a
 * flight recorder has.
 */
int profile_options_check_recording(const struct profile_options *o, struct diag *d);

/*
 * Finds the keys that were set and that only proftap's own servers know. OPTION_NOTED: there are
 * some, and |d| has a warning for people that names them. 0: there are none.
 */
int profile_options_note_ours(const struct profile_options *o, struct diag *d);

/* Finds a key of advanced_configuration; NULL when it was not set. Borrowed. */
struct option_value *profile_options_find(const struct profile_options *o, const char *key);
/* Returns the text of a key of advanced_configuration, or NULL when it was not set. Borrowed. */
const char *profile_options_get_text(const struct profile_options *o, const char *key);
/* Returns the number of a key of advanced_configuration, or |otherwise| when it was not set. */
int64_t profile_options_get_number(
	const struct profile_options *o, const char *key, int64_t otherwise);

#endif
