/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of one capture: one table for the flags of `proftap capture`, `-o key=value`, the
 * fields of ProfileOptions and the keys of its advanced_configuration, on both ends of the wire.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct diag;

/* Of ptap_max_capture_bytes: less has no room for two threads. */
#define OPTION_MIN_CAPTURE_BYTES (1 << 20)

enum option_type {
	OPTION_BOOL,
	OPTION_INT,
	OPTION_STRING,
};

/* An outcome of setting an option, besides 0 and negative ones. */
enum {
	OPTION_NOTED = 1, /* it is not done as it was said: |d| holds a warning for people */
};

enum option_place {
	OPTION_FIELD, /* a field of ProfileOptions */
	OPTION_MAP, /* a key of advanced_configuration */
};

/* What is recorded with an option. */
enum option_use {
	OPTION_OF_CAPTURE = 1, /* of a known length */
	OPTION_OF_SESSION = 2, /* a continuous one */
	OPTION_OF_RECORDER = 4, /* the flight recorder */
};

/* One row. Numbers and bounds are in |unit|. */
struct option {
	const char *key;
	enum option_type type;
	enum option_place place;
	int64_t min; /* OPTION_INT only */
	int64_t max;
	const char *default_text; /* as printed by --help; NULL: none */
	const char *unit; /* "ms", "ns", … or NULL; of OPTION_STRING the form that it must have */
	const char *help;
	unsigned uses; /* enum option_use */
	int (*check)(const char *text); /* OPTION_STRING only: 0 for what it may be; NULL: any */
};

extern const struct option options_table[];
extern const size_t n_options;

const struct option *option_find(const char *key); /* may return NULL */
/* The known key that is spelled most alike, for "did you mean"; never NULL. */
const char *option_find_nearest(const char *key);

/* 0, or -EINVAL with |d| saying which keys there are, when |key| is none of the flight recorder's. */
int option_check_recorder(const char *key, struct diag *d);

/* Whether |key| begins as only known keys may: ptap_, gpu_, tpu_. */
int option_is_reserved(const char *key);

/* The number in |text|, which must be in the range of |o|. 0, or -EINVAL with |d|. */
int option_parse_number(const struct option *o, const char *text, int64_t *out, struct diag *d);
/*
 * Of a value that is in its range and is not done as it says, because it has no effect or counts as another, which is in *number then:
 * OPTION_NOTED, and |d| has a warning for people; else 0.
 */
int option_note(const struct option *o, int64_t *number, struct diag *d);
/* Whether |key| has no effect in servers of proftap, and may have one in those of JAX. */
int option_is_for_other_servers(const char *key);
/*
 * -EINVAL with |d| when JAX's servers refuse |value|, of type |given|, for the key of |o|: they take each of their device keys in
 * its own type only. Keys of proftap also take a number or a truth that is written as a text, and 0 and 1 as truths.
 */
int option_check_type(
	const struct option *o, enum option_type given, const char *value, struct diag *d);
/* The type of a value that no row describes, from its looks; a number or truth is in *number then. */
enum option_type option_guess_type(const char *text, int64_t *number);

/* -EINVAL, and |d| with the key, the value, and the range of |o| or of the nearest known key. */
int option_bad_value(const struct option *o, const char *value, struct diag *d);
int option_unknown(const char *key, const char *value, struct diag *d);
/* The same, and the nearest one is of the flight recorder's. */
int option_unknown_of_recorder(const char *key, const char *value, struct diag *d);

/* One line per row of |use|: key, type, range, default, help. */
void options_print_help(enum option_use use, FILE *out);

#endif
