/* SPDX-License-Identifier: Apache-2.0 */
/* Containers; see container.h. */
#include "daemon/kernel/container.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "daemon/kernel/proc_file.h"

#define FILE_BYTES 4096
#define HEX "0123456789abcdef"
#define ID_DIGITS 64
#define POD_BYTES 36 /* a uid with dashes */
/* a uid without dashes, of a static pod: its node starts it from a file, not from the API server */
#define POD_DIGITS 32

/* Takes the innermost id: 64 hex digits, alone or as in "docker-….scope". */
static void container_find_id(const char *path, struct container *c)
{
	for (const char *at = path; *at; at++) {
		size_t n = strspn(at, HEX);

		if (n == ID_DIGITS && !isalnum((unsigned char)at[n]))
			snprintf(c->id, sizeof c->id, "%.*s", ID_DIGITS, at);
		if (n)
			at += n - 1;
	}
}

/*
 * The path holds "kubepods-burstable-pod1234_5678.slice" or "/kubepods/pod1234-5678/"; "kubepods"
 * contains "pod", too.
 */
static void container_find_pod(const char *path, struct container *c)
{
	const char *at = strstr(path, "kubepods");

	while (at && !c->pod[0] && (at = strstr(at, "pod"))) {
		size_t n;

		at += strlen("pod");
		n = strspn(at, HEX "_-");
		if (n == POD_BYTES || n == POD_DIGITS)
			snprintf(c->pod, sizeof c->pod, "%.*s", (int)n, at);
	}
	for (char *p = c->pod; *p; p++)
		if (*p == '_')
			*p = '-';
}

/* Undoes systemd's escapes in the names of units, "\x2d" for a dash. */
static void unit_name_unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		unsigned code;

		if (sscanf(at, "\\x%2x", &code) == 1 && code && isxdigit((unsigned char)at[3])) {
			*to++ = (char)code;
			at += 3;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
	printable_clean(text);
}

static void container_find_name(const char *path, struct container *c)
{
	static const struct {
		const char *before;
		const char *behind;
	} forms[] = {
		{"/lxc.payload.", "/"},
		{"/lxc/", "/"},
		{"/machine.slice/machine-", ".scope"},
		{"/systemd-nspawn@", ".service"},
	};

	for (size_t i = 0; i < sizeof forms / sizeof *forms && !c->name[0]; i++) {
		const char *at = strstr(path, forms[i].before);
		const char *end;

		if (!at)
			continue;
		at += strlen(forms[i].before);
		end = strstr(at, forms[i].behind);
		snprintf(c->name, sizeof c->name, "%.*s", end ? (int)(end - at) : (int)strlen(at),
			at);
	}
	unit_name_unescape(c->name);
}

/*
 * The line of the unified hierarchy is "0::/path". If its path is only "/", the first line with a
 * path is used.
 */
static void container_parse_cgroup(const char *text, struct container *c)
{
	const char *unified = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	const char *path = unified ? strchr(unified, '/') : NULL;

	if (!path || path[1] == '\n')
		path = strchr(text, '/');
	if (!path)
		return;
	snprintf(c->cgroup, sizeof c->cgroup, "%.*s", (int)strcspn(path, "\n"), path);
	printable_clean(c->cgroup);
	container_find_id(c->cgroup, c);
	container_find_pod(c->cgroup, c);
	container_find_name(c->cgroup, c);
}

/* In "NSpid:\t4242\t7" the last number is the pid in the innermost namespace. */
static void container_parse_status(const char *text, struct container *c)
{
	const char *at = strstr(text, "\nNSpid:");

	at = at ? at + strlen("\nNSpid:") : "\n";
	while (*at && *at != '\n') {
		char *end;
		long pid = strtol(at, &end, 10);

		if (end == at)
			return;
		c->pid_inside = (pid_t)pid;
		at = end + strspn(end, "\t ");
	}
}

void container_find(const char *root, pid_t pid, struct container *out)
{
	char path[256];
	char text[FILE_BYTES];

	memset(out, 0, sizeof *out);
	out->pid_inside = pid;
	snprintf(path, sizeof path, "%s/proc/%d/cgroup", root, (int)pid);
	if (proc_file_read(AT_FDCWD, path, text, sizeof text) == 0)
		container_parse_cgroup(text, out);
	snprintf(path, sizeof path, "%s/proc/%d/status", root, (int)pid);
	if (proc_file_read(AT_FDCWD, path, text, sizeof text) == 0)
		container_parse_status(text, out);
}

bool container_is_known(const struct container *c)
{
	return c->id[0] || c->name[0] || c->pod[0];
}
