/* SPDX-License-Identifier: Apache-2.0 */
/* Opening perf events; see perf_event.h and perf_event_open(2). */
#include "daemon/pipeline/samples/perf_event.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/kernel/descriptors.h"
#include "daemon/kernel/proc_file.h"

#define DRAINS_HZ 10
/* Stacks a second of each event PERF_USE_SWITCHES: for a thread and a processor. */
#define SWITCH_SAMPLES_HZ 99
/* It has room for 13,000 switches of threads. */
#define RING_USUAL_BYTES ((size_t)1 << 20)
/* Since Linux 6.0; it is an enumerator, so the preprocessor cannot tell whether it is known. */
#define READ_LOST (1u << 4)

/* --- remedies --------------------------------------------------------------------------------- */

#define COMMAND_BYTES 192

static bool sysctl_read(const struct perf_opener *o, const char *name, long long *out)
{
	char path[PATH_MAX];
	char text[64];

	snprintf(path, sizeof path, "%s/proc/sys/kernel/%s", o->root, name);
	return !proc_file_read(AT_FDCWD, path, text, sizeof text) && sscanf(text, "%lld", out) == 1;
}

/* Writes what to do: "run: sudo sysctl -w kernel.NAME=VALUE". Returns |out|. */
static const char *write_sysctl(
	const struct perf_opener *o, const char *name, long long value, char out[COMMAND_BYTES])
{
	char path[PATH_MAX];
	bool is_root = geteuid() == 0;

	snprintf(path, sizeof path, "%s/proc/sys/kernel/%s", o->root, name);
	snprintf(out, COMMAND_BYTES, "run%s: %ssysctl -w kernel.%s=%lld",
		is_root && access(path, W_OK) ? " outside of this container" : "",
		is_root ? "" : "sudo ", name, value);
	return out;
}

/* --- why no event is possible ----------------------------------------------------------------- */

static int refuse_access(const struct perf_opener *o, int r, struct diag *d)
{
	char command[COMMAND_BYTES];
	long long paranoid;

	if (!sysctl_read(o, "perf_event_paranoid", &paranoid) || paranoid < 3)
		return diag_set(d, r,
			"CPU samples: a security module of the kernel forbids perf events; run "
			"proftapd outside of its confinement");
	return diag_set(d, r, "CPU samples: perf_event_paranoid is %lld, which forbids them; %s",
		paranoid, write_sysctl(o, "perf_event_paranoid", 2, command));
}

static int refuse_settings(const struct perf_opener *o, int r, struct diag *d)
{
	char command[COMMAND_BYTES];
	long long limit_hz;

	if (!sysctl_read(o, "perf_event_max_sample_rate", &limit_hz) || o->rate_hz <= limit_hz)
		return diag_set(d, r,
			"CPU samples: the kernel does not accept the settings of the events; use "
			"Linux 4.3 or later");
	return diag_set(d, r,
		"CPU samples: %u Hz is above the kernel's limit of %lld Hz; ask for less, or %s",
		o->rate_hz, limit_hz,
		write_sysctl(o, "perf_event_max_sample_rate", 100000, command));
}

/* Explains why the kernel refuses an event even of this thread itself. Returns |r|. */
static int refuse_all(const struct perf_opener *o, int r, struct diag *d)
{
	char text[PERF_SHORTAGE_BYTES];

	switch (r) {
	case -EACCES:
		return refuse_access(o, r, d);
	case -EPERM:
		return diag_set(d, r,
			"CPU samples: a filter of system calls forbids perf_event_open; start the "
			"container with --cap-add PERFMON, or run proftapd outside of it");
	case -ENOSYS:
		return diag_set(d, r,
			"CPU samples: this kernel was built without CONFIG_PERF_EVENTS; boot one "
			"that has it");
	case -EINVAL:
		return refuse_settings(o, r, d);
	default:
		return diag_set(d, r, "CPU samples: %s",
			perf_opener_write_shortage(o, &(struct perf_need){.pid = 0}, r, text));
	}
}

/* --- why a process is refused ----------------------------------------------------------------- */

/* Explains that this server lacks a capability. |why| is what the process has. Returns |r|. */
static int refuse_rights(pid_t pid, const char *why, int r, struct diag *d)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._+-";
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	const char *quote;

	path[n > 0 ? n : 0] = '\0';
	quote = path[strspn(path, plain)] ? "'" : "";
	if (geteuid() == 0)
		return diag_set(d, r,
			"CPU samples of process %d: %s; root lacks cap_perfmon,cap_sys_ptrace "
			"here: start the container with them, or run proftapd outside of it",
			(int)pid, why);
	return diag_set(d, r,
		"CPU samples of process %d: %s; run: sudo setcap cap_perfmon,cap_sys_ptrace+ep "
		"%s%.256s%s and start it again",
		(int)pid, why, quote, path, quote);
}

