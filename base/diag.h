/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error for a person: a code to act on and one sentence to read. The caller owns the struct and
 * passes it down; the function that knows the failed operation, its object and the remedy fills it.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

struct diag {
	int code; /* negative errno, or 0: there is no message */
	char text
		/*
		 * one clean line (see printable.h), always terminated; ends with "…" if it was cut
		 */
		[512];
};

#define DIAG_INIT     \
	{             \
		0, "" \
	}

/*
 * Fills |d| (NULL is allowed and ignored) and returns |code|, so that `return diag_set(d, -EIO, …)`
 * reads as one step. A word that "%.64s" cuts ends with "…", which takes three bytes more. A text
 * that is longer than the field is cut and ends with "…", too. No character is cut in two.
 * Characters that must not reach a terminal become '?', because parts of the text may come from
 * elsewhere.
 */
int diag_set(struct diag *d, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The size of a C library's longest text for an errno, with the '\0'. */
#define ERRNO_WORDS_BYTES 64

/*
 * A short text for an errno without "Unknown error" or numbers in it, e.g. "permission denied". It
 * lies in the caller's frame, until the end of the block: thread-local storage would be part of
 * every thread of a host program.
 */
#define errno_words(err) errno_write_words((char[ERRNO_WORDS_BYTES]){0}, err)

/* Returns that text, written into |words|, or a constant if |err| is not known. */
const char *errno_write_words(char words[ERRNO_WORDS_BYTES], int err);

#endif
