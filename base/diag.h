/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error for a person: a code to act on and one sentence to read. The caller owns the struct and
 * passes it down; the function that knows what was tried, on what, and what to do fills it.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

struct diag {
	int code; /* negative errno, or 0 when nothing was said */
	char text
		[512]; /* one clean line (see printable.h), always terminated; "…" at its end: cut */
};

#define DIAG_INIT     \
	{             \
		0, "" \
	}

/*
 * Fills |d| (NULL is allowed and ignored) and returns |code|, so that `return diag_set(d, -EIO, …)`
 * reads as one step. A word that "%.64s" cuts ends with "…", which takes three bytes more, and so
 * does a text that is cut at the size of the field; no character is cut in two. Characters that a
 * terminal must not get become '?', because foreign words may be part of the text.
 */
int diag_set(struct diag *d, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The longest words that a C library has for an errno, with their end. */
#define ERRNO_WORDS_BYTES 64

/*
 * Short words for an errno without "Unknown error" or numbers in them, e.g. "permission denied". They lie in the
 * caller's frame, until the end of the block: thread-local storage would be part of every thread of a host.
 */
#define errno_words(err) errno_write_words((char[ERRNO_WORDS_BYTES]){0}, err)

/* The same in |words|, which is returned. */
const char *errno_write_words(char words[ERRNO_WORDS_BYTES], int err);

#endif
