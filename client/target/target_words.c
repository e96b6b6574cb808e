/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of targets; see target_words.h. */
#include "client/target/target_words.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "client/target/address.h"

#define MAX_DIGITS 9

static const char unix_scheme[] = "unix:";

struct number_range {
	unsigned long first;
	unsigned long last;
	int n_digits; /* the least number of digits; zeros are put in front */
};

static int fail_memory(struct diag *d)
{
	return diag_set(d, -ENOMEM, "the list of targets: out of memory");
}

/* Adds |word|, which is malloc'ed, and owns it; NULL means that memory ran out. */
static int take_word(struct target_words *w, char *word, struct diag *d)
{
	int r = 0;

	if (!word)
		return fail_memory(d);
	if (w->n == TARGET_WORDS_MAX)
		r = diag_set(d, -EINVAL, "%.200s: more than %d targets", word, TARGET_WORDS_MAX);
	else if (grow(&w->v, &w->n_allocated, w->n + 1))
		r = fail_memory(d);
	if (r)
		free(word);
	else
		w->v[w->n++] = word;
	return r;
}

/* --- ranges -------------------------------------------------------------------------------- */

/* Reads the number at |text| and sets *end behind it. False: there is no number. */
static bool read_number(const char *text, unsigned long *out, const char **end)
{
	size_t n = strspn(text, "0123456789");

	*end = text + n;
	*out = n <= MAX_DIGITS ? strtoul(text, NULL, 10) : 0;
	return n > 0 && n <= MAX_DIGITS;
}

/* Reads "7" or "01-16" at |text|, up to a comma or the bracket's end. */
static bool read_range(const char *text, struct number_range *out, const char **end)
{
	const char *first_end;
	const char *last;

	if (!read_number(text, &out->first, &first_end))
		return false;
	out->n_digits = text[0] == '0' ? (int)(first_end - text) : 0;
	out->last = out->first;
	*end = first_end;
	if (*first_end != '-')
		return **end == ',' || **end == ']';
	last = first_end + 1;
	if (!read_number(last, &out->last, end) || out->last < out->first)
		return false;
	/* In [1-016] and [01-116] the number of zeros is ambiguous. */
	if ((last[0] == '0' || (text[0] == '0' && first_end - text > 1)) &&
		*end - last != first_end - text)
		return false;
	return **end == ',' || **end == ']';
}

static int fail_range(const char *word, const char *open, struct diag *d)
{
	return diag_set(d, -EINVAL,
		"%.200s: bad range \"%.64s\": must be numbers and ranges, as in host[01-16]:9999 or "
		"h[1,3,5-7]:9999",
		word, open);
}

/*
 * Finds the bracket to expand; NULL: none. A bracket with other characters belongs to an address,
 * or is a mistake that address_parse() reports.
 */
static const char *find_bracket(const char *word)
{
	const char *open = word;

	if (strncmp(word, unix_scheme, sizeof unix_scheme - 1) == 0)
		return NULL;
	while ((open = strchr(open, '['))) {
		const char *end = open + 1 + strspn(open + 1, "0123456789,-");

		if (*end == ']' || *end == '\0')
			return open;
		open++;
	}
	return NULL;
}

static int expand_word(struct target_words *w, const char *word, struct diag *d);

static int expand_range(struct target_words *w, const char *word, const char *open,
	const struct number_range *range, struct diag *d)
{
	const char *rest = strchr(open, ']') + 1;
	int r = 0;

	for (unsigned long i = range->first; i <= range->last && r == 0; i++) {
		_cleanup_free_ char *one = NULL;

		if (asprintf(&one, "%.*s%0*lu%s", (int)(open - word), word, range->n_digits, i,
			    rest) < 0) {
			one = NULL;
			return fail_memory(d);
		}
		r = expand_word(w, one, d);
	}
	return r;
}

/* Adds |word|, or the words to which its first bracket expands. */
static int expand_word(struct target_words *w, const char *word, struct diag *d)
{
	const char *open = find_bracket(word);
	const char *p = open;
	int r = 0;

	if (!open)
		return take_word(w, strdup(word), d);
	if (!strchr(open, ']'))
		return fail_range(word, open, d);
	do {
		struct number_range range;

		if (!read_range(p + 1, &range, &p))
			return fail_range(word, open, d);
		r = expand_range(w, word, open, &range, d);
	} while (r == 0 && *p == ',');
	return r;
}

