/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of opening perf events, on kernels that are older or more restrictive than this one. They
 * replace libc's syscall().
 */
#include "daemon/pipeline/samples/perf_event.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define NOBODY 65534

/* The kernel that the code under test sees. */
static struct {
	int error; /* for each call; 0: the kernel's own answer */
	int error_of_events; /* for calls with attributes */
	unsigned version; /* 1000 * major + minor */
	bool may_sample_kernel;
	bool is_fake; /* it opens /dev/null instead of events */
} kernel;

/* The attributes of the last event that was opened. */
static struct perf_event_attr opened;

/* Returns the error that an older kernel has for an event; 0: none. */
static int refuse_event(const struct perf_event_attr *attr)
{
	if (kernel.error_of_events)
		return kernel.error_of_events;
	if ((kernel.version < 6000 && attr->read_format & 1u << 4) ||
		(kernel.version < 5013 && attr->inherit_thread) ||
		(kernel.version < 5012 && attr->build_id))
		return EINVAL;
	if (!kernel.may_sample_kernel && !attr->exclude_kernel)
		return EACCES;
	return 0;
}

/* Replaces libc's function. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	const struct perf_event_attr *attr;
	long a[5];
	va_list ap;
	int error;

	va_start(ap, number);
	for (int i = 0; i < 5; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number != SYS_perf_event_open)
		return real(number, a[0], a[1], a[2], a[3], a[4]);
	attr = (const struct perf_event_attr *)a[0];
	error = kernel.error ? kernel.error : attr ? refuse_event(attr) : EFAULT;
	if (error) {
		errno = error;
		return -1;
	}
	opened = *attr;
	return kernel.is_fake ? open("/dev/null", O_RDONLY | O_CLOEXEC)
			      : real(number, a[0], a[1], a[2], a[3], a[4]);
}

static struct perf_opener opener;
static struct diag diag;

static void set_up(void)
{
	fake_root_make();
	fake_root_write("/proc/sys/kernel/perf_event_paranoid", "2\n");
	fake_root_write("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
	fake_root_write("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	kernel.version = 6018;
	kernel.may_sample_kernel = true;
	kernel.is_fake = true;
}

static int init(unsigned rate_hz, unsigned stack_bytes)
{
	struct perf_options options = {fake_root, rate_hz, stack_bytes, true};

	return perf_opener_init(&opener, &options, &diag);
}

static void check_text(const char *words)
{
	ck_assert_msg(strstr(diag.text, words) != NULL, "\"%s\" has no \"%s\"", diag.text, words);
}

/* --- what is asked for ------------------------------------------------------------------------ */

static void check_opens(enum perf_use use)
{
	int fd = perf_opener_open(&opener, use, getpid(), use == PERF_USE_THREAD ? -1 : 0, 1 << 20);

	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(opener.n_fds, 1);
	ck_assert_uint_eq(perf_opener_close(&opener, fd), 0);
	ck_assert_uint_eq(opener.n_fds, 0);
}

START_TEST(asks_for_stacks)
{
	ck_assert_int_eq(init(99, 32768), 0);
	ck_assert_uint_eq(opener.n_fds, 0);
	check_opens(PERF_USE_INHERITED);
	ck_assert_uint_eq(opened.type, PERF_TYPE_SOFTWARE);
	ck_assert_uint_eq(opened.config, PERF_COUNT_SW_CPU_CLOCK);
	ck_assert(opened.freq && !opened.disabled && opened.sample_id_all);
	ck_assert_uint_eq(opened.sample_freq, 99);
	ck_assert_uint_eq(opened.sample_type, opener.layout.sample_type);
	ck_assert_uint_eq(opened.sample_regs_user, opener.layout.processor->mask);
	ck_assert_uint_eq(opened.sample_stack_user, 32768);
	ck_assert(opened.inherit && opened.inherit_thread && opened.context_switch);
	ck_assert(opened.use_clockid);
	ck_assert_int_eq(opened.clockid, CLOCK_MONOTONIC);
}
END_TEST

START_TEST(asks_for_chains)
{
	ck_assert_int_eq(init(99, 0), 0);
	check_opens(PERF_USE_THREAD);
	ck_assert(opened.sample_type & PERF_SAMPLE_CALLCHAIN);
	ck_assert(!(opened.sample_type & PERF_SAMPLE_STACK_USER));
	ck_assert_uint_eq(opened.sample_stack_user, 0);
	ck_assert(!opened.inherit);
	ck_assert(opened.watermark);
	ck_assert_uint_eq(opened.wakeup_watermark, 1 << 19);
}
END_TEST

START_TEST(rings_are_held_by_events_that_count_nothing)
{
	ck_assert_int_eq(init(99, 32768), 0);
	check_opens(PERF_USE_RING);
	ck_assert_uint_eq(opened.config, PERF_COUNT_SW_DUMMY);
	ck_assert(opened.exclude_kernel && opened.use_clockid && !opened.inherit);
}
END_TEST

