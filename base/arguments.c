/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of command lines; see arguments.h. */
#include "base/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/options.h"

/* A command line that is being parsed. */
struct parser {
	const struct arguments *arguments;
	int argc;
	char **argv;
	int next; /* index of the argument to read next */
	void *settings;
};

int argument_parse_int(const char *what, const char *text, long long min, long long max,
	long long *out, struct diag *d)
{
	const char *kind = min > 0 ? "a positive whole number" : "a whole number";
	char *end;
	bool is_number = *text == '-' || (*text >= '0' && *text <= '9');

	errno = 0;
	*out = strtoll(text, &end, 10);
	if (is_number && end != text && !*end && errno == 0 && *out >= min && *out <= max)
		return 0;
	if (max == INT64_MAX)
		return diag_set(d, -EINVAL, "%s: bad value \"%.64s\": must be %s, at least %lld",
			what, text, kind, min);
	return diag_set(d, -EINVAL, "%s: bad value \"%.64s\": must be %s, %lld to %lld", what, text,
		kind, min, max);
}

static char fold_dash(char letter)
{
	return letter == '-' ? '_' : letter;
}

bool argument_is_name(const char *typed, size_t n, const char *name)
{
	if (strlen(name) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (fold_dash(typed[i]) != fold_dash(name[i]))
			return false;
	return true;
}

static const struct argument_option *find_long(
	const struct arguments *a, const char *typed, size_t n)
{
	for (size_t i = 0; i < a->n_options; i++)
		if (argument_is_name(typed, n, a->options[i].name))
			return &a->options[i];
	return NULL;
}

static const struct argument_option *find_short(const struct arguments *a, char letter)
{
	for (size_t i = 0; i < a->n_options; i++)
		if (letter && a->options[i].letter == letter)
			return &a->options[i];
	return NULL;
}

const struct argument_option *arguments_find_option(
	const struct arguments *arguments, const char *word)
{
	if (word[0] != '-' || word[1] == '\0')
		return NULL;
	if (word[1] == '-')
		return find_long(arguments, word + 2, strlen(word + 2));
	return word[2] ? NULL : find_short(arguments, word[1]);
}

static const struct option *find_profile_option(
	const struct arguments *a, const char *typed, size_t n)
{
	if (!a->set_profile_option)
		return NULL;
	for (size_t i = 0; i < n_options; i++)
		if (argument_is_name(typed, n, options_table[i].key))
			return &options_table[i];
	return NULL;
}

static void keep_nearest_name(
	const char *typed, const char *name, const char **best, unsigned int *best_distance)
{
	unsigned int distance = nearest_distance(typed, name);

	if (distance < *best_distance) {
		*best = name;
		*best_distance = distance;
	}
}

static int fail_unknown(const struct arguments *a, const char *typed, size_t n, struct diag *d)
{
	char name[64];
	const char *best = "help";
	unsigned int best_distance;

	snprintf(name, sizeof name, "%.*s", (int)n, typed);
	best_distance = nearest_distance(name, best);
	keep_nearest_name(name, "version", &best, &best_distance);
	for (size_t i = 0; i < a->n_options; i++)
		if (a->options[i].kind != ARGUMENT_ANNOUNCED)
			keep_nearest_name(name, a->options[i].name, &best, &best_distance);
	for (size_t i = 0; a->set_profile_option && i < n_options; i++)
		if (options_table[i].uses & a->profile_use)
			keep_nearest_name(name, options_table[i].key, &best, &best_distance);
	return diag_set(
		d, -EINVAL, "--%.*s: unknown option; the nearest is --%s", (int)n, typed, best);
}

/*
 * Sets the member of an option whose kind is a number. |value| may be NULL for ARGUMENT_MAYBE_INT.
 */
static int set_number(
	const struct argument_option *o, const char *value, int64_t *member, struct diag *d)
{
	long long number;
	char what[64];
	int r;

	if (!value) {
		*member = o->max;
		return 0;
	}
	snprintf(what, sizeof what, "--%s", o->name);
	r = argument_parse_int(what, value, o->min, o->max, &number, d);
	if (r == 0)
		*member = number;
	return r;
}

static int set_member(
	const struct parser *p, const struct argument_option *o, const char *value, struct diag *d)
{
	char *member = (char *)p->settings + o->offset;

	switch (o->kind) {
	case ARGUMENT_FLAG:
		*(bool *)member = true;
		return 0;
	case ARGUMENT_TEXT:
		*(const char **)member = value;
		return 0;
	case ARGUMENT_CALL:
		return o->set(member, value, d);
	case ARGUMENT_ANNOUNCED:
		return diag_set(d, -EINVAL, "--%s: %s", o->name, o->help);
	case ARGUMENT_MAYBE_INT:
	case ARGUMENT_INT:
		return set_number(o, value, (int64_t *)member, d);
	}
	return -EINVAL;
}

static int apply_option(
	const struct parser *p, const struct argument_option *o, const char *value, struct diag *d)
{
	int r = set_member(p, o, value, d);

	if (r == 0 && p->arguments->note)
		r = p->arguments->note(p->settings, o, value, d);
	return r;
}

/*
 * Returns |attached|, the value behind '=', or else the next argument; NULL with |d| when there is
 * none.
 */
static const char *take_value(
	struct parser *p, const char *name, const char *attached, struct diag *d)
{
	if (attached)
		return attached;
	if (p->next < p->argc)
		return p->argv[p->next++];
	diag_set(d, -EINVAL, "%.64s: needs a value", name);
	return NULL;
}

/* Sets an option of base/options.h. A switch without a value means true. */
static int apply_profile_option(
	struct parser *p, const struct option *o, const char *attached, struct diag *d)
{
	const char *value = attached;
	char *key_value;
	int r;

	if (!value && o->type == OPTION_BOOL)
		value = "true";
	if (!value)
		value = take_value(p, o->key, NULL, d);
	if (!value)
		return -EINVAL;
	if (asprintf(&key_value, "%s=%s", o->key, value) < 0)
		return diag_set(d, -ENOMEM, "%s: out of memory", o->key);
	r = p->arguments->set_profile_option(p->settings, key_value, d);
	free(key_value);
	return r;
}

/* Sets an option "--KEY" that is in no table. */
static int apply_key(struct parser *p, const char *argument, const char *attached, struct diag *d)
{
	const char *value = take_value(p, argument, attached, d);
	char key[64];

	if (!value)
		return -EINVAL;
	snprintf(key, sizeof key, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
	return p->arguments->set_key(p->settings, key, value, d);
}

static int parse_long(struct parser *p, const char *argument, struct diag *d)
{
	const char *name = argument + 2;
	const char *equals = strchr(name, '=');
	size_t n = equals ? (size_t)(equals - name) : strlen(name);
	const char *value = equals ? equals + 1 : NULL;
	const struct argument_option *o = find_long(p->arguments, name, n);
	const struct option *key = find_profile_option(p->arguments, name, n);

	if (!o && key)
		return apply_profile_option(p, key, value, d);
	if (!o && p->arguments->set_key)
		return apply_key(p, argument, value, d);
	if (!o)
		return fail_unknown(p->arguments, name, n, d);
	if (o->kind == ARGUMENT_FLAG)
		return value ? diag_set(d, -EINVAL, "--%s: takes no value", o->name)
			     : apply_option(p, o, NULL, d);
	if (o->kind == ARGUMENT_ANNOUNCED || o->kind == ARGUMENT_MAYBE_INT)
		return apply_option(p, o, value, d);
	value = take_value(p, argument, value, d);
	return value ? apply_option(p, o, value, d) : -EINVAL;
}

/* Parses -x, -xVALUE or -x VALUE; flags may be bundled. */
static int parse_short(struct parser *p, const char *argument, struct diag *d)
{
	for (const char *letter = argument + 1; *letter; letter++) {
		const struct argument_option *o = find_short(p->arguments, *letter);
		const char *value;
		int r;

		if (!o)
			return diag_set(d, -EINVAL, "-%c: unknown option", *letter);
		if (o->kind != ARGUMENT_FLAG) {
			value = take_value(p, argument, letter[1] ? letter + 1 : NULL, d);
			return value ? apply_option(p, o, value, d) : -EINVAL;
		}
		r = apply_option(p, o, NULL, d);
		if (r < 0)
			return r;
	}
	return 0;
}

/* "-5" is an operand unless there is an option -5. */
static bool is_option(const struct arguments *a, const char *argument)
{
	if (argument[0] != '-' || argument[1] == '\0')
		return false;
	return !isdigit((unsigned char)argument[1]) || find_short(a, argument[1]);
}

static int parse_option(struct parser *p, const char *argument, struct diag *d)
{
	if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)
		return ARGUMENTS_HELP;
	if (strcmp(argument, "--version") == 0)
		return ARGUMENTS_VERSION;
	if (argument[1] == '-')
		return parse_long(p, argument, d);
	return parse_short(p, argument, d);
}

/*
 * Returns true if |argument| is neither -h nor of the form --KEY.
 */
static bool is_stray(const char *argument)
{
	if (strcmp(argument, "-h") == 0)
		return false;
	return strncmp(argument, "--", 2) != 0 || strcspn(argument + 2, "=") == 0;
}

int arguments_parse(const struct arguments *arguments, int argc, char **argv, void *settings,
	int *n_left, struct diag *d)
{
	struct parser p = {arguments, argc, argv, 1, settings};
	bool is_end = false;

	*n_left = 0;
	while (p.next < argc) {
		char *argument = argv[p.next++];
		int r = 0;

		if (arguments->has_only_options && is_stray(argument))
			r = diag_set(d, -EINVAL, "%.64s: not an option", argument);
		else if (is_end || !is_option(arguments, argument)) {
			argv[(*n_left)++] = argument;
			is_end = is_end || arguments->has_program;
		} else if (strcmp(argument, "--") == 0)
			is_end = true;
		else {
			r = parse_option(&p, argument, d);
		}
		if (r != 0)
			return r;
	}
	return 0;
}
