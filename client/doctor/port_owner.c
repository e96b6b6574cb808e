/* SPDX-License-Identifier: Apache-2.0 */
/* Owners of ports; see port_owner.h. */
#include "client/doctor/port_owner.h"

#include <dirent.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/doctor/system.h"

#define LISTENING 0x0a

/* A line of /proc/net/tcp: "  0: 0100007F:233D 00000000:0000 0A 0:0 0:0 0  1000  0 4242 …" */
static bool is_listener(const char *line, unsigned port, unsigned *uid, unsigned long *inode)
{
	unsigned address;
	unsigned its_port;
	unsigned state;

	return sscanf(line, " %*d: %x:%x %*x:%*x %x %*s %*s %*s %u %*d %lu", &address, &its_port,
		       &state, uid, inode) == 5 &&
	       state == LISTENING && its_port == port &&
	       (address == htonl(INADDR_LOOPBACK) || address == 0);
}

static bool find_socket(
	const struct system *sys, unsigned port, unsigned *uid, unsigned long *inode)
{
	char path[PATH_MAX];
	char line[512];
	bool is_found = false;
	FILE *file;

	snprintf(path, sizeof path, "%s/proc/net/tcp", sys->root);
	file = fopen(path, "re");
	while (file && !is_found && fgets(line, sizeof line, file))
		is_found = is_listener(line, port, uid, inode);
	if (file)
		fclose(file);
	return is_found;
}

/* Whether the process has a descriptor that is |link|. */
static bool has_link(const struct system *sys, const char *pid, const char *link)
{
	char path[PATH_MAX];
	struct dirent *entry;
	bool is_found = false;
	DIR *dir;

	snprintf(path, sizeof path, "%s/proc/%s/fd", sys->root, pid);
	dir = opendir(path);
	while (dir && !is_found && (entry = readdir(dir))) {
		char target[64];
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1);

		target[n > 0 ? n : 0] = '\0';
		is_found = strcmp(target, link) == 0;
	}
	if (dir)
		closedir(dir);
	return is_found;
}

static void find_process(const struct system *sys, unsigned long inode, struct port_owner *out)
{
	char path[PATH_MAX];
	char link[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(link, sizeof link, "socket:[%lu]", inode);
	snprintf(path, sizeof path, "%s/proc", sys->root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		int pid = atoi(entry->d_name);

		if (pid > out->pid && has_link(sys, entry->d_name, link))
			out->pid = pid;
	}
	if (dir)
		closedir(dir);
	if (!out->pid)
		return;
	snprintf(path, sizeof path, "/proc/%d/status", (int)out->pid);
	system_read_field(sys, path, "Name", out->name, sizeof out->name);
}

bool port_owner_find(const struct system *sys, unsigned port, struct port_owner *out)
{
	unsigned uid;
	unsigned long inode;

	memset(out, 0, sizeof *out);
	if (!find_socket(sys, port, &uid, &inode))
		return false;
	out->uid = uid;
	find_process(sys, inode, out);
	return true;
}
