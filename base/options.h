/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of one capture: one table for the flags of `proftap capture`, `-o key=value`, the
 * fields of ProfileOptions and the keys of its advanced_configuration, on both ends of the wire.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct diag;

/* The minimum of ptap_max_capture_bytes: less has no room for two threads. */
#define OPTION_MIN_CAPTURE_BYTES (1 << 20)

enum option_type {
	OPTION_BOOL,
	OPTION_INT,
	OPTION_STRING,
};

/* An outcome of setting an option, besides 0 and negative ones. */
enum {
	/* the option has no effect, or another value: |d| holds a warning for people */
	OPTION_NOTED = 1,
};

enum option_place {
	OPTION_FIELD, /* a field of ProfileOptions */
	OPTION_MAP, /* a key of advanced_configuration */
};

/* The kinds of recordings that have an option. */
enum option_use {
	OPTION_OF_CAPTURE = 1, /* a capture of a given length */
	OPTION_OF_SESSION = 2, /* a continuous session */
	OPTION_OF_RECORDER = 4, /* the flight recorder */
};

/* One row. Numbers and bounds are in |unit|. */
struct option {
	const char *key;
	enum option_type type;
	enum option_place place;
	int64_t min; /* OPTION_INT only */
	int64_t max;
	const char *default_text; /* as printed by --help; NULL: there is none */
	const char *unit; /* "ms", "ns", … or NULL; for OPTION_STRING the form of the text */
	const char *help;
	unsigned uses; /* enum option_use */
	/* OPTION_STRING only: returns 0 for a valid text; NULL: any text is valid */
	int (*check)(const char *text);
};

extern const struct option options_table[];
extern const size_t n_options;

const struct option *option_find(const char *key); /* may return NULL */
/* Returns the known key with the most similar spelling, for "did you mean"; never NULL. */
const char *option_find_nearest(const char *key);

/* 0, or -EINVAL with |d| listing the keys of the flight recorder, when |key| is none of them. */
int option_check_recorder(const char *key, struct diag *d);

/* Whether |key| has a prefix that is reserved for known keys: ptap_, gpu_, tpu_. */
bool option_is_reserved(const char *key);

/* Parses the number in |text|, which must be in the range of |o|. 0, or -EINVAL with |d|. */
int option_parse_number(const struct option *o, const char *text, int64_t *out, struct diag *d);
/*
 * Returns OPTION_NOTED, with a warning for people in |d|, if a value within its range has no
 * effect, or counts as another value, which is in *number then; else 0.
 */
int option_note(const struct option *o, int64_t *number, struct diag *d);
/* Whether |key| has no effect in servers of proftap, but may have one in those of JAX. */
bool option_is_for_other_servers(const char *key);
/*
 * Returns -EINVAL with |d| when JAX's servers refuse |value|, of type |given|, for the key of |o|:
 * they take each of their device keys in its own type only. Keys of proftap also take a number or a
 * truth value written as text, and 0 and 1 as truth values.
 */
int option_check_type(
	const struct option *o, enum option_type given, const char *value, struct diag *d);
/* Guesses the type of a value that no row describes; a number or truth value is in *number then. */
enum option_type option_guess_type(const char *text, int64_t *number);

/*
 * Returns -EINVAL, and writes the key, the value, and the range of |o| or the nearest known key
 * into |d|.
 */
int option_bad_value(const struct option *o, const char *value, struct diag *d);
int option_unknown(const char *key, const char *value, struct diag *d);
/* The same with the nearest key of the flight recorder. */
int option_unknown_of_recorder(const char *key, const char *value, struct diag *d);

/* One line per row of |use|: key, type, range, default, help. */
void options_print_help(enum option_use use, FILE *out);

/* --- the nearest word ------------------------------------------------------------------------- */

/* The similarity of two words' spelling, for "did you mean". */

/*
 * Returns the number of letters to insert, delete, replace or swap with a neighbour to get from |a|
 * to |b|. '-' and '_' count as the same. Only the first 63 letters of each word count.
 */
unsigned int nearest_distance(const char *a, const char *b);

#endif
