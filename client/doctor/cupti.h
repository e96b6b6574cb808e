/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for CUPTI, in places one after the other: the first that has one counts. */
#ifndef CLIENT_CUPTI_H
#define CLIENT_CUPTI_H

#include <stdbool.h>
#include <stddef.h>

struct finding;
struct system;

struct cupti_search {
	const struct system *sys;
	const char *root; /* of the paths: the system's, or a program's own below that */
	int major; /* of CUDA, whose CUPTI is looked for first; 0: the newest */
	bool is_wanted; /* a GPU is there, or CUDA is in use */
	struct finding *f; /* when the search is over: yes, or no: what was found does not work */
	char looked[640]; /* where it was not; paths of Python's are long */
};

/* Each: whether the search is over. |where| is for people. */
bool cupti_try_file(struct cupti_search *s, const char *path, const char *where);
bool cupti_try_folder(struct cupti_search *s, const char *folder, const char *where);
/* The one that the linker finds for this process. */
bool cupti_try_linker(struct cupti_search *s);
/* Nothing was found. */
void cupti_set_missing(struct cupti_search *s);

#endif
