/* SPDX-License-Identifier: Apache-2.0 */
/* Selections, out of the words of a command line; see selection.h. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/read/selection.h"

/* --- patterns ------------------------------------------------------------------------------ */

static int compile(
	regex_t *pattern, bool *is_there, const char *option, const char *value, struct diag *d)
{
	char why[128];
	int error;

	if (*is_there)
		regfree(pattern);
	error = regcomp(pattern, value, REG_EXTENDED | REG_NOSUB);
	*is_there = error == 0;
	if (!error)
		return 0;
	regerror(error, pattern, why, sizeof why);
	return diag_set(d, -EINVAL, "%s: bad value \"%.64s\": not a regular expression: %s", option,
		value, why);
}

int selection_set_name(struct selection *s, const char *option, const char *value, struct diag *d)
{
	return compile(&s->name, &s->has_name, option, value, d);
}

int selection_set_exclude(
	struct selection *s, const char *option, const char *value, struct diag *d)
{
	return compile(&s->exclude, &s->has_exclude, option, value, d);
}

/* --- lists of names and ids ---------------------------------------------------------------- */

static int set_words(const char **words, const char *option, const char *value, struct diag *d)
{
	for (const char *p = value;; p++) {
		size_t n = selection_get_word_length(p);

		if (n > SELECTION_MAX_WORD)
			return diag_set(d, -EINVAL,
				"%s: bad value \"%.64s\": a name with more than %d bytes; put * for a part of it",
				option, p, SELECTION_MAX_WORD);
		if (n == 0)
			return diag_set(d, -EINVAL,
				"%s: bad value \"%.64s\": must be names or numbers, with a comma between two",
				option, value);
		p += n;
		if (!*p)
			break;
	}
	*words = value;
	return 0;
}

int selection_set_threads(
	struct selection *s, const char *option, const char *value, struct diag *d)
{
	return set_words(&s->threads, option, value, d);
}

int selection_set_pids(struct selection *s, const char *option, const char *value, struct diag *d)
{
	return set_words(&s->pids, option, value, d);
}

/* --- times --------------------------------------------------------------------------------- */

static const struct {
	const char *unit;
	double ns;
} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e6}};

int selection_parse_time(const char *option, const char *value, int64_t *out_ns, struct diag *d)
{
	char *end = NULL;
	double number = isdigit((unsigned char)value[*value == '-']) ? strtod(value, &end) : NAN;

	for (size_t i = 0; end && i < sizeof units / sizeof units[0]; i++) {
		if (strcmp(end, units[i].unit) != 0 || !(fabs(number * units[i].ns) < 9e18))
			continue;
		*out_ns = llround(number * units[i].ns);
		return 0;
	}
	return diag_set(d, -EINVAL,
		"%s: bad value \"%.64s\": must be a time with its unit, as in 250us, 20ms or 1.5s",
		option, value);
}

/* --- iterations ---------------------------------------------------------------------------- */

static int add_range(struct selection *s, size_t *n_allocated, int64_t first, int64_t last)
{
	if (grow(&s->iterations, n_allocated, s->n_iterations + 1))
		return -ENOMEM;
	s->iterations[s->n_iterations++] = (struct selection_range){first, last};
	return 0;
}

/* "3" or "3-4" at *|p|, which is moved behind it. */
static bool read_range(const char **p, int64_t *first, int64_t *last)
{
	char *end;

	if (!isdigit((unsigned char)**p))
		return false;
	errno = 0;
	*first = *last = strtoll(*p, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*last = strtoll(end + 1, &end, 10);
	*p = end;
	return errno == 0 && *first <= *last;
}

/* Brackets group nothing: they only have to be closed. */
static int read_ranges(struct selection *s, const char *value)
{
	size_t n_allocated = 0;
	int depth = 0;
	int64_t first;
	int64_t last;

	for (const char *p = value; *p;) {
		if (strchr("[], ", *p)) {
			depth += (*p == '[') - (*p == ']');
			p++;
			if (depth < 0)
				return -EINVAL;
			continue;
		}
		if (!read_range(&p, &first, &last))
			return -EINVAL;
		if (add_range(s, &n_allocated, first, last))
			return -ENOMEM;
	}
	return depth == 0 && s->n_iterations ? 0 : -EINVAL;
}

int selection_set_iterations(
	struct selection *s, const char *option, const char *value, struct diag *d)
{
	int rc;

	free(s->iterations);
	s->iterations = NULL;
	s->n_iterations = 0;
	rc = read_ranges(s, value);
	if (rc == -ENOMEM)
		return diag_set(d, rc, "%s: out of memory", option);
	return rc ? diag_set(d, rc,
			    "%s: bad value \"%.64s\": must be numbers and ranges, as in 1,3-4 or [1,[3-4]]",
			    option, value)
		  : 0;
}
