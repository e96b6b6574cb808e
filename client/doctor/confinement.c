/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of what confines this process: filters, containers, namespaces. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/system.h"

#define STATUS "/proc/self/status"

void check_seccomp(const struct system *sys, const struct check *self, struct finding *f)
{
	char text[32];

	(void)self;
	if (system_read_field(sys, STATUS, "Seccomp", text, sizeof text)) {
		finding_none(f, "not known: the kernel does not report it");
	} else if (strcmp(text, "0") == 0) {
		finding_yes(f, "none");
	} else {
		finding_no(f, "a filter is on: the checks above show which calls it forbids");
		finding_set_reason(f,
			"a process cannot remove its own filter: start the container with "
			"--security-opt seccomp=unconfined, or run proftapd outside of it");
	}
}

/* With no_new_privs the kernel ignores file capabilities, such as those of setcap(8). */
void check_no_new_privs(const struct system *sys, const struct check *self, struct finding *f)
{
	char text[32];

	(void)self;
	if (system_read_field(sys, STATUS, "NoNewPrivs", text, sizeof text)) {
		finding_none(f, "not known: the kernel does not report it");
	} else if (strcmp(text, "0") == 0) {
		finding_yes(f, "proftapd may be given rights");
	} else {
		finding_no(f, "no_new_privs is set: file capabilities have no effect");
		finding_set_reason(f, "it cannot be unset: start from a shell without it");
	}
}

/*
 * Finds the options of the last mount on |place| in /proc/self/mountinfo. False: nothing is mounted
 * there.
 */
static bool find_mount(const struct system *sys, const char *place, char *options, size_t n)
{
	char text[32768];
	char *save = NULL;
	bool is_found = false;

	if (system_read(sys, "/proc/self/mountinfo", text, sizeof text))
		return false;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char where[PATH_MAX];
		const char *more = strrchr(line, ' ');

		if (sscanf(line, "%*s %*s %*s %*s %4095s", where) != 1 || strcmp(where, place) != 0)
			continue;
		/* "… - proc proc rw,hidepid=invisible" */
		snprintf(options, n, "%s", more ? more + 1 : "");
		is_found = true;
	}
	return is_found;
}

void check_hidepid(const struct system *sys, const struct check *self, struct finding *f)
{
	char options[256];
	const char *hidden;

	(void)self;
	if (!find_mount(sys, "/proc", options, sizeof options)) {
		finding_none(f, "not known: /proc/self/mountinfo does not report it");
		return;
	}
	hidden = strstr(options, "hidepid=");
	if (strstr(options, "subset=pid")) {
		finding_no(f, "/proc shows processes only (subset=pid)");
		system_set_command(sys, f, "mount -t proc proc /proc");
	} else if (sys->uid != 0 && hidden && strncmp(hidden, "hidepid=0", 9) != 0 &&
		   strncmp(hidden, "hidepid=off", 11) != 0) {
		finding_no(f, "/proc hides other users' processes (%.*s)",
			(int)strcspn(hidden, ","), hidden);
		system_set_command(sys, f, "mount -o remount,hidepid=0 /proc");
	} else {
		finding_yes(f, "/proc shows all processes");
	}
}

void check_user_namespace(const struct system *sys, const struct check *self, struct finding *f)
{
	char text[256];
	unsigned long inside;
	unsigned long outside;
	unsigned long n;

	(void)self;
	if (system_read(sys, "/proc/self/uid_map", text, sizeof text) ||
		sscanf(text, "%lu %lu %lu", &inside, &outside, &n) != 3) {
		finding_none(f, "the kernel has none");
	} else if (inside == 0 && outside == 0 && n == 4294967295) {
		finding_yes(f, "the machine's own: user ids are the same outside");
	} else {
		finding_no(f,
			"uid %lu here is uid %lu outside: "
			"it has rights only over its own programs",
			inside, outside);
		finding_set_reason(f, "run proftapd outside of the namespace: "
				      "it reaches programs inside");
	}
}

/* Finds the container manager by a word in the path of the cgroup. */
static const char *find_manager(const struct system *sys)
{
	static const char *const words[] = {
		"kubepods", "docker", "libpod", "containerd", "crio", "lxc"};
	char text[2048];

	if (system_read(sys, "/proc/self/cgroup", text, sizeof text))
		return NULL;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strstr(text, words[i]))
			return words[i];
	return NULL;
}

void check_container(const struct system *sys, const struct check *self, struct finding *f)
{
	char kind[64] = "";
	const char *manager = find_manager(sys);

	(void)self;
	if (system_read(sys, "/run/systemd/container", kind, sizeof kind) || !*kind)
		snprintf(kind, sizeof kind, "%s",
			system_has_file(sys, "/.dockerenv")	     ? "docker"
			: system_has_file(sys, "/run/.containerenv") ? "podman"
			: manager				     ? manager
								     : "");
	if (*kind)
		finding_none(f,
			"in a container (%s): docs/containers.md explains what to "
			"change",
			kind);
	else
		finding_yes(f, "in none");
}
