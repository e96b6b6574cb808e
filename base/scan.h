/* SPDX-License-Identifier: Apache-2.0 */
/* Scans words and numbers of a text from the kernel: sscanf() takes ten times as long. */
#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Skips blanks within a line. */
static inline void scan_blanks(const char **p)
{
	while (**p == ' ' || **p == '\t')
		(*p)++;
}

/*
 * Scans the decimal number after blanks, and moves *p after it; a larger number than fits is
 * UINT64_MAX. false when there is none; then *out is unchanged.
 */
static inline bool scan_number(const char **p, uint64_t *out)
{
	uint64_t n = 0;

	scan_blanks(p);
	if (**p < '0' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		uint64_t digit = (uint64_t)(**p - '0');

		n = n > (UINT64_MAX - digit) / 10 ? UINT64_MAX : 10 * n + digit;
	}
	*out = n;
	return true;
}

/* Skips |n| words of this line; false when it has fewer. */
static inline bool scan_words(const char **p, size_t n)
{
	for (; n; n--) {
		scan_blanks(p);
		if (!**p || **p == '\n')
			return false;
		*p += strcspn(*p, " \t\n");
	}
	return true;
}

/*
 * Copies the next word of this line into |out| of |size| bytes; false when there is none, or it
 * does not fit.
 */
static inline bool scan_name(const char **p, char *out, size_t size)
{
	size_t n;

	scan_blanks(p);
	n = strcspn(*p, " \t\n");
	if (!n || n >= size)
		return false;
	memcpy(out, *p, n);
	out[n] = '\0';
	*p += n;
	return true;
}

/* Returns true if the next characters are |word|; if so, *p moves after them. */
static inline bool scan_text(const char **p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*p, word, n) != 0)
		return false;
	*p += n;
	return true;
}

/* Returns the beginning of the line after the one at |p|, or NULL when there is none. */
static inline const char *scan_next_line(const char *p)
{
	const char *end = strchr(p, '\n');

	return end && end[1] ? end + 1 : NULL;
}

#endif
