/* SPDX-License-Identifier: Apache-2.0 */
/* How people name a container: "container=WORD" among the words for a host daemon's programs. */
#ifndef BASE_CONTAINER_WORD_H
#define BASE_CONTAINER_WORD_H

#include <string.h>

/* As Docker and Podman show an id. */
#define CONTAINER_WORD_DIGITS 12

/* Whether |word| is the name, the id, or so many first digits of the id or more. What is not known is "", and nobody's. */
static inline int container_word_means(const char *word, const char *id, const char *name)
{
	size_t n = strlen(word);

	if (*word && strcmp(word, name) == 0)
		return 1;
	return n >= CONTAINER_WORD_DIGITS && strncmp(word, id, n) == 0;
}

#endif
