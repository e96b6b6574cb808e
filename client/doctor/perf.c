/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of sampling by perf events. All but that of the rate try to open events.
 * docs/internals/doctor.md has the kernel's rules.
 */
#include <errno.h>
#include <linux/capability.h>

#include "base/diag.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/programs.h"
#include "client/doctor/system.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define MLOCK "/proc/sys/kernel/perf_event_mlock_kb"
#define RATE "/proc/sys/kernel/perf_event_max_sample_rate"
/* The check passes if the kernel permits this sampling rate. */
#define MAX_RATE 4999

void check_perf_call(const struct system *sys, const struct check *self, struct finding *f)
{
	int r = sys->attempt(ATTEMPT_PERF_CALL, 0);

	(void)self;
	if (r == 0) {
		finding_yes(f, "perf_event_open can be called");
		return;
	}
	finding_no(f, "perf_event_open: %s", errno_words(r));
	if (r == -ENOSYS)
		finding_set_reason(f, "this kernel was built without CONFIG_PERF_EVENTS");
	else
		finding_set_reason(f,
			"a filter of system calls forbids it: start the container with "
			"--cap-add PERFMON, or run proftapd outside of it");
}

/* |least| is the highest perf_event_paranoid that permits the sampling. */
static void judge_perf(
	const struct system *sys, struct finding *f, int r, const char *yes, const char *least)
{
	int64_t paranoid = 0;

	if (r == 0) {
		finding_yes(f, "%s", yes);
		return;
	}
	system_read_number(sys, PARANOID, &paranoid);
	if (r == -EACCES) {
		finding_no(f, "refused: perf_event_paranoid is %lld", (long long)paranoid);
		system_set_sysctl(sys, f, "perf_event_paranoid", least);
	} else if (r == -EPERM || r == -ENOSYS) {
		finding_no(f, "refused");
		finding_set_reason(f, "the call itself is refused, see above");
	} else {
		finding_no(f, "%s", errno_words(r));
		finding_set_reason(f, "this kernel has no such event");
	}
}

void check_perf_own(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	judge_perf(sys, f, sys->attempt(ATTEMPT_PERF_OWN, 0), "programs of this user", "2");
}

void check_perf_kernel(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	judge_perf(sys, f, sys->attempt(ATTEMPT_PERF_KERNEL, 0),
		"kernel code that this user's programs call", "1");
}

void check_perf_cpu(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	judge_perf(sys, f, sys->attempt(ATTEMPT_PERF_CPU, 0), "whole processors", "0");
}

/* Tries process 1, which is root's. No perf_event_paranoid permits that to users. */
void check_perf_others(const struct system *sys, const struct check *self, struct finding *f)
{
	int r = sys->attempt(ATTEMPT_PERF_PID, 1);

	(void)self;
	if (r == 0) {
		finding_yes(f, "programs of all users");
		return;
	}
	finding_no(f, "programs of other users: %s", errno_words(r));
	programs_set_setcap(sys, f, "cap_perfmon,cap_sys_ptrace");
}

void check_perf_cycles(const struct system *sys, const struct check *self, struct finding *f)
{
	int r = sys->attempt(ATTEMPT_PERF_CYCLES, 0);

	(void)self;
	if (r == -ENOENT || r == -EOPNOTSUPP)
		finding_none(f, "the processor has none (a virtual machine?): timers are used");
	else
		judge_perf(sys, f, r, "cycles", "2");
}

void check_perf_rings(const struct system *sys, const struct check *self, struct finding *f)
{
	int r = sys->attempt(ATTEMPT_PERF_RINGS, 0);
	int64_t kib = 0;

	(void)self;
	if (r != -EPERM || sys->attempt(ATTEMPT_PERF_CALL, 0)) {
		judge_perf(sys, f, r, "1 MiB for each processor", "2");
		return;
	}
	system_read_number(sys, MLOCK, &kib);
	finding_no(f, "1 MiB for each processor is too much: perf_event_mlock_kb is %lld",
		(long long)kib);
	system_set_sysctl(sys, f, "perf_event_mlock_kb", "1028");
}

void check_perf_rate(const struct system *sys, const struct check *self, struct finding *f)
{
	int64_t rate;

	(void)self;
	if (system_read_number(sys, RATE, &rate)) {
		finding_none(f, "the kernel reports no limit");
	} else if (rate >= MAX_RATE) {
		finding_yes(f, "%lld Hz", (long long)rate);
	} else {
		finding_no(f, "%lld Hz: the kernel or a user has lowered it", (long long)rate);
		system_set_sysctl(sys, f, "perf_event_max_sample_rate", "100000");
	}
}