/* --- lists --------------------------------------------------------------------------------- */

/* Returns the end of the word at |text|: the next comma outside of brackets, or the end. */
static const char *find_end(const char *text)
{
	bool is_inside = false;

	if (strncmp(text, unix_scheme, sizeof unix_scheme - 1) == 0)
		return text + strcspn(text, ",");
	for (; *text && (*text != ',' || is_inside); text++) {
		if (*text == '[')
			is_inside = true;
		else if (*text == ']')
			is_inside = false;
	}
	return text;
}

int target_words_add(struct target_words *w, const char *text, struct diag *d)
{
	const char *p = text;
	int r;

	do {
		const char *end = find_end(p);
		_cleanup_free_ char *word = strndup(p, (size_t)(end - p));

		if (!word)
			return fail_memory(d);
		if (!*word && (p != text || *end))
			return diag_set(
				d, -EINVAL, "%.200s: a target between the commas is empty", text);
		r = expand_word(w, word, d);
		p = *end ? end + 1 : NULL;
	} while (r == 0 && p);
	return r;
}

/* --- files --------------------------------------------------------------------------------- */

static char *trim_line(char *line)
{
	size_t n;

	line[strcspn(line, "#")] = '\0';
	line += strspn(line, " \t\r\n");
	n = strlen(line);
	while (n > 0 && isspace((unsigned char)line[n - 1]))
		line[--n] = '\0';
	return line;
}

static int add_lines(struct target_words *w, FILE *in, const char *name, struct diag *d)
{
	_cleanup_free_ char *line = NULL;
	size_t n_allocated = 0;
	int r = 0;

	for (int number = 1; r == 0 && getline(&line, &n_allocated, in) >= 0; number++) {
		struct diag inner = DIAG_INIT;
		char *word = trim_line(line);

		if (*word)
			r = target_words_add(w, word, &inner);
		if (r)
			diag_set(d, r, "%.200s, line %d: %.250s", name, number, inner.text);
	}
	if (r == 0 && ferror(in))
		r = diag_set(d, -EIO, "%.300s: cannot be read", name);
	return r;
}

int target_words_load(struct target_words *w, const char *path, struct diag *d)
{
	bool is_stdin = strcmp(path, "-") == 0;
	const char *name = is_stdin ? "standard input" : path;
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	size_t n_before = w->n;
	int r;

	if (!in)
		return diag_set(d, -errno, "%.300s: cannot be read: %s", path, errno_words(errno));
	r = add_lines(w, in, name, d);
	if (!is_stdin)
		fclose(in);
	if (r == 0 && w->n == n_before)
		r = diag_set(d, -EINVAL, "%.300s: there is no target in it", name);
	return r;
}

void target_words_deinit(struct target_words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
	*w = (struct target_words){NULL, 0, 0};
}

static int compare_addresses(const void *a, const void *b)
{
	const struct address *const *x = a;
	const struct address *const *y = b;

	return strcmp((*x)->text, (*y)->text);
}

static int check_different(const struct address *v, size_t n, struct diag *d)
{
	const struct address **sorted = calloc(n, sizeof *sorted);
	int r = 0;

	if (!sorted)
		return diag_set(d, -ENOMEM, "the list of targets: out of memory");
	for (size_t i = 0; i < n; i++)
		sorted[i] = &v[i];
	qsort(sorted, n, sizeof *sorted, compare_addresses);
	for (size_t i = 1; i < n && r == 0; i++)
		if (compare_addresses(&sorted[i - 1], &sorted[i]) == 0)
			r = diag_set(d, -EINVAL,
				"%s: given twice; a target is captured once at a time",
				sorted[i]->text);
	free(sorted);
	return r;
}

int target_words_parse(const struct target_words *words, const char *default_host,
	struct address **out, struct diag *d)
{
	int r = 0;

	*out = calloc(words->n, sizeof **out);
	if (!*out)
		return diag_set(d, -ENOMEM, "the list of targets: out of memory");
	for (size_t i = 0; i < words->n && r == 0; i++)
		r = address_parse(words->v[i], default_host, &(*out)[i], d);
	if (r == 0)
		r = check_different(*out, words->n, d);
	return r;
}
