/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the kernel: functions that a program and its server need to work together, the clock of
 * spans, limits of processes, and files of usage counters that not every kernel has.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/scan.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/system.h"

void check_proc(const struct system *sys, const struct check *self, struct finding *f)
{
	char name[64];

	(void)self;
	if (system_read_field(sys, "/proc/self/status", "Name", name, sizeof name) == 0) {
		finding_yes(f, "/proc is mounted");
		return;
	}
	finding_no(f, "/proc is not mounted");
	system_set_command(sys, f, "mount -t proc proc /proc");
}

/* Explains a system call that a filter forbids or that an old kernel does not have. */
static void judge_call(
	struct finding *f, int r, const char *yes, const char *name, const char *since)
{
	if (r == 0) {
		finding_yes(f, "%s", yes);
		return;
	}
	finding_no(f, "%s: %s", name, errno_words(r));
	if (r == -ENOSYS)
		finding_set_reason(f, "%s is needed", since);
	else
		finding_set_reason(f,
			"a filter of system calls (seccomp) or a limit forbids it to this process");
}

void check_memory(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	judge_call(f, sys->attempt(ATTEMPT_MEMFD, 0), "memfd_create, with seals", "memfd_create",
		"Linux 3.17");
}

void check_pidfd(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	judge_call(f, sys->attempt(ATTEMPT_PIDFD, 0), "pidfd_open", "pidfd_open", "Linux 5.3");
}

void check_loopback(const struct system *sys, const struct check *self, struct finding *f)
{
	int r = sys->attempt(ATTEMPT_LOOPBACK, 0);

	(void)self;
	if (r == 0) {
		finding_yes(f, "127.0.0.1 takes connections");
		return;
	}
	finding_no(f, "127.0.0.1: %s", errno_words(r));
	system_set_command(sys, f, "ip link set lo up");
}

/*
 * If neither sock_diag nor /proc tells the owner of a connection, only servers with
 * .any_local_user (proftap.h) accept clients.
 */
void check_sock_diag(const struct system *sys, const struct check *self, struct finding *f)
{
	int r = sys->attempt(ATTEMPT_SOCK_DIAG, 0);

	(void)self;
	if (r == 0) {
		finding_yes(f, "the kernel tells whose connection it is");
		return;
	}
	if (system_has_file(sys, "/proc/self/net/tcp")) {
		finding_yes(f,
			"/proc/net/tcp tells whose connection it is; sock_diag does not (%s), so "
			"proftap list finds no servers of JAX and TensorFlow",
			errno_words(r));
		return;
	}
	finding_no(f, "the kernel does not tell whose connection it is: %s", errno_words(r));
	system_set_command(sys, f, "modprobe -a inet_diag tcp_diag");
}

/* --- the clock ----------------------------------------------------------------------------- */

/*
 * Finds out whether spans can be timed by the processor's own counter; the rule is that of
 * daemon/target/timeline.c.
 */

#define SOURCES "/sys/devices/system/clocksource/clocksource0/"

#if defined(__x86_64__)
static bool is_invariant(const struct system *sys)
{
	char flags[8192];

	return system_read_field(sys, "/proc/cpuinfo", "flags\t\t", flags, sizeof flags) == 0 &&
	       strstr(flags, "constant_tsc") && strstr(flags, "nonstop_tsc");
}

/*
 * "Yes" if the kernel's clock uses the processor's TSC; else a command that selects it, or the
 * reason why none can.
 */
static void judge_clock_source(const struct system *sys, const char *current, struct finding *f)
{
	char available[128] = "";
	bool is_virtual = strcmp(current, "kvm-clock") == 0 ||
			  strcmp(current, "hyperv_clocksource_tsc_page") == 0;

	if (strcmp(current, "tsc") == 0 || (is_virtual && is_invariant(sys))) {
		finding_yes(f, "the processor's counter (clocksource %s)", current);
		return;
	}
	finding_no(f, "CLOCK_MONOTONIC costs some 20 ns more a span: the clocksource is %s%s",
		current, is_virtual ? ", and the counter is not constant" : "");
	system_read(sys, SOURCES "available_clocksource", available, sizeof available);
	if (strstr(available, "tsc "))
		system_set_command(sys, f, "sh -c 'echo tsc >" SOURCES "current_clocksource'");
	else
		finding_set_reason(f, "the kernel does not trust this processor's counter");
}
#endif