START_TEST(samples_fit_into_a_small_ring)
{
	ck_assert_int_eq(init(99, 32768), 0);
	ck_assert_int_ge(perf_opener_open(&opener, PERF_USE_THREAD, 1, -1, PERF_RING_MIN_BYTES), 0);
	ck_assert_uint_eq(opened.sample_stack_user, PERF_RING_MIN_BYTES / 4);
}
END_TEST

static const struct {
	unsigned rate_hz;
	unsigned stack_bytes;
	size_t ring_bytes;
} sizes[] = {
	{99, 32768, 1 << 20},
	{999, 32768, 8 << 20},
	{4999, 65024, 64 << 20},
	{999, 0, 1 << 20},
	{1, 8, 1 << 20},
};

START_TEST(rings_hold_the_samples_of_200_ms)
{
	ck_assert_int_eq(init(sizes[_i].rate_hz, sizes[_i].stack_bytes), 0);
	ck_assert_uint_eq(opener.ring_bytes, sizes[_i].ring_bytes);
	ck_assert_uint_ge(
		opener.ring_bytes, (size_t)sizes[_i].rate_hz * (sizes[_i].stack_bytes + 250) / 5);
}
END_TEST

/* --- what the kernel has ---------------------------------------------------------------------- */

static const struct {
	unsigned version;
	bool has_lost;
	bool has_inherit_thread;
	bool has_build_ids;
} versions[] = {
	{6000, true, true, true},
	{5019, false, true, true},
	{5013, false, true, true},
	{5012, false, false, true},
	{5011, false, false, false},
	{4017, false, false, false},
};

START_TEST(does_without_what_older_kernels_lack)
{
	kernel.version = versions[_i].version;
	ck_assert_int_eq(init(99, 32768), 0);
	ck_assert(opener.has_lost == versions[_i].has_lost);
	ck_assert(opener.has_inherit_thread == versions[_i].has_inherit_thread);
	ck_assert(opener.has_build_ids == versions[_i].has_build_ids);
	ck_assert(opener.has_kernel);
	ck_assert_int_ge(perf_opener_open(&opener, PERF_USE_THREAD, 1, -1, 1 << 20), 0);
	ck_assert(opened.build_id == versions[_i].has_build_ids);
}
END_TEST

START_TEST(leaves_the_kernel_out_if_it_must)
{
	kernel.version = versions[_i].version;
	kernel.may_sample_kernel = false;
	ck_assert_int_eq(init(99, 0), 0);
	ck_assert(!opener.has_kernel);
	ck_assert(opener.has_build_ids == versions[_i].has_build_ids);
	check_opens(PERF_USE_THREAD);
	ck_assert(opened.exclude_kernel && opened.exclude_callchain_kernel);
}
END_TEST

/* --- refusals --------------------------------------------------------------------------------- */

static void check_refusal(int code, const char *words)
{
	ck_assert_int_eq(init(4999, 32768), code);
	ck_assert_int_eq(diag.code, code);
	check_text(words);
	ck_assert_uint_eq(opener.n_fds, 0);
}

START_TEST(tells_of_a_filter)
{
	kernel.error = EPERM;
	check_refusal(-EPERM, "start the container with --cap-add PERFMON");
}
END_TEST

START_TEST(tells_of_a_kernel_without_perf_events)
{
	kernel.error = ENOSYS;
	check_refusal(-ENOSYS, "built without CONFIG_PERF_EVENTS");
}
END_TEST

/* Debian's kernel refuses the call itself, others an event. */
START_TEST(tells_of_perf_event_paranoid)
{
	fake_root_write("/proc/sys/kernel/perf_event_paranoid", "3\n");
	*(_i ? &kernel.error : &kernel.error_of_events) = EACCES;
	check_refusal(-EACCES, "perf_event_paranoid is 3, which forbids them; run: ");
	check_text("sysctl -w kernel.perf_event_paranoid=2");
	ck_assert(!strstr(diag.text, "sudo") == (geteuid() == 0));
}
END_TEST

START_TEST(tells_of_another_prohibition)
{
	kernel.error = EACCES;
	check_refusal(-EACCES, "a security module");
	fake_root_remove();
	check_refusal(-EACCES, "a security module");
}
END_TEST

START_TEST(tells_of_a_rate_above_the_limit)
{
	fake_root_write("/proc/sys/kernel/perf_event_max_sample_rate", "1000\n");
	kernel.error_of_events = EINVAL;
	check_refusal(-EINVAL, "4999 Hz is above the kernel's limit of 1000 Hz; ask for less, or ");
	check_text("sysctl -w kernel.perf_event_max_sample_rate=100000");
}
END_TEST

