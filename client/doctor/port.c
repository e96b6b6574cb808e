/* SPDX-License-Identifier: Apache-2.0 */
/* Ports and their owners; see port.h. */
#include "client/doctor/port.h"

#include <dirent.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "client/connect/probe.h"
#include "client/doctor/system.h"
#include "client/target/address.h"

static enum port_answer judge_answer(enum probe_result result, char *said, size_t n)
{
	switch (result) {
	case PROBE_HTTP2:
		return PORT_GRPC;
	case PROBE_OTHER:
		return strncmp(said, "HTTP/1.", 7) == 0 ? PORT_WEB : PORT_OTHER;
	case PROBE_TLS:
		snprintf(said, n, "TLS");
		return PORT_OTHER;
	case PROBE_CLOSED:
		snprintf(said, n, "the server closes the connection");
		return PORT_OTHER;
	case PROBE_SILENT:
		snprintf(said, n, "no answer");
		return PORT_OTHER;
	case PROBE_GONE:
		break;
	}
	return PORT_NOBODY;
}

int port_ask(unsigned port, char *said, size_t n)
{
	struct address address;
	struct diag d = DIAG_INIT;
	char text[32];

	said[0] = '\0';
	snprintf(text, sizeof text, "127.0.0.1:%u", port);
	if (address_parse(text, NULL, &address, &d))
		return PORT_NOBODY;
	return judge_answer(probe(&address, said, n), said, n);
}

/* --- owners -------------------------------------------------------------------------------- */

#define LISTENING 0x0a

/*
 * |line| is a line of /proc/net/tcp, such as "  0: 0100007F:233D 00000000:0000 0A 0:0
 * 0:0 0  1000  0 4242 …".
 */
static bool is_listener(const char *line, unsigned *port, unsigned *uid, unsigned long *inode)
{
	unsigned address;
	unsigned state;

	return sscanf(line, " %*d: %x:%x %*x:%*x %x %*s %*s %*s %u %*d %lu", &address, port, &state,
		       uid, inode) == 5 &&
	       state == LISTENING && (address == htonl(INADDR_LOOPBACK) || address == 0);
}

static FILE *open_sockets(const struct system *sys)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/proc/net/tcp", sys->root);
	return fopen(path, "re");
}

static bool find_socket(
	const struct system *sys, unsigned port, unsigned *uid, unsigned long *inode)
{
	FILE *file = open_sockets(sys);
	char line[512];
	bool is_found = false;
	unsigned its_port;

	while (file && !is_found && fgets(line, sizeof line, file))
		is_found = is_listener(line, &its_port, uid, inode) && its_port == port;
	if (file)
		fclose(file);
	return is_found;
}

/* Returns true if a descriptor of the process leads to |link|. */
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

static void format_link(unsigned long inode, char out[static 32])
{
	snprintf(out, 32, "socket:[%lu]", inode);
}

static void find_process(const struct system *sys, unsigned long inode, struct port_owner *out)
{
	char path[PATH_MAX];
	char link[32];
	struct dirent *entry;
	DIR *dir;

	format_link(inode, link);
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

size_t port_owner_list(const struct system *sys, pid_t pid, unsigned *ports, size_t max)
{
	FILE *file = open_sockets(sys);
	char number[16];
	char line[512];
	size_t n = 0;

	snprintf(number, sizeof number, "%d", (int)pid);
	while (file && n < max && fgets(line, sizeof line, file)) {
		unsigned long inode;
		unsigned uid;
		char link[32];

		if (!is_listener(line, &ports[n], &uid, &inode))
			continue;
		format_link(inode, link);
		n += has_link(sys, number, link);
	}
	if (file)
		fclose(file);
	return n;
}
