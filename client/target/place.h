/* SPDX-License-Identifier: Apache-2.0 */
/* Where a program lives, as a host daemon tells it. */
#ifndef CLIENT_PLACE_H
#define CLIENT_PLACE_H

#include <stddef.h>

/* All zero is unknown. */
struct place {
	int pid_inside; /* in its own pid namespace; the same as outside where it has none */
	char cgroup[512]; /* a path; ""; printable, as all below */
	int is_container;
	char id[80]; /* of the container; "" */
	char name[80]; /* the same */
	char pod[48]; /* a Kubernetes pod's uid; "" */
	char path[1024]; /* of the file that the program runs; "" */
};

/* "web-1, pid 7"; an id is cut as its manager shows it. "" where there is nothing to tell. */
void place_format(const struct place *p, int pid, char *out, size_t n);

#endif
