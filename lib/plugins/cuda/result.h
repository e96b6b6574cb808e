/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI's results mean for a person: a sentence with a remedy for each that people meet. */
#ifndef PLUGINS_CUDA_RESULT_H
#define PLUGINS_CUDA_RESULT_H

#include <stdint.h>

struct cupti;

/* Who was asked: it is in the sentences. */
struct result_context {
	const struct cupti *cupti;
	const char *path; /* of the library */
	int driver_version;
};

/*
 * Writes into |why| that |what| ("recording kernels") failed for |result|, and what to do. Returns a negative errno: -EPERM where
 * rights are missing, -EBUSY where somebody else is, else -EIO.
 */
int result_say(const struct result_context *c, int result, const char *what, char *why);

/* That somebody else has the one place for a subscriber. |holder|: his name, or "". Returns -EBUSY. */
int result_say_taken(const char *holder, char *why);

#endif
