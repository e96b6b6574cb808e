/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container of a process, as /proc shows it: the words that container managers put into the
 * path of its cgroup (Docker, Podman, containerd, CRI-O, Kubernetes, LXC, systemd-nspawn), and its
 * pid in its own namespace.
 */
#ifndef DAEMON_CONTAINER_H
#define DAEMON_CONTAINER_H

#include <stdbool.h>
#include <sys/types.h>

struct container {
	char cgroup[512]; /* the path in the hierarchy, cut if too long; "": unknown */
	char id[80]; /* "": its cgroup names no container */
	char name[80]; /* if the manager names the cgroup after the container; else "" */
	char pod[48]; /* uid of a Kubernetes pod; else "" */
	/* equals the outer pid without an inner namespace, or if the inner pid is unknown */
	pid_t pid_inside;
};

/*
 * Fields that cannot be read stay unknown. |root| is "" or a test's fake root. Any thread may call
 * it.
 */
void container_find(const char *root, pid_t pid, struct container *out);

/* Returns true if the process is known to be in a container. */
bool container_is_known(const struct container *c);

#endif
