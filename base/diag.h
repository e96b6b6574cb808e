/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error for a person: a code to act on and one sentence to read. The caller owns the struct and
 * passes it down; the function that knows what was tried, on what, and what to do fills it.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

struct diag {
	int code; /* negative errno, or 0 when nothing was said */
	char text[512]; /* one clean line (see printable.h), always terminated */
};

#define DIAG_INIT     \
	{             \
		0, "" \
	}

/*
 * Fills |d| (NULL is allowed and ignored) and returns |code|, so that `return diag_set(d, -EIO, …)`
 * reads as one step. The text is cut at the size of the field; what no terminal should see becomes
 * '?', because foreign words may be part of it.
 */
int diag_set(struct diag *d, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Short words for an errno without "Unknown error" or numbers in them, e.g. "permission denied". */
const char *errno_words(int err);

#endif
