/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests proftap doctor's checks of the kernel, of devices, and of containers. A test changes the
 * fake machine so that the check finds "yes", "no" or "none".
 */
#include <check.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/doctor_fixture.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define yes doctor_expect_yes
#define no doctor_expect_no
#define none doctor_expect_none

/* --- sampling ------------------------------------------------------------------------------ */

static const struct {
	const char *key;
	enum attempt attempt;
	const char *command; /* the remedy if perf_event_paranoid forbids it */
} events[] = {
	{"perf_own", ATTEMPT_PERF_OWN, "sudo sysctl -w kernel.perf_event_paranoid=2"},
	{"perf_kernel", ATTEMPT_PERF_KERNEL, "sudo sysctl -w kernel.perf_event_paranoid=1"},
	{"perf_cpu", ATTEMPT_PERF_CPU, "sudo sysctl -w kernel.perf_event_paranoid=0"},
	{"perf_cycles", ATTEMPT_PERF_CYCLES, "sudo sysctl -w kernel.perf_event_paranoid=2"},
	{"perf_rings", ATTEMPT_PERF_RINGS, "sudo sysctl -w kernel.perf_event_paranoid=2"},
};

START_TEST(an_event_is_permitted_or_not)
{
	yes(events[_i].key, "");
	fake_root_write("/proc/sys/kernel/perf_event_paranoid", "4\n");
	doctor_attempts[events[_i].attempt] = -EACCES;
	no(events[_i].key, "perf_event_paranoid is 4", events[_i].command);
	doctor_attempts[ATTEMPT_PERF_CALL] = -EPERM;
	doctor_attempts[events[_i].attempt] = -EPERM;
	no(events[_i].key, "refused", NULL);
}
END_TEST

START_TEST(the_call_is_reachable_or_not)
{
	yes("perf_call", "can be called");
	doctor_attempts[ATTEMPT_PERF_CALL] = -EPERM;
	no("perf_call", "operation not permitted", NULL);
	ck_assert_ptr_nonnull(strstr(doctor_ask("perf_call")->reason, "--cap-add PERFMON"));
	doctor_attempts[ATTEMPT_PERF_CALL] = -ENOSYS;
	ck_assert_ptr_nonnull(strstr(doctor_ask("perf_call")->reason, "CONFIG_PERF_EVENTS"));
}
END_TEST

START_TEST(counters_that_are_not_there_are_no_refusal)
{
	doctor_attempts[ATTEMPT_PERF_CYCLES] = -ENOENT;
	none("perf_cycles", "virtual machine");
}
END_TEST

START_TEST(rings_are_limited_or_not)
{
	doctor_attempts[ATTEMPT_PERF_RINGS] = -EPERM;
	fake_root_write("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	no("perf_rings", "perf_event_mlock_kb is 516",
		"sudo sysctl -w kernel.perf_event_mlock_kb=1028");
}
END_TEST

