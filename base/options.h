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

/* The minimum of ptap_max_capture_bytes; a smaller capture has no room for two threads. */
#define OPTION_MIN_CAPTURE_BYTES (1 << 20)

enum option_type {
	OPTION_BOOL,
	OPTION_INT,
	OPTION_STRING,
};

/* The positive result of the functions that set an option. */
enum {
	/* the option has no effect or gets another value; |d| has a warning for the user */
	OPTION_NOTED = 1,
};

enum option_place {
	OPTION_FIELD, /* a field of ProfileOptions */
	OPTION_MAP, /* a key of advanced_configuration */
};

/* The kinds of recordings that an option applies to, as bits. */
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
	unsigned uses; /* bits of enum option_use */
	/* OPTION_STRING only: returns 0 for a valid text; NULL: any text is valid */
	int (*check)(const char *text);
};

extern const struct option options_table[];
extern const size_t n_options;

const struct option *option_find(const char *key); /* may return NULL */
/* Returns the known key with the most similar spelling, for "did you mean"; never NULL. */
const char *option_find_nearest(const char *key);

/*
 * Returns 0 if |key| is an option of the flight recorder; else -EINVAL, with all options of the
 * flight recorder listed in |d|.
 */
int option_check_recorder(const char *key, struct diag *d);

/* Returns true if |key| has a prefix that is reserved for known keys: ptap_, gpu_, tpu_. */
bool option_is_reserved(const char *key);

/*
 * Parses the number in |text|. Returns 0, or -EINVAL with |d| if it is no number or outside the
 * range of |o|.
 */
int option_parse_number(const struct option *o, const char *text, int64_t *out, struct diag *d);
/*
 * Returns OPTION_NOTED, with a warning for the user in |d|, if a value in its range has no effect
 * or is replaced by the nearest supported value, which is then in *number; else 0.
 */
int option_note(const struct option *o, int64_t *number, struct diag *d);
/* Returns true if |key| has no effect in servers of proftap, but may have one in those of JAX. */
bool option_is_for_other_servers(const char *key);
/*
 * Returns -EINVAL with |d| when |value|, of type |given|, does not fit the type of |o|. Device keys
 * must have exactly that type, because JAX's servers refuse any other. Keys of proftap also accept
 * a number or boolean that is written as text, and 0 and 1 as booleans.
 */
int option_check_type(
	const struct option *o, enum option_type given, const char *value, struct diag *d);
/* Guesses the type of an unknown key's value; stores a number or boolean in *number. */
enum option_type option_guess_type(const char *text, int64_t *number);

/*
 * Both return -EINVAL, and write the key and the value into |d|, with the range of |o| or, for an
 * unknown key, the nearest known one.
 */
int option_bad_value(const struct option *o, const char *value, struct diag *d);
int option_unknown(const char *key, const char *value, struct diag *d);
/* Does the same, but names the nearest option of the flight recorder. */
int option_unknown_of_recorder(const char *key, const char *value, struct diag *d);

/* Prints one line per option of |use|: key, help, range (or type), default. */
void options_print_help(enum option_use use, FILE *out);

/* --- the nearest word ------------------------------------------------------------------------- */

/* The similarity of two words' spelling, for "did you mean". */

/*
 * Returns the number of letters to insert, delete, replace or swap with a neighbour to get from |a|
 * to |b|. '-' and '_' count as the same. Only the first 63 letters of each word count.
 */
unsigned int nearest_distance(const char *a, const char *b);

#endif