void check_clock(const struct system *sys, const struct check *self, struct finding *f)
{
#if defined(__x86_64__)
	char current[64] = "unknown";

	(void)self;
	system_read(sys, SOURCES "current_clocksource", current, sizeof current);
	judge_clock_source(sys, current, f);
#elif defined(__aarch64__)
	(void)sys, (void)self;
	finding_yes(f, "the processor's counter (cntvct_el0)");
#else
	(void)sys, (void)self;
	finding_no(f, "CLOCK_MONOTONIC costs some 20 ns more a span");
	finding_set_reason(f, "this processor's counter is not known to proftap");
#endif
}

/* --- limits of this shell --------------------------------------------------------------------- */

/* Programs that are started from here inherit these limits. */
#define UNLIMITED UINT64_MAX
#define MIB (1u << 20)
/* The default limit of a trace's file. */
#define FILE_BYTES ((uint64_t)1 << 30)
/* The address space of rings for a thousand threads. A server works with fewer rings. */
#define SPACE_BYTES ((uint64_t)4 << 30)
#define LOCKED_BYTES (8 * MIB)
#define N_FILES 1024
#define N_PROCESSES 256

struct resource_limit {
	const char *name; /* in /proc/self/limits */
	uint64_t least;
	uint64_t scale; /* the size of |unit| */
	const char *unit; /* follows the number in the message */
	const char *command; /* the shell's command, with the limit in its own unit */
	const char *matter; /* the effect of a limit below |least| */
};

/* Reads the soft limit. False: it is not known. */
static bool read_limit(const struct system *sys, const char *name, uint64_t *out)
{
	char text[4096];
	const char *line;

	if (system_read(sys, "/proc/self/limits", text, sizeof text))
		return false;
	for (line = text; line; line = scan_next_line(line)) {
		const char *p = line;

		if (!scan_text(&p, name))
			continue;
		scan_blanks(&p);
		*out = UNLIMITED;
		return scan_text(&p, "unlimited") || scan_number(&p, out);
	}
	return false;
}

static void check_limit(const struct system *sys, const struct resource_limit *l, struct finding *f)
{
	uint64_t value;

	if (!read_limit(sys, l->name, &value)) {
		finding_none(f, "not known: /proc/self/limits does not report it");
	} else if (value == UNLIMITED) {
		finding_yes(f, "unlimited");
	} else if (value >= l->least) {
		finding_yes(f, "%llu%s", (unsigned long long)(value / l->scale), l->unit);
	} else {
		finding_no(f, "%llu%s: %s", (unsigned long long)(value / l->scale), l->unit,
			l->matter);
		finding_set_command(f, "%s", l->command);
	}
}

void check_limit_files(const struct system *sys, const struct check *self, struct finding *f)
{
	static const struct resource_limit limit = {"Max open files", N_FILES, 1, "",
		"ulimit -n 1024", "a capture of many targets opens two files for each"};

	(void)self;
	check_limit(sys, &limit, f);
}

void check_limit_file_size(const struct system *sys, const struct check *self, struct finding *f)
{
	static const struct resource_limit limit = {"Max file size", FILE_BYTES, MIB, " MiB",
		"ulimit -f unlimited", "shared memory counts, and so does the trace's file"};

	(void)self;
	check_limit(sys, &limit, f);
}

void check_limit_memory(const struct system *sys, const struct check *self, struct finding *f)
{
	static const struct resource_limit limit = {"Max address space", SPACE_BYTES, MIB, " MiB",
		"ulimit -v unlimited", "there is room for few threads' rings"};

	(void)self;
	check_limit(sys, &limit, f);
}

void check_limit_locked(const struct system *sys, const struct check *self, struct finding *f)
{
	static const struct resource_limit limit = {"Max locked memory", LOCKED_BYTES, MIB, " MiB",
		"ulimit -l 8192", "sampling rings count"};

	(void)self;
	check_limit(sys, &limit, f);
}

void check_limit_processes(const struct system *sys, const struct check *self, struct finding *f)
{
	static const struct resource_limit limit = {"Max processes", N_PROCESSES, 1, "",
		"ulimit -u 256", "each program's server is a process with some threads"};

	(void)self;
	check_limit(sys, &limit, f);
}

/* --- files of usage counters ------------------------------------------------------------------ */

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
		finding_yes(f, "/proc/pressure has it");
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
		finding_yes(f, "%s (%s) reports its busy time", name, *driver ? driver : "?");
		return;
	}
	finding_no(f, "%s (%s) reports no busy time", name, *driver ? driver : "?");
	finding_set_reason(f,
		"Intel's driver, intel_vpu, reports the busy time since Linux 6.10; other "
		"drivers do not");
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
