/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the machine; see system.h. */
#include "client/doctor/system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "client/doctor/attempt.h"
#include "client/doctor/finding.h"
#include "client/doctor/library.h"
#include "client/doctor/port.h"

void system_init(struct system *sys)
{
	*sys = (struct system){
		.root = "",
		.uid = geteuid(),
		.attempt = attempt,
		.print = child_work_run_program,
		.ask_library = library_ask,
		.ask_port = port_ask,
	};
}

static int open_file(const struct system *sys, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof full, "%s%s", sys->root, path);
	return open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int system_read(const struct system *sys, const char *path, char *out, size_t n)
{
	_cleanup_close_ int fd = open_file(sys, path);
	size_t used = 0;
	ssize_t r = 1;

	if (fd < 0)
		return -errno;
	/* Some files of /proc are returned in pieces. */
	while (used < n - 1 && r > 0) {
		r = read(fd, out + used, n - 1 - used);
		if (r < 0)
			return -errno;
		used += (size_t)r;
	}
	out[used] = '\0';
	if (used && out[used - 1] == '\n')
		out[used - 1] = '\0';
	return 0;
}

int system_read_number(const struct system *sys, const char *path, int64_t *out)
{
	char text[64];
	char *end;
	int r = system_read(sys, path, text, sizeof text);

	if (r)
		return r;
	*out = strtoll(text, &end, 10);
	return end == text ? -EINVAL : 0;
}

int system_read_field(
	const struct system *sys, const char *path, const char *name, char *out, size_t n)
{
	char text[16384];
	size_t length = strlen(name);
	int r = system_read(sys, path, text, sizeof text);

	if (r)
		return r;
	for (char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *value = line + length;

		if (strncmp(line, name, length) != 0 || *value != ':')
			continue;
		value += 1 + strspn(value + 1, " \t");
		snprintf(out, n, "%.*s", (int)strcspn(value, "\n"), value);
		return 0;
	}
	return -ENODATA;
}

bool system_has_file(const struct system *sys, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof full, "%s%s", sys->root, path);
	return access(full, F_OK) == 0;
}

bool system_has_capability(const struct system *sys, int capability)
{
	char text[64];

	if (system_read_field(sys, "/proc/self/status", "CapEff", text, sizeof text))
		return sys->uid == 0;
	return strtoull(text, NULL, 16) >> capability & 1;
}

void system_set_command(const struct system *sys, struct finding *f, const char *format, ...)
{
	char text[2 * sizeof f->command];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	finding_set_command(f, "%s%s", sys->uid == 0 ? "" : "sudo ", text);
}

void system_set_sysctl(
	const struct system *sys, struct finding *f, const char *name, const char *value)
{
	char path[PATH_MAX];

	system_set_command(sys, f, "sysctl -w kernel.%s=%s", name, value);
	snprintf(path, sizeof path, "%s/proc/sys/kernel/%s", sys->root, name);
	if (sys->uid == 0 && access(path, W_OK))
		finding_set_reason(
			f, "root may not change it here: run it outside of this container");
}
