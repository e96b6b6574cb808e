/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which container a process lives, as far as /proc tells: the words of its cgroup's path that container managers put there (Docker, Podman,
 * containerd, CRI-O, Kubernetes, LXC, systemd-nspawn), and its pid in its own namespace.
 */
#ifndef DAEMON_CONTAINER_H
#define DAEMON_CONTAINER_H

#include <sys/types.h>

struct container {
	char cgroup[512]; /* the path in the hierarchy, cut; "": not known */
	char id[80]; /* "": it is in none that is known by its cgroup */
	char name[80]; /* of managers that name the cgroup after it; "" */
	char pod[48]; /* a Kubernetes pod's uid; "" */
	pid_t pid_inside; /* the same as outside where there is no namespace, or it is not known */
};

/* |root| is "" or a test's fake root. What cannot be read is not known. Any thread. */
void container_find(const char *root, pid_t pid, struct container *out);

/* 1 when it is in one, as far as is known. */
int container_is_known(const struct container *c);

#endif