START_TEST(the_rate_was_lowered_or_not)
{
	none("perf_rate", "no limit");
	fake_root_write("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
	yes("perf_rate", "100000 Hz");
	fake_root_write("/proc/sys/kernel/perf_event_max_sample_rate", "2000\n");
	no("perf_rate", "2000 Hz", "sudo sysctl -w kernel.perf_event_max_sample_rate=100000");
}
END_TEST

/*
 * Makes a proftapd that the doctor finds. For a missing capability the doctor advises setcap on
 * this file. It gives root a reason instead: root lacks capabilities only in a container.
 */
static void give_proftapd(char path[static 256])
{
	fake_root_write("/proftapd", "");
	snprintf(path, 256, "%s/proftapd", fake_root);
	chmod(path, 0755);
	setenv("PROFTAPD", path, 1);
}

static void expect_setcap(const char *key, const char *text, const char *capabilities)
{
	char path[256];
	char command[512];

	give_proftapd(path);
	snprintf(command, sizeof command, "sudo setcap %s+ep %s", capabilities, path);
	no(key, text, command);
	setenv("PROFTAPD", "/nonexistent", 1);
	no(key, text, NULL);
	unsetenv("PROFTAPD");
	doctor_system.uid = 0;
	no(key, text, NULL);
	ck_assert_ptr_nonnull(strstr(doctor_ask(key)->reason, "container"));
	doctor_system.uid = 1000;
}

START_TEST(other_users_programs_can_be_read_or_not)
{
	yes("perf_others", "all users");
	doctor_attempts[ATTEMPT_PERF_PID] = -EACCES;
	expect_setcap("perf_others", "permission denied", "cap_perfmon,cap_sys_ptrace");
	fake_root_write("/proc/self/status", "CapEff:\t0000000000000000\n");
	expect_setcap("ptrace_others", "CAP_SYS_PTRACE", "cap_sys_ptrace");
	fake_root_write("/proc/self/status", "CapEff:\t0000000000080000\n");
	yes("ptrace_others", "all users");
}
END_TEST

START_TEST(a_setting_that_root_may_not_change_is_one_of_the_machine)
{
	doctor_attempts[ATTEMPT_PERF_OWN] = -EACCES;
	doctor_system.uid = 0;
	no("perf_own", "", "sysctl -w kernel.perf_event_paranoid=2");
	ck_assert_ptr_nonnull(strstr(doctor_ask("perf_own")->reason, "outside of this container"));
	fake_root_write("/proc/sys/kernel/perf_event_paranoid", "3\n");
	ck_assert_str_eq(doctor_ask("perf_own")->reason, "");
}
END_TEST

/* --- tracing ------------------------------------------------------------------------------- */

#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

START_TEST(ptrace_is_as_yama_says)
{
	yes("ptrace", "programs of this user");
	doctor_attempts[ATTEMPT_PTRACE] = -EPERM;
	no("ptrace", "operation not permitted", NULL);
	fake_root_write(YAMA, "1\n");
	no("ptrace", "own children only", "sudo sysctl -w kernel.yama.ptrace_scope=0");
	fake_root_write(YAMA, "2\n");
	no("ptrace", "root only", "sudo sysctl -w kernel.yama.ptrace_scope=0");
	fake_root_write(YAMA, "3\n");
	no("ptrace", "nobody", NULL);
}
END_TEST

START_TEST(bpf_is_permitted_or_not)
{
	yes("bpf", "can be loaded");
	doctor_attempts[ATTEMPT_BPF] = -EPERM;
	expect_setcap("bpf", "operation not permitted", "cap_bpf,cap_perfmon");
	doctor_attempts[ATTEMPT_BPF] = -ENOSYS;
	no("bpf", "function not implemented", NULL);
	no("btf", "does not describe", NULL);
	fake_root_write("/sys/kernel/btf/vmlinux", "x");
	yes("btf", "/sys/kernel/btf/vmlinux");
}
END_TEST

START_TEST(tracefs_is_mounted_or_not)
{
	no("tracefs", "has no tracefs", NULL);
	fake_root_add_folder("/sys/kernel/tracing");
	no("tracefs", "nothing is mounted", "sudo mount -t tracefs tracefs /sys/kernel/tracing");
	fake_root_write("/sys/kernel/tracing/events/sched/sched_switch/id", "316\n");
	yes("tracefs", "sched_switch is event 316");
}
END_TEST

START_TEST(kernel_symbols_are_shown_or_not)
{
	no("kernel_symbols", "cannot be read", NULL);
	fake_root_write("/proc/kallsyms", "0000000000000000 T startup_64\n");
	fake_root_write("/proc/sys/kernel/kptr_restrict", "1\n");
	no("kernel_symbols", "kptr_restrict is 1", "sudo sysctl -w kernel.kptr_restrict=0");
	fake_root_write("/proc/sys/kernel/kptr_restrict", "0\n");
	no("kernel_symbols", "perf_event_paranoid above 1",
		"sudo sysctl -w kernel.perf_event_paranoid=1");
	fake_root_write("/proc/kallsyms", "ffffffff81000000 T startup_64\n");
	yes("kernel_symbols", "has addresses");
}
END_TEST

START_TEST(the_kernel_is_locked_down_or_not)
{
	yes("lockdown", "not locked down");
	fake_root_write("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	yes("lockdown", "not locked down");
	fake_root_write("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	no("lockdown", "confidentiality", NULL);
}
END_TEST

/* --- usage --------------------------------------------------------------------------------- */

START_TEST(cgroups_are_of_version_2_or_not)
{
	no("cgroup", "nothing is mounted", "sudo mount -t cgroup2 cgroup2 /sys/fs/cgroup");
	fake_root_add_folder("/sys/fs/cgroup/memory");
	no("cgroup", "version 1", NULL);
	fake_root_write("/sys/fs/cgroup/cgroup.controllers", "cpu io memory pids\n");
	yes("cgroup", "version 2: cpu io memory pids");
}
END_TEST

START_TEST(pressure_is_available_or_not)
{
	no("pressure", "no such file", NULL);
	fake_root_write("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
	yes("pressure", "/proc/pressure");
}
END_TEST

START_TEST(an_npu_tells_its_busy_time_or_not)
{
	none("npu", "no device");
	fake_root_link("/sys/class/accel/accel0/device/driver", "../../bus/pci/drivers/amdxdna");
	no("npu", "accel0 (amdxdna) reports no busy time", NULL);
	fake_root_link("/sys/class/accel/accel0/device/driver", "../../bus/pci/drivers/intel_vpu");
	fake_root_write("/sys/class/accel/accel0/device/npu_busy_time_us", "123\n");
	yes("npu", "accel0 (intel_vpu) reports its busy time");
}
END_TEST

/* --- confinement --------------------------------------------------------------------------- */

START_TEST(filters_are_on_or_not)
{
	none("seccomp", "does not report it");
	none("no_new_privs", "does not report it");
	fake_root_write("/proc/self/status", "NoNewPrivs:\t0\nSeccomp:\t0\n");
	yes("seccomp", "none");
	yes("no_new_privs", "may be given rights");
	fake_root_write("/proc/self/status", "NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n");
	no("seccomp", "a filter is on", NULL);
	no("no_new_privs", "no_new_privs is set", NULL);
}
END_TEST

static void mount_proc(const char *options)
{
	char text[256];

	snprintf(text, sizeof text,
		"22 1 8:1 / / rw - ext4 /dev/vda rw\n24 22 0:5 / /proc rw,relatime - proc proc rw%s\n",
		options);
	fake_root_write("/proc/self/mountinfo", text);
}

START_TEST(processes_are_shown_or_not)
{
	none("hidepid", "does not report it");
	mount_proc("");
	yes("hidepid", "all processes");
	mount_proc(",gid=4,hidepid=invisible");
	no("hidepid", "(hidepid=invisible)", "sudo mount -o remount,hidepid=0 /proc");
	doctor_system.uid = 0;
	yes("hidepid", "all processes");
	mount_proc(",subset=pid");
	no("hidepid", "subset=pid", "mount -t proc proc /proc");
	doctor_system.uid = 1000;
	mount_proc(",hidepid=0");
	yes("hidepid", "all processes");
}
END_TEST

START_TEST(user_ids_are_the_same_outside_or_not)
{
	none("user_namespace", "has none");
	fake_root_write("/proc/self/uid_map", "         0          0 4294967295\n");
	yes("user_namespace", "user ids are the same outside");
	fake_root_write("/proc/self/uid_map", "         0     100000      65536\n");
	no("user_namespace", "uid 0 here is uid 100000 outside", NULL);
}
END_TEST

START_TEST(a_container_is_recognised_or_not)
{
	fake_root_write("/proc/self/cgroup", "0::/user.slice/user-1000.slice/session-1.scope\n");
	yes("container", "in none");
	fake_root_write("/proc/self/cgroup", "0::/kubepods.slice/kubepods-pod7.slice/cri.scope\n");
	none("container", "(kubepods)");
	fake_root_write("/.dockerenv", "");
	none("container", "(docker)");
	fake_root_write("/run/systemd/container", "systemd-nspawn\n");
	none("container", "(systemd-nspawn)");
}
END_TEST

#define N(array) (sizeof array / sizeof array[0])

static const struct unit_test kernel_tests[] = {
	UNIT_LOOP(an_event_is_permitted_or_not, N(events)),
	UNIT_TEST(the_call_is_reachable_or_not),
	UNIT_TEST(counters_that_are_not_there_are_no_refusal),
	UNIT_TEST(rings_are_limited_or_not),
	UNIT_TEST(the_rate_was_lowered_or_not),
	UNIT_TEST(other_users_programs_can_be_read_or_not),
	UNIT_TEST(a_setting_that_root_may_not_change_is_one_of_the_machine),
	UNIT_TEST(ptrace_is_as_yama_says),
	UNIT_TEST(bpf_is_permitted_or_not),
	UNIT_TEST(tracefs_is_mounted_or_not),
	UNIT_TEST(kernel_symbols_are_shown_or_not),
	UNIT_TEST(the_kernel_is_locked_down_or_not),
	{NULL},
};

static const struct unit_test device_tests[] = {
	UNIT_TEST(cgroups_are_of_version_2_or_not),
	UNIT_TEST(pressure_is_available_or_not),
	UNIT_TEST(an_npu_tells_its_busy_time_or_not),
	UNIT_TEST(filters_are_on_or_not),
	UNIT_TEST(processes_are_shown_or_not),
	UNIT_TEST(user_ids_are_the_same_outside_or_not),
	UNIT_TEST(a_container_is_recognised_or_not),
	{NULL},
};

static const struct unit cases[] = {
	{"kernel", .set_up = doctor_fixture_make, .tear_down = doctor_fixture_remove,
		.tests = kernel_tests},
	{"devices", .set_up = doctor_fixture_make, .tear_down = doctor_fixture_remove,
		.tests = device_tests},
	{NULL},
};

UNIT_MAIN_OF("doctor_kernel", cases)
