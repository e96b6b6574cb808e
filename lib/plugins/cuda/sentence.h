/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sentences for people: each says what was tried, on what, and what to do.
 * docs/man/proftap-errors.7 explains them.
 */
#ifndef PLUGINS_CUDA_SENTENCE_H
#define PLUGINS_CUDA_SENTENCE_H

#include <stddef.h>

#define SENTENCE_BYTES 1024u /* PTAP_COLLECTOR_WHY_BYTES */

/*
 * Writes a sentence into |why| (SENTENCE_BYTES; NULL: nothing is written), cut if it is too long,
 * and returns |code|.
 */
int sentence_write(char *why, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends to |text|, of |size| bytes; cut if it is too long. */
void sentence_append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct cupti;

/* The library and the driver that the sentences name. */
struct result_context {
	const struct cupti *cupti;
	const char *path; /* the library's path */
	int driver_version;
};

/*
 * Writes into |why| that |what| ("recording kernels") failed with |result|, and the remedy. Returns
 * a negative errno: -EPERM, -EBUSY (another tool uses the counters), -ENOTSUP or -ENOMEM by the
 * table in sentence.c, otherwise -EIO.
 */
int result_explain(const struct result_context *c, int result, const char *what, char *why);

/*
 * Writes that another tool has the only place for a subscriber. |holder| is its name, or "".
 * Returns -EBUSY.
 */
int result_explain_taken(const char *holder, char *why);

#endif