static int refuse_access_to(const struct perf_opener *o, pid_t pid, int r, struct diag *d)
{
	char path[PATH_MAX];
	char why[96] = "it has rights that this server lacks";
	struct stat st;

	snprintf(path, sizeof path, "%s/proc/%d", o->root, (int)pid);
	if (!stat(path, &st) && st.st_uid != geteuid())
		snprintf(why, sizeof why, "it belongs to user %u, this server to user %u",
			(unsigned)st.st_uid, (unsigned)geteuid());
	return refuse_rights(pid, why, r, d);
}

/* Writes the remedy for too little memory that the user may lock. */
static void write_no_rings(
	const struct perf_opener *o, const struct perf_need *need, char out[PERF_SHORTAGE_BYTES])
{
	size_t kib = need->n_rings * ((PERF_RING_MIN_BYTES + (size_t)sysconf(_SC_PAGESIZE)) / 1024);
	size_t n_cpus = need->n_cpus ? need->n_cpus : 1;
	char command[COMMAND_BYTES];
	long long limit_kib = 0;

	/* The limit is for each processor, and others' rings have used up the present one. */
	sysctl_read(o, "perf_event_mlock_kb", &limit_kib);
	write_sysctl(o, "perf_event_mlock_kb", limit_kib + (long long)((kib + n_cpus - 1) / n_cpus),
		command);
	snprintf(out, PERF_SHORTAGE_BYTES,
		"this user may lock no more memory for rings, perf_event_mlock_kb is %lld; %s",
		limit_kib, command);
}

const char *perf_opener_write_shortage(const struct perf_opener *o, const struct perf_need *need,
	int r, char out[PERF_SHORTAGE_BYTES])
{
	struct rlimit limit = {0, 0};

	if (r == -ENOBUFS) {
		write_no_rings(o, need, out);
	} else if (r == -EMFILE) {
		getrlimit(RLIMIT_NOFILE, &limit);
		snprintf(out, PERF_SHORTAGE_BYTES,
			"all %llu descriptors are in use; run: %sprlimit --pid %d --nofile=%llu",
			(unsigned long long)limit.rlim_cur, geteuid() ? "sudo " : "", (int)getpid(),
			4ull * limit.rlim_cur);
	} else {
		snprintf(out, PERF_SHORTAGE_BYTES, "%s", errno_words(r));
	}
	return out;
}

int perf_opener_refuse(
	const struct perf_opener *o, const struct perf_need *need, int r, struct diag *d)
{
	char text[PERF_SHORTAGE_BYTES];

	if (r == -ESRCH || r == -ENOENT)
		return diag_set(
			d, -ESRCH, "CPU samples of process %d: it has ended", (int)need->pid);
	if (r == -EACCES || r == -EPERM)
		return refuse_access_to(o, need->pid, r, d);
	return diag_set(d, r, "CPU samples of process %d: %s", (int)need->pid,
		perf_opener_write_shortage(o, need, r, text));
}

/* --- opening ---------------------------------------------------------------------------------- */

/*
 * The clock must be the same for all events that write to a ring. The event belongs to the calling
 * thread, so the ring outlives the threads that are sampled.
 */
static struct perf_event_attr make_ring_attr(void)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

static uint32_t choose_stack_bytes(const struct perf_opener *o, size_t ring_bytes)
{
	size_t most = ring_bytes / 4;

	return o->stack_bytes < most ? o->stack_bytes : (uint32_t)most;
}

/* The kernel turns the rate of this event into a fixed period. */
static struct perf_event_attr make_sampling_attr(const struct perf_opener *o, size_t ring_bytes)
{
	uint64_t type = o->layout.sample_type;
	bool has_registers = type & PERF_SAMPLE_REGS_USER;
	bool has_stack = type & PERF_SAMPLE_STACK_USER;

	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = o->rate_hz,
		.sample_type = type,
		.sample_id_all = 1,
		.sample_regs_user = has_registers ? o->layout.processor->mask : 0,
		.sample_stack_user = has_stack ? choose_stack_bytes(o, ring_bytes) : 0,
		.exclude_kernel = !o->has_kernel,
		.exclude_callchain_kernel = !o->has_kernel,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.context_switch = o->has_switches,
		.build_id = o->has_build_ids,
		.read_format = o->has_lost ? READ_LOST : 0,
	};
}

/*
 * The kernel limits the rate. The period of a sample is not the number of switches since the last
 * one, but what the kernel found it should be, and may be five times that.
 */
static struct perf_event_attr make_switches_attr(const struct perf_opener *o, size_t ring_bytes)
{
	bool has_stack = o->layout.sample_type & PERF_SAMPLE_STACK_USER;

	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.freq = 1,
		.sample_freq = SWITCH_SAMPLES_HZ,
		.sample_type = o->layout.sample_type,
		.sample_id_all = 1,
		.sample_regs_user = o->layout.sample_type & PERF_SAMPLE_REGS_USER
					    ? o->layout.processor->mask
					    : 0,
		.sample_stack_user = has_stack ? choose_stack_bytes(o, ring_bytes) / 2 : 0,
		.exclude_callchain_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.read_format = o->has_lost ? READ_LOST : 0,
	};
}

