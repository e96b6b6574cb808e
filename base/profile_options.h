/* SPDX-License-Identifier: Apache-2.0 */
/* What one capture was asked for: values for rows of the table in options.h. */
#ifndef BASE_PROFILE_OPTIONS_H
#define BASE_PROFILE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/options.h"

struct diag;

/* A key of advanced_configuration that was set. */
struct option_value {
	const struct option
		*option; /* NULL for an unknown, unprefixed key that is passed through */
	char *key;
	enum option_type type; /* as given */
	int64_t number; /* OPTION_INT, OPTION_BOOL */
	char *text; /* OPTION_STRING */
};

struct profile_options {
	uint32_t host_tracer_level; /* 0–3, default 2 */
	uint32_t device_tracer_level; /* 0–1, default 1 */
	uint32_t python_tracer_level; /* 0–1, default 0 */
	uint64_t duration_ms;
	uint64_t delay_ms; /* client only: becomes start_timestamp_ns */
	uint64_t start_timestamp_ns; /* Unix time; 0: now */
	char session_id[128]; /* "" : none */
	struct option_value *map; /* advanced_configuration */
	size_t n_map;
	size_t n_map_allocated;
};

/*
 * The longest duration that a client asks for, 73 years, far from any overflow when it becomes
 * nanoseconds. It means: to the end of the program, which is then no surprise.
 */
#define PROFILE_TO_THE_END_MS (INT64_MAX / 4000000)

void profile_options_init(struct profile_options *o); /* the defaults */
void profile_options_deinit(struct profile_options *o);

/*
 * Sets one option from `key=value` text. 0; -ENOMEM; OPTION_NOTED; or -EINVAL with |d| naming the key, the value, the
 * range and, for an unknown key, the nearest known one.
 */
int profile_options_parse(struct profile_options *o, const char *key_value, struct diag *d);

/*
 * Sets one key of advanced_configuration as it came over the wire; |text| is used for
 * OPTION_STRING, else |number|. Errors as above: unknown keys that begin ptap_, gpu_ or tpu_ are
 * -EINVAL; other unknown keys are OPTION_NOTED, and passed through.
 */
int profile_options_set_map(struct profile_options *o, const char *key, enum option_type type,
	int64_t number, const char *text, struct diag *d);

/*
 * Whether a flight recorder can have all that was set. 0, or -EINVAL with |d| naming the first key that it does not have, and
 * those that it has or the nearest one, or the level 0 of the host, which records nothing. Not noticed are a field that was set to its default, and the level of devices, which
 * clients say in any case.
 */
int profile_options_check_recorder(const struct profile_options *o, struct diag *d);

/* The same of a capture or a session: -EINVAL with |d| naming the first key that only a flight recorder has. */
int profile_options_check_recording(const struct profile_options *o, struct diag *d);

/*
 * Finds the keys that were set and that only proftap's own servers know. OPTION_NOTED: there are
 * some, and |d| has a warning for people that names them. 0: there are none.
 */
int profile_options_note_ours(const struct profile_options *o, struct diag *d);

/* The text of a key of advanced_configuration, or NULL when it was not set. Borrowed. */
const char *profile_options_get_text(const struct profile_options *o, const char *key);
/* The number of a key of advanced_configuration, or |otherwise| when it was not set. */
int64_t profile_options_get_number(
	const struct profile_options *o, const char *key, int64_t otherwise);

#endif