START_TEST(tells_of_unknown_settings)
{
	kernel.error_of_events = EINVAL;
	check_refusal(-EINVAL, "use Linux 4.3 or later");
}
END_TEST

START_TEST(tells_of_other_errors)
{
	kernel.error_of_events = EMFILE;
	check_refusal(-EMFILE, "descriptors are in use; run: ");
	kernel.error_of_events = ENOMEM;
	check_refusal(-ENOMEM, "CPU samples: cannot allocate memory");
}
END_TEST

static int refuse(pid_t pid, int r)
{
	struct perf_need need = {pid, 10, 4};

	ck_assert_int_eq(init(99, 32768), 0);
	return perf_opener_refuse(&opener, &need, r, &diag);
}

START_TEST(tells_that_a_process_is_gone)
{
	ck_assert_int_eq(refuse(123, -ESRCH), -ESRCH);
	ck_assert_str_eq(diag.text, "CPU samples of process 123: it has ended");
	ck_assert_int_eq(refuse(123, -ENOENT), -ESRCH);
	ck_assert_int_eq(diag.code, -ESRCH);
}
END_TEST

/* The fake process belongs to this user. */
START_TEST(tells_of_a_process_with_more_rights)
{
	uid_t own = geteuid();

	if (!own)
		ck_assert_int_eq(seteuid(NOBODY), 0);
	ck_assert_int_eq(refuse(123, -EACCES), -EACCES);
	ck_assert_int_eq(seteuid(own), 0);
	check_text("process 123: it has rights that this server lacks; run: sudo setcap "
		   "cap_perfmon,cap_sys_ptrace+ep /");
	check_text("/test_perf_event and start it again");
}
END_TEST

START_TEST(tells_of_the_process_of_another_user)
{
	uid_t own = geteuid();
	char proc[128];

	fake_root_add_folder("/proc/123");
	snprintf(proc, sizeof proc, "%s/proc", fake_root);
	if (own || chmod(fake_root, 0777) || chmod(proc, 0777) || seteuid(NOBODY)) {
		fprintf(stderr, "not tested: this user cannot become another one\n");
		return;
	}
	ck_assert_int_eq(refuse(123, -EACCES), -EACCES);
	check_text("it belongs to user 0, this server to user 65534; run: sudo setcap ");
	ck_assert_int_eq(seteuid(own), 0);
}
END_TEST

START_TEST(tells_root_of_its_container)
{
	if (geteuid()) {
		fprintf(stderr, "not tested: this user is not root\n");
		return;
	}
	ck_assert_int_eq(refuse(123, -EACCES), -EACCES);
	check_text("root lacks cap_perfmon,cap_sys_ptrace here: start the container with them");
}
END_TEST

/* Ten rings of 36 KiB on four processors are 90 KiB for each. */
START_TEST(tells_how_much_memory_must_be_lockable)
{
	size_t ring_kib = 32 + (size_t)sysconf(_SC_PAGESIZE) / 1024;
	char command[64];

	snprintf(command, sizeof command, "sysctl -w kernel.perf_event_mlock_kb=%zu",
		516 + (10 * ring_kib + 3) / 4);
	ck_assert_int_eq(refuse(123, -ENOBUFS), -ENOBUFS);
	check_text("this user may lock no more memory for rings, perf_event_mlock_kb is 516; ");
	check_text(command);
}
END_TEST

#define N_OF(array) (int)(sizeof(array) / sizeof *(array))

static const struct unit_test tests[] = {
	UNIT_TEST(asks_for_stacks),
	UNIT_TEST(asks_for_chains),
	UNIT_TEST(rings_are_held_by_events_that_count_nothing),
	UNIT_TEST(samples_fit_into_a_small_ring),
	UNIT_LOOP(rings_hold_the_samples_of_200_ms, N_OF(sizes)),
	UNIT_LOOP(does_without_what_older_kernels_lack, N_OF(versions)),
	UNIT_LOOP(leaves_the_kernel_out_if_it_must, N_OF(versions)),
	UNIT_TEST(tells_of_a_filter),
	UNIT_TEST(tells_of_a_kernel_without_perf_events),
	UNIT_LOOP(tells_of_perf_event_paranoid, 2),
	UNIT_TEST(tells_of_another_prohibition),
	UNIT_TEST(tells_of_a_rate_above_the_limit),
	UNIT_TEST(tells_of_unknown_settings),
	UNIT_TEST(tells_of_other_errors),
	UNIT_TEST(tells_that_a_process_is_gone),
	UNIT_TEST(tells_of_a_process_with_more_rights),
	UNIT_TEST(tells_of_the_process_of_another_user),
	UNIT_TEST(tells_root_of_its_container),
	UNIT_TEST(tells_how_much_memory_must_be_lockable),
	{NULL},
};

UNIT_MAIN("perf_event", .set_up = set_up, .tear_down = fake_root_remove, .tests = tests)