static int open_event(struct perf_opener *o, const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	fd = descriptors_keep(fd, DESCRIPTORS_OF_CHILDREN);
	if (fd < 0)
		return -errno;
	o->n_fds++;
	return fd;
}

int perf_opener_open(
	struct perf_opener *o, enum perf_use use, pid_t tid, int cpu, size_t ring_bytes)
{
	struct perf_event_attr attr = use == PERF_USE_RING ? make_ring_attr()
				      : use == PERF_USE_SWITCHES
					      ? make_switches_attr(o, ring_bytes)
					      : make_sampling_attr(o, ring_bytes);

	if (use == PERF_USE_INHERITED || use == PERF_USE_SWITCHES) {
		attr.inherit = 1;
		attr.inherit_thread = 1;
	} else {
		attr.watermark = 1;
		attr.wakeup_watermark = (uint32_t)(ring_bytes / 2);
	}
	return open_event(o, &attr, tid, cpu);
}

uint64_t perf_opener_read_lost(const struct perf_opener *o, int fd)
{
	uint64_t v[2]; /* the event's count, the lost records */

	if (!o->has_lost || read(fd, v, sizeof v) != (ssize_t)sizeof v)
		return 0;
	return v[1];
}

uint64_t perf_opener_close(struct perf_opener *o, int fd)
{
	uint64_t n_lost = perf_opener_read_lost(o, fd);

	close(fd);
	o->n_fds--;
	return n_lost;
}

/* Returns the largest power of two that is at most |n|, which is not 0. */
static size_t floor_power(size_t n)
{
	return (size_t)1 << (63 - __builtin_clzll(n));
}

static size_t choose_ring_bytes(const struct perf_opener *o)
{
	/* A chain has 127 addresses at most, unless root has changed that. */
	size_t record_bytes = 512 + (o->stack_bytes ? o->stack_bytes : 1024);
	/* At least twice what a busy thread, or processor, writes between two drains. */
	size_t n_bytes = floor_power(4 * record_bytes * o->rate_hz / DRAINS_HZ + 1);

	return n_bytes < RING_USUAL_BYTES ? RING_USUAL_BYTES : n_bytes;
}

/* --- trying ----------------------------------------------------------------------------------- */

/* Tries an event of this thread with all that |o| has. 0 or a negative errno. */
static int opener_try(struct perf_opener *o)
{
	struct perf_event_attr attr = make_sampling_attr(o, o->ring_bytes);
	int fd;

	attr.disabled = 1;
	attr.inherit = o->has_inherit_thread;
	attr.inherit_thread = o->has_inherit_thread;
	fd = open_event(o, &attr, 0, -1);
	if (fd < 0)
		return fd;
	perf_opener_close(o, fd);
	return 0;
}

/*
 * Gives up the youngest feature that |o| has: a kernel that lacks one lacks younger ones, too.
 * false: there is none left.
 */
static bool opener_give_up_feature(struct perf_opener *o)
{
	bool *features[] = {&o->has_lost, &o->has_inherit_thread, &o->has_build_ids};

	for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
		if (!*features[i])
			continue;
		*features[i] = false;
		return true;
	}
	return false;
}

/* Finds out what this kernel knows and permits. 0 or a negative errno. */
static int opener_probe(struct perf_opener *o)
{
	int r;

	/*
	 * The kernel reads the attributes first: EFAULT for NULL means that the call itself is
	 * permitted.
	 */
	if (syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) < 0 && errno != EFAULT)
		return -errno;
	for (;;) {
		r = opener_try(o);
		if ((r == -EACCES || r == -EPERM) && o->has_kernel)
			o->has_kernel = false;
		else if (r != -EINVAL || !opener_give_up_feature(o))
			return r;
	}
}

static uint64_t choose_sample_type(const struct perf_opener *o)
{
	const struct perf_processor *processor = o->layout.processor;

	if (o->stack_bytes)
		return PERF_SAMPLED_ALWAYS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	/* A chain lacks the caller of a function without a frame; it is in the link register. */
	if (processor && processor->number[PERF_REGISTER_LR] != PERF_NO_REGISTER)
		return PERF_SAMPLED_ALWAYS | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
	return PERF_SAMPLED_ALWAYS | PERF_SAMPLE_CALLCHAIN;
}

int perf_opener_init(struct perf_opener *o, const struct perf_options *options, struct diag *d)
{
	const struct perf_processor *processor = perf_processor_get_own();
	int r;

	*o = (struct perf_opener){
		.root = options->root,
		.rate_hz = options->rate_hz,
		.stack_bytes = processor ? options->stack_bytes : 0,
		.has_switches = options->has_switches,
		.layout.processor = processor,
		.layout.period_ns = NS_PER_S / options->rate_hz,
		.has_kernel = true,
		.has_lost = true,
		.has_inherit_thread = true,
		.has_build_ids = true,
	};
	o->layout.sample_type = choose_sample_type(o);
	o->ring_bytes = choose_ring_bytes(o);
	r = opener_probe(o);
	return r ? refuse_all(o, r, d) : 0;
}
