/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of access to other processes and to the kernel. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/programs.h"
#include "client/doctor/system.h"

#define YAMA "/proc/sys/kernel/yama/ptrace_scope"
#define KPTR "/proc/sys/kernel/kptr_restrict"

/* Yama's setting that forbids ptrace until the machine is restarted. */
#define SCOPE_NONE 3

void check_ptrace(const struct system *sys, const struct check *self, struct finding *f)
{
	int r = sys->attempt(ATTEMPT_PTRACE, 0);
	int64_t scope = 0;

	(void)self;
	if (r == 0) {
		finding_yes(f, "programs of this user");
		return;
	}
	system_read_number(sys, YAMA, &scope);
	if (scope == 0) {
		finding_no(f, "%s", errno_words(r));
		finding_set_reason(f, "a filter of system calls, or a security module forbids it");
		return;
	}
	finding_no(f, "kernel.yama.ptrace_scope is %lld: %s", (long long)scope,
		scope == 1   ? "own children only"
		: scope == 2 ? "root only"
			     : "nobody");
	if (scope < SCOPE_NONE)
		system_set_sysctl(sys, f, "yama.ptrace_scope", "0");
	else
		finding_set_reason(f, "it cannot be set back until the machine is started again");
}

void check_ptrace_others(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	if (system_has_capability(sys, CAP_SYS_PTRACE)) {
		finding_yes(f, "programs of all users");
		return;
	}
	finding_no(f, "programs of other users: needs CAP_SYS_PTRACE");
	programs_set_setcap(sys, f, "cap_sys_ptrace");
}

void check_bpf(const struct system *sys, const struct check *self, struct finding *f)
{
	int r = sys->attempt(ATTEMPT_BPF, 0);

	(void)self;
	if (r == 0) {
		finding_yes(f, "programs for tracing can be loaded");
		return;
	}
	finding_no(f, "no program for tracing can be loaded: %s", errno_words(r));
	if (r == -ENOSYS || r == -EINVAL)
		finding_set_reason(f, "this kernel was built without it");
	else if (sys->uid == 0)
		finding_set_reason(f,
			"start the container with --cap-add BPF --cap-add PERFMON, or run proftapd "
			"outside of it");
	else
		programs_set_setcap(sys, f, "cap_bpf,cap_perfmon");
}

void check_btf(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	if (system_has_file(sys, "/sys/kernel/btf/vmlinux")) {
		finding_yes(f, "/sys/kernel/btf/vmlinux");
		return;
	}
	finding_no(f, "the kernel does not describe its types");
	finding_set_reason(f, "a kernel with CONFIG_DEBUG_INFO_BTF has it");
}

void check_tracefs(const struct system *sys, const struct check *self, struct finding *f)
{
	static const char event[] = "/sys/kernel/tracing/events/sched/sched_switch/id";
	int64_t id;
	int r = system_read_number(sys, event, &id);

	(void)self;
	if (r == 0) {
		finding_yes(f, "sched_switch is event %lld", (long long)id);
	} else if (r == -EACCES || r == -EPERM) {
		finding_no(f, "/sys/kernel/tracing: %s", errno_words(r));
		programs_set_setcap(sys, f, "cap_dac_read_search");
	} else if (system_has_file(sys, "/sys/kernel/tracing")) {
		finding_no(f, "nothing is mounted on /sys/kernel/tracing");
		system_set_command(sys, f, "mount -t tracefs tracefs /sys/kernel/tracing");
	} else {
		finding_no(f, "the kernel has no tracefs");
		finding_set_reason(f, "one with CONFIG_FTRACE has it");
	}
}

/* All addresses are 0 for users that may not see them. */
void check_kernel_symbols(const struct system *sys, const struct check *self, struct finding *f)
{
	char line[256] = "";
	int64_t restricted = 0;

	(void)self;
	if (system_read(sys, "/proc/kallsyms", line, sizeof line)) {
		finding_no(f, "/proc/kallsyms cannot be read");
		finding_set_reason(f, "a kernel with CONFIG_KALLSYMS has it");
		return;
	}
	if (strspn(line, "0") < strspn(line, "0123456789abcdef")) {
		finding_yes(f, "/proc/kallsyms has addresses");
		return;
	}
	system_read_number(sys, KPTR, &restricted);
	finding_no(f, "/proc/kallsyms hides addresses: kptr_restrict is %lld%s",
		(long long)restricted,
		restricted ? "" : ", and perf_event_paranoid above 1 hides them, too");
	if (restricted)
		system_set_sysctl(sys, f, "kptr_restrict", sys->uid == 0 ? "1" : "0");
	else
		system_set_sysctl(sys, f, "perf_event_paranoid", "1");
}

void check_lockdown(const struct system *sys, const struct check *self, struct finding *f)
{
	char text[128];

	(void)self;
	if (system_read(sys, "/sys/kernel/security/lockdown", text, sizeof text) ||
		!strstr(text, "[confidentiality]")) {
		finding_yes(f, "the kernel is not locked down");
		return;
	}
	finding_no(f, "the kernel is locked down: confidentiality");
	finding_set_reason(f, "BPF and tracefs may not read kernel memory; start the machine with "
			      "lockdown=integrity");
}
