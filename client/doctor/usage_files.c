/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of files with a machine's usage that not every kernel has. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "client/doctor/check.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/system.h"

void check_cgroup(const struct system *sys, const struct check *self, struct finding *f)
{
	char text[256];

	(void)self;
	if (system_read(sys, "/sys/fs/cgroup/cgroup.controllers", text, sizeof text) == 0) {
		finding_yes(f, "version 2: %s", *text ? text : "no controllers");
		return;
	}
	if (!system_has_file(sys, "/sys/fs/cgroup/memory") &&
		!system_has_file(sys, "/sys/fs/cgroup/unified")) {
		finding_no(f, "nothing is mounted on /sys/fs/cgroup");
		system_set_command(sys, f, "mount -t cgroup2 cgroup2 /sys/fs/cgroup");
		return;
	}
	finding_no(f, "version 1, or both");
	finding_set_reason(f, "start the machine with systemd.unified_cgroup_hierarchy=1");
}

void check_pressure(const struct system *sys, const struct check *self, struct finding *f)
{
	char text[256];
	int r = system_read(sys, "/proc/pressure/cpu", text, sizeof text);

	(void)self;
	if (r == 0 && strncmp(text, "some ", 5) == 0) {
		finding_yes(f, "/proc/pressure tells it");
		return;
	}
	finding_no(f, "/proc/pressure/cpu: %s", r ? errno_words(r) : "no such text");
	finding_set_reason(f, "start the machine with psi=1; the kernel needs CONFIG_PSI");
}

/* Reads the name of the driver of /sys/class/accel/|name|, or "". */
static void read_driver(const struct system *sys, const char *name, char *out, size_t n)
{
	char path[PATH_MAX];
	char target[PATH_MAX];
	ssize_t length;
	const char *slash;

	snprintf(path, sizeof path, "%s/sys/class/accel/%s/device/driver", sys->root, name);
	length = readlink(path, target, sizeof target - 1);
	target[length > 0 ? length : 0] = '\0';
	slash = strrchr(target, '/');
	snprintf(out, n, "%.60s", slash ? slash + 1 : target);
}

static void judge_npu(const struct system *sys, const char *name, struct finding *f)
{
	char driver[64];
	char path[PATH_MAX];
	int64_t busy;

	read_driver(sys, name, driver, sizeof driver);
	snprintf(path, sizeof path, "/sys/class/accel/%s/device/npu_busy_time_us", name);
	if (system_read_number(sys, path, &busy) == 0) {
		finding_yes(f, "%s (%s) tells its busy time", name, *driver ? driver : "?");
		return;
	}
	finding_no(f, "%s (%s) tells no busy time", name, *driver ? driver : "?");
	finding_set_reason(
		f, "Intel's driver, intel_vpu, has it since Linux 6.10; other drivers do not");
}

/* Only the first device is checked; no known machine has more than one. */
void check_npu(const struct system *sys, const struct check *self, struct finding *f)
{
	char path[PATH_MAX];
	const struct dirent *entry = NULL;
	DIR *dir;

	(void)self;
	snprintf(path, sizeof path, "%s/sys/class/accel", sys->root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (strncmp(entry->d_name, "accel", 5) == 0)
			break;
	if (entry)
		judge_npu(sys, entry->d_name, f);
	else
		finding_none(f, "no device in /sys/class/accel");
	if (dir)
		closedir(dir);
}
