/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for CUPTI in one place after the other. The first library that is found is the result. */
#ifndef CLIENT_CUPTI_H
#define CLIENT_CUPTI_H

#include <stdbool.h>
#include <stddef.h>

struct finding;
struct system;

struct cupti_search {
	const struct system *sys;
	const char *root; /* the root of all paths: the system's, or that of a program */
	int major; /* the CUDA version whose CUPTI is looked for first; 0: the newest */
	bool is_wanted; /* there is a GPU, or CUDA is in use */
	struct finding *f; /* the result: yes, or no if the library does not work */
	char looked[640]; /* the places without one; Python's paths are long */
};

/* Return whether the search is over. |where| describes the place in messages. */
bool cupti_try_file(struct cupti_search *s, const char *path, const char *where);
bool cupti_try_folder(struct cupti_search *s, const char *folder, const char *where);
/* The same for the library that the linker finds for this process. */
bool cupti_try_linker(struct cupti_search *s);
/* Sets the finding when no place had a library. */
void cupti_set_missing(struct cupti_search *s);

#endif
