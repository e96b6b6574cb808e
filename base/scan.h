/* SPDX-License-Identifier: Apache-2.0 */
/* Words and numbers in a text of the kernel's, one after another: sscanf() takes ten times as long. */
#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Blanks within a line. */
static inline void scan_blanks(const char **p)
{
	while (**p == ' ' || **p == '\t')
		(*p)++;
}

/*
 * The decimal number behind blanks: 1, and *p is behind it; what does not fit is UINT64_MAX. 0 when there is none; then *out is as it
 * was.
 */
static inline int scan_number(const char **p, uint64_t *out)
{
	uint64_t n = 0;

	scan_blanks(p);
	if (**p < '0' || **p > '9')
		return 0;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		uint64_t digit = (uint64_t)(**p - '0');

		n = n > (UINT64_MAX - digit) / 10 ? UINT64_MAX : 10 * n + digit;
	}
	*out = n;
	return 1;
}

/* |n| words of this line are passed over: 1, or 0 when it has fewer. */
static inline int scan_words(const char **p, size_t n)
{
	for (; n; n--) {
		scan_blanks(p);
		if (!**p || **p == '\n')
			return 0;
		*p += strcspn(*p, " \t\n");
	}
	return 1;
}

/* The next word of this line, in |out| of |size| bytes: 1; 0 when there is none, or it does not fit. */
static inline int scan_name(const char **p, char *out, size_t size)
{
	size_t n;

	scan_blanks(p);
	n = strcspn(*p, " \t\n");
	if (!n || n >= size)
		return 0;
	memcpy(out, *p, n);
	out[n] = '\0';
	*p += n;
	return 1;
}

/* Whether the text goes on with |word|, which is then behind *p. */
static inline int scan_text(const char **p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*p, word, n) != 0)
		return 0;
	*p += n;
	return 1;
}

/* The beginning of the line behind that of |p|, or NULL when there is none. */
static inline const char *scan_next_line(const char *p)
{
	const char *end = strchr(p, '\n');

	return end && end[1] ? end + 1 : NULL;
}

#endif
