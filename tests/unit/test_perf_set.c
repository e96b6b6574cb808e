/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the perf events of a capture. The kernel samples a child process here, which does what
 * it is told. Where it refuses to, the tests say so and pass.
 */
#include "daemon/pipeline/samples/perf_set.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/pipeline/samples/perf_event.h"
#include "daemon/pipeline/samples/perf_record.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define RATE_HZ 997
#define STACK_BYTES 16384
#define NOBODY 65534
#define MAX_THREADS 129
#define MAX_SEEN 400000

/* --- the child -------------------------------------------------------------------------------- */

enum order {
	BURN,
	PIN,
	START_THREAD,
	BURN_IN_THREAD,
	END_THREAD,
	BURN_IN_CHILD,
	PING,
	END
};

struct message {
	enum order order;
	uint64_t n; /* milliseconds, or rounds */
};

struct player {
	pid_t pid;
	int orders;
	int answers;
};

static const uint64_t magic = 0x5ca1ab1e0ddba115;

/* Uses processor time, with a known number on the stack, which AddressSanitizer might move. */
static __attribute__((noinline, no_sanitize_address)) void burn(uint64_t ms)
{
	volatile uint64_t mark[2] = {magic, magic};
	int64_t end_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + (int64_t)ms * NS_PER_MS;

	while (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		for (int i = 0; i < 100000; i++)
			mark[1]++;
}

/* A thread that serves orders of the child's main thread. */
struct helper {
	pthread_t thread;
	int orders[2];
	int answers[2];
};

static struct helper helpers[MAX_THREADS];
static int n_helpers;

static void *help(void *context)
{
	struct helper *helper = context;
	struct message m = {END, gettid()};

	if (write(helper->answers[1], &m, sizeof m) != sizeof m)
		abort();
	while (read(helper->orders[0], &m, sizeof m) == sizeof m && m.order != END) {
		if (m.order == BURN)
			burn(m.n);
		if (write(helper->answers[1], &m, sizeof m) != sizeof m)
			abort();
	}
	return NULL;
}

static void ask_helper(struct helper *helper, struct message *m)
{
	if (write(helper->orders[1], m, sizeof *m) != sizeof *m ||
		read(helper->answers[0], m, sizeof *m) != sizeof *m)
		abort();
}

/* Answers with the id of the new thread. */
static void start_helper(struct message *m)
{
	struct helper *helper = &helpers[n_helpers++];

	if (pipe(helper->orders) || pipe(helper->answers) ||
		pthread_create(&helper->thread, NULL, help, helper) ||
		read(helper->answers[0], m, sizeof *m) != sizeof *m)
		abort();
}

static void end_helper(void)
{
	struct helper *helper = &helpers[--n_helpers];
	struct message m = {END, 0};

	if (write(helper->orders[1], &m, sizeof m) != sizeof m ||
		pthread_join(helper->thread, NULL))
		abort();
}

static uint64_t count_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/* Stays on this processor. Threads that start later do so, too. */
static void pin(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof cpus, &cpus))
		abort();
}

/* Answers with the number of times that a thread of the process has left its processor. */
static void ping(struct message *m)
{
	uint64_t before = count_switches();
	struct message inner = {PING, 0};

	for (uint64_t i = 0; i < m->n; i++)
		ask_helper(&helpers[n_helpers - 1], &inner);
	m->n = count_switches() - before;
}

static void burn_in_child(uint64_t ms)
{
	pid_t pid = fork();

	if (!pid) {
		burn(ms);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void obey(struct message *m)
{
	struct message inner = {BURN, m->n};

	switch (m->order) {
	case BURN:
		burn(m->n);
		break;
	case PIN:
		pin();
		break;
	case START_THREAD:
		start_helper(m);
		break;
	case BURN_IN_THREAD:
		ask_helper(&helpers[n_helpers - 1], &inner);
		break;
	case END_THREAD:
		end_helper();
		break;
	case BURN_IN_CHILD:
		burn_in_child(m->n);
		break;
	case PING:
		ping(m);
		break;
	case END:
		_exit(0);
	}
}

static void play(int orders, int answers)
{
	struct message m;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(orders, &m, sizeof m) == sizeof m) {
		obey(&m);
		if (write(answers, &m, sizeof m) != sizeof m)
			break;
	}
	_exit(0);
}

static void player_start(struct player *p)
{
	int orders[2];
	int answers[2];

	ck_assert_int_eq(pipe(orders), 0);
	ck_assert_int_eq(pipe(answers), 0);
	p->pid = fork();
	ck_assert_int_ge(p->pid, 0);
	if (!p->pid) {
		close(orders[1]);
		close(answers[0]);
		play(orders[0], answers[1]);
	}
	close(orders[0]);
	close(answers[1]);
	p->orders = orders[1];
	p->answers = answers[0];
}

/* Gives an order, waits until it is carried out, and returns the answer. */
static uint64_t player_do(struct player *p, enum order order, uint64_t n)
{
	struct message m = {order, n};

	ck_assert_int_eq(write(p->orders, &m, sizeof m), sizeof m);
	ck_assert_int_eq(read(p->answers, &m, sizeof m), sizeof m);
	return m.n;
}

static void player_end(struct player *p)
{
	struct message m = {END, 0};

	if (!p->pid)
		return;
	ck_assert_int_eq(write(p->orders, &m, sizeof m), sizeof m);
	waitpid(p->pid, NULL, 0);
	close(p->orders);
	close(p->answers);
	p->pid = 0;
}

/* --- the set under test ----------------------------------------------------------------------- */

static struct player player;
static struct perf_set *set;
static struct diag diag;

/* One record that a drain has found. */
struct seen {
	enum perf_kind kind;
	pid_t pid;
	pid_t tid;
	uint32_t cpu;
	int64_t at_ns;
	enum perf_switch change;
};

static struct seen *seen;
static size_t n_seen;
static uint64_t n_waits; /* samples of switches */

static void set_up(void)
{
	fake_root_make();
	fake_root_link("/proc", "/proc");
	seen = malloc(MAX_SEEN * sizeof *seen);
	ck_assert_ptr_nonnull(seen);
	player_start(&player);
}

static void tear_down(void)
{
	perf_set_close(set);
	player_end(&player);
	free(seen);
	fake_root_remove();
}

/* Returns false, and says so, if the kernel refuses perf events. */
static bool set_open(const char *root, unsigned rate_hz, unsigned stack_bytes)
{
	struct perf_options options = {root, rate_hz, stack_bytes, true};

	if (!perf_set_open(&set, &options, &diag))
		return true;
	ck_assert_str_ne(diag.text, "");
	fprintf(stderr, "not tested: %s\n", diag.text);
	return false;
}

enum shape {
	BY_PROCESSOR,
	BY_THREAD,
	N_SHAPES
};

/* With so many processors, each thread has one event. Such events are not tied to processors. */
static bool set_open_shape(enum shape shape, unsigned rate_hz, unsigned stack_bytes)
{
	fake_root_write("/sys/devices/system/cpu/online", "0-16383\n");
	return set_open(shape == BY_THREAD ? fake_root : "", rate_hz, stack_bytes);
}

static void take(void *context, const struct perf_record *record)
{
	ck_assert_ptr_eq(context, set);
	ck_assert_uint_lt(n_seen, MAX_SEEN);
	if (record->kind == PERF_KIND_SAMPLE && record->sample.is_switch) {
		n_waits++;
		return;
	}
	seen[n_seen++] = (struct seen){
		.kind = record->kind,
		.pid = record->pid,
		.tid = record->tid,
		.cpu = record->cpu,
		.at_ns = record->at_ns,
		.change = record->kind == PERF_KIND_SWITCH ? record->change : PERF_SWITCH_IN,
	};
}

static unsigned drain(void)
{
	return perf_set_drain(set, take, set);
}

static void add(pid_t pid)
{
	int r = perf_set_add_process(set, pid, &diag);

	ck_assert_msg(r == 0, "%d: %s", r, diag.text);
	/* The tests do not count the records of what the process did before. */
	drain();
	n_seen = 0;
	n_waits = 0;
}

static uint64_t count(enum perf_kind kind, pid_t tid)
{
	uint64_t n = 0;

	for (size_t i = 0; i < n_seen; i++)
		n += seen[i].kind == kind && seen[i].tid == tid;
	return n;
}

static struct perf_counts get_counts(void)
{
	struct perf_counts counts;

	perf_set_count(set, &counts);
	return counts;
}

/* Lets a thread burn, and drains so often that even small rings have room. */
static void burn_and_drain(enum order order, uint64_t ms)
{
	for (uint64_t i = 0; i < ms; i += 10) {
		player_do(&player, order, 10);
		drain();
	}
}

/* If kernel code is not sampled, there are fewer samples than the processor time would give. */
static void check_samples(pid_t tid, uint64_t ms)
{
	uint64_t expected = ms * RATE_HZ / 1000;
	uint64_t part = perf_set_has_kernel(set) ? 20 : 5;
	uint64_t n = count(PERF_KIND_SAMPLE, tid);

	ck_assert_uint_eq(get_counts().n_lost, 0);
	ck_assert_msg(n + expected / part + 3 >= expected && n <= expected + expected / 20 + 3,
		"%zu samples, expected %zu", (size_t)n, (size_t)expected);
}

/* --- samples ---------------------------------------------------------------------------------- */

START_TEST(samples_the_processor_time_of_a_thread)
{
	struct perf_counts counts;

	if (!set_open_shape(_i, RATE_HZ, STACK_BYTES))
		return;
	add(player.pid);
	burn_and_drain(BURN, 300);
	check_samples(player.pid, 300);
	counts = get_counts();
	ck_assert_uint_eq(counts.n_lost, 0);
	ck_assert_uint_eq(counts.n_broken, 0);
	ck_assert_uint_eq(counts.n_repeated, 0);
	ck_assert_uint_eq(counts.n_uncovered, 0);
}
END_TEST

static size_t n_marked;
static size_t n_user_samples;

/* Finds the number that burn() has on its stack. */
static bool has_mark(const struct perf_sample *sample)
{
	return memmem(sample->stack, sample->n_stack_bytes, &magic, sizeof magic);
}

static void take_stack(void *context, const struct perf_record *record)
{
	const struct perf_sample *sample = &record->sample;

	(void)context;
	if (record->kind != PERF_KIND_SAMPLE || sample->is_switch)
		return;
	ck_assert_uint_eq(sample->period, NS_PER_S / RATE_HZ);
	ck_assert_uint_eq(sample->registers.bits, 8 * sizeof(void *));
	ck_assert_uint_ne(perf_registers_get(&sample->registers, PERF_REGISTER_SP), 0);
	ck_assert_uint_gt(sample->n_stack_bytes, 0);
	ck_assert_uint_le(sample->n_stack_bytes, STACK_BYTES);
	if (sample->is_in_kernel)
		return;
	ck_assert_uint_eq(perf_registers_get(&sample->registers, PERF_REGISTER_IP), sample->ip);
	n_user_samples++;
	n_marked += has_mark(sample);
}

START_TEST(samples_have_registers_and_the_stack)
{
	if (!set_open_shape(_i, RATE_HZ, STACK_BYTES))
		return;
	add(player.pid);
	player_do(&player, BURN, 50);
	perf_set_drain(set, take_stack, NULL);
	ck_assert_uint_gt(n_user_samples, 20);
	/* A sample may fall into another function. */
	ck_assert_uint_ge(n_marked, n_user_samples * 9 / 10);
}
END_TEST

static void take_chain(void *context, const struct perf_record *record)
{
	const struct perf_sample *sample = &record->sample;

	if (record->kind != PERF_KIND_SAMPLE || sample->is_switch)
		return;
	++*(size_t *)context;
	ck_assert_uint_ge(sample->chain.n, 2);
	ck_assert(perf_words_get(&sample->chain, 0) >= (uint64_t)PERF_CONTEXT_MAX);
	ck_assert_uint_eq(perf_words_get(&sample->chain, 1), sample->ip);
	ck_assert_ptr_null(sample->stack);
}

START_TEST(samples_have_a_chain_instead)
{
	size_t n = 0;

	if (!set_open_shape(_i, RATE_HZ, 0))
		return;
	add(player.pid);
	player_do(&player, BURN, 50);
	perf_set_drain(set, take_chain, &n);
	ck_assert_uint_gt(n, 20);
}
END_TEST

START_TEST(times_lie_between_two_readings_of_the_clock)
{
	int64_t before_ns;
	int64_t after_ns;
	size_t n = 0;

	if (!set_open_shape(_i, RATE_HZ, STACK_BYTES))
		return;
	add(player.pid);
	before_ns = monotonic_ns();
	player_do(&player, BURN, 50);
	after_ns = monotonic_ns();
	drain();
	for (size_t i = 0; i < n_seen; i++) {
		n += seen[i].at_ns >= before_ns && seen[i].at_ns <= after_ns;
		ck_assert_int_ge(seen[i].at_ns, before_ns);
		/* The child leaves its processor after it has answered. */
		if (seen[i].kind == PERF_KIND_SAMPLE)
			ck_assert_int_le(seen[i].at_ns, after_ns);
	}
	ck_assert_uint_gt(n, 40);
}
END_TEST

/* --- threads and processes -------------------------------------------------------------------- */

/* Drains until the thread has an event, which takes some time if it inherits none. */
static void drain_until_due(void)
{
	int64_t end_ns = monotonic_ns() + 60 * NS_PER_MS;

	do
		drain();
	while (monotonic_ns() < end_ns);
}

START_TEST(covers_a_thread_that_starts_later)
{
	pid_t first;
	pid_t second;

	if (!set_open_shape(_i, RATE_HZ, STACK_BYTES))
		return;
	add(player.pid);
	first = (pid_t)player_do(&player, START_THREAD, 0);
	drain_until_due();
	burn_and_drain(BURN_IN_THREAD, 100);
	second = (pid_t)player_do(&player, START_THREAD, 0);
	drain_until_due();
	burn_and_drain(BURN_IN_THREAD, 150);
	check_samples(first, 100);
	check_samples(second, 150);
	ck_assert_uint_eq(get_counts().n_uncovered, 0);
}
END_TEST

START_TEST(covers_all_threads_that_run_already)
{
	pid_t tids[10];

	for (size_t i = 0; i < 10; i++)
		tids[i] = (pid_t)player_do(&player, START_THREAD, 0);
	if (!set_open_shape(_i, RATE_HZ, STACK_BYTES))
		return;
	add(player.pid);
	for (size_t i = 10; i-- > 0;) {
		burn_and_drain(BURN_IN_THREAD, 30);
		player_do(&player, END_THREAD, 0);
	}
	for (size_t i = 0; i < 10; i++)
		check_samples(tids[i], 30);
}
END_TEST

START_TEST(does_not_cover_children)
{
	if (!set_open_shape(_i, RATE_HZ, STACK_BYTES))
		return;
	add(player.pid);
	player_do(&player, BURN_IN_CHILD, 50);
	drain();
	ck_assert_uint_eq(count(PERF_KIND_FORK, player.pid), 1);
	for (size_t i = 0; i < n_seen; i++)
		ck_assert(seen[i].kind != PERF_KIND_SAMPLE || seen[i].pid == player.pid);
}
END_TEST

START_TEST(adds_and_removes_processes_while_others_run)
{
	struct player other;

	player_start(&other);
	if (!set_open_shape(_i, RATE_HZ, STACK_BYTES)) {
		player_end(&other);
		return;
	}
	add(player.pid);
	player_do(&player, BURN, 30);
	ck_assert_int_eq(perf_set_add_process(set, other.pid, &diag), 0);
	ck_assert_int_eq(perf_set_add_process(set, other.pid, &diag), 0);
	player_do(&other, BURN, 50);
	drain();
	perf_set_remove_process(set, other.pid);
	player_do(&other, BURN, 50);
	player_do(&player, BURN, 30);
	drain();
	check_samples(player.pid, 60);
	check_samples(other.pid, 50);
	player_end(&other);
}
END_TEST

static size_t count_descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

START_TEST(ended_threads_keep_no_rings)
{
	size_t n_before;

	player_do(&player, START_THREAD, 0); /* ThreadSanitizer starts one of its own now */
	if (!set_open_shape(BY_THREAD, RATE_HZ, STACK_BYTES))
		return;
	add(player.pid);
	n_before = count_descriptors();
	for (int i = 0; i < 5; i++)
		player_do(&player, START_THREAD, 0);
	drain_until_due();
	ck_assert_uint_eq(count_descriptors(), n_before + 5);
	player_do(&player, BURN_IN_THREAD, 50);
	for (int i = 0; i < 5; i++)
		player_do(&player, END_THREAD, 0);
	drain();
	ck_assert_uint_eq(count_descriptors(), n_before);
	ck_assert_uint_gt(n_seen, 40);
}
END_TEST

START_TEST(closes_all_descriptors)
{
	size_t n_before = count_descriptors();

	for (int i = 0; i < 5; i++)
		player_do(&player, START_THREAD, 0);
	if (!set_open_shape(_i, RATE_HZ, STACK_BYTES))
		return;
	add(player.pid);
	ck_assert_uint_gt(count_descriptors(), n_before + 5);
	perf_set_close(set);
	set = NULL;
	ck_assert_uint_eq(count_descriptors(), n_before);
}
END_TEST

static void list_thread(pid_t pid, pid_t tid)
{
	char path[128];

	snprintf(path, sizeof path, "/proc/%d/task/%d", (int)pid, (int)tid);
	fake_root_add_folder(path);
}

/* Removes the link to the real /proc. */
static void fake_proc(void)
{
	char path[128];

	snprintf(path, sizeof path, "%s/proc", fake_root);
	ck_assert_int_eq(unlink(path), 0);
}

/* The listed thread with the largest id is none. So is the processor 8000. */
START_TEST(leaves_out_what_is_gone)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	char online[64];

	fake_proc();
	list_thread(player.pid, player.pid);
	list_thread(player.pid, 4194304);
	if (_i == BY_PROCESSOR)
		snprintf(online, sizeof online, "0-%ld,8000\n", n_cpus - 1);
	else
		snprintf(online, sizeof online, "0-16383\n");
	fake_root_write("/sys/devices/system/cpu/online", online);
	if (!set_open(fake_root, RATE_HZ, STACK_BYTES))
		return;
	add(player.pid);
	player_do(&player, BURN, 100);
	drain();
	check_samples(player.pid, 100);
}
END_TEST

START_TEST(tells_that_a_process_has_ended)
{
	pid_t pid = player.pid;

	if (!set_open("", RATE_HZ, STACK_BYTES))
		return;
	player_end(&player);
	ck_assert_int_eq(perf_set_add_process(set, pid, &diag), -ESRCH);
	ck_assert_ptr_nonnull(strstr(diag.text, ": it has ended"));
	/* The same, if it ends after its threads were listed. */
	perf_set_close(set);
	set = NULL;
	fake_proc();
	list_thread(pid, pid);
	ck_assert(set_open(fake_root, RATE_HZ, STACK_BYTES));
	ck_assert_int_eq(perf_set_add_process(set, pid, &diag), -ESRCH);
}
END_TEST

/* --- switches and losses ---------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
	const struct seen *x = a;
	const struct seen *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* Checks that a thread gets and leaves its processor in turn. Returns how often it left. */
static uint64_t check_turns(pid_t tid)
{
	bool is_on = false;
	bool is_first = true;
	uint64_t n = 0;

	for (size_t i = 0; i < n_seen; i++) {
		bool is_in = seen[i].change == PERF_SWITCH_IN;

		if (seen[i].kind != PERF_KIND_SWITCH || seen[i].tid != tid)
			continue;
		ck_assert(is_first || is_in != is_on);
		is_first = false;
		is_on = is_in;
		n += !is_in;
	}
	return n;
}

START_TEST(switches_come_in_pairs)
{
	pid_t tid = (pid_t)player_do(&player, START_THREAD, 0);
	uint64_t n_left;
	uint64_t n;

	if (!set_open_shape(_i, RATE_HZ, 0))
		return;
	add(player.pid);
	n_left = player_do(&player, PING, 500);
	drain();
	qsort(seen, n_seen, sizeof *seen, compare_times);
	n = check_turns(player.pid) + check_turns(tid);
	ck_assert_uint_ge(n_left, 500);
	/* The child also waits for the order before, and after it. */
	ck_assert_uint_ge(n + 2, n_left);
	ck_assert_uint_le(n, n_left + 4);
	/* The kernel limits these by their rate. */
	ck_assert_uint_le(n_waits, n + 8);
	if (_i != BY_THREAD && perf_set_has_kernel(set))
		ck_assert_uint_gt(n_waits, 0);
}
END_TEST

/*
 * A switch makes two records of 40 bytes, so the ring of 1 MiB overflows. The second thread has
 * inherited its events, if it can.
 */
START_TEST(counts_what_is_lost)
{
	uint64_t n_found = 0;
	uint64_t n_marks = 0;
	uint64_t n_switches;
	struct perf_counts counts;

	if (!set_open_shape(_i, 1, 0))
		return;
	add(player.pid);
	player_do(&player, PIN, 0);
	player_do(&player, START_THREAD, 0);
	drain_until_due();
	n_seen = 0;
	n_switches = player_do(&player, PING, 20000);
	ck_assert_uint_ge(drain(), 90);
	counts = get_counts();
	for (size_t i = 0; i < n_seen; i++)
		n_found += seen[i].kind == PERF_KIND_SWITCH;
	ck_assert_uint_gt(counts.n_lost, 0);
	ck_assert_uint_lt(n_found, 2 * n_switches);
	ck_assert_uint_ge(n_found + counts.n_lost + 100, 2 * n_switches);
	ck_assert_uint_le(n_found + counts.n_lost, 2 * n_switches + 100);
	/* A closed ring's losses still count. Its ring has a record of the loss. */
	player_do(&player, PING, 10);
	drain();
	perf_set_remove_process(set, player.pid);
	ck_assert_uint_ge(get_counts().n_lost, counts.n_lost);
	for (size_t i = 0; i < n_seen; i++)
		n_marks += seen[i].kind == PERF_KIND_LOST;
	ck_assert_uint_ge(n_marks, 1);
}
END_TEST

/* --- shortages -------------------------------------------------------------------------------- */

START_TEST(covers_some_threads_if_descriptors_run_out)
{
	struct rlimit usual;
	struct rlimit low;

	for (int i = 0; i < 40; i++)
		player_do(&player, START_THREAD, 0);
	if (!set_open_shape(_i, RATE_HZ, STACK_BYTES))
		return;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
	low = (struct rlimit){80, usual.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
	ck_assert_int_eq(perf_set_add_process(set, player.pid, &diag), PERF_SET_PARTIAL);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
	ck_assert_ptr_nonnull(strstr(diag.text, " threads have none: all 80 descriptors"));
	ck_assert_ptr_nonnull(strstr(diag.text, "prlimit --pid "));
	ck_assert_uint_gt(get_counts().n_uncovered, 5);
	ck_assert_uint_lt(get_counts().n_uncovered, 41);
	player_do(&player, BURN, 50);
	drain();
	ck_assert_uint_gt(count(PERF_KIND_SAMPLE, player.pid), 0);
}
END_TEST

START_TEST(tells_that_descriptors_ran_out)
{
	struct rlimit usual;
	struct rlimit low;

	if (!set_open_shape(_i, RATE_HZ, STACK_BYTES))
		return;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
	low = (struct rlimit){4, usual.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
	ck_assert_int_eq(perf_set_add_process(set, player.pid, &diag), -EMFILE);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
	ck_assert_ptr_nonnull(strstr(diag.text, "all 4 descriptors are in use; run: "));
}
END_TEST

/*
 * Becomes a user who may lock little memory for rings, and restarts the child. Returns false, and
 * says so, if this process cannot.
 */
static bool become_nobody(void)
{
	const struct rlimit none = {0, 0};

	if (geteuid() || setrlimit(RLIMIT_MEMLOCK, &none)) {
		fprintf(stderr, "not tested: this user cannot become another one\n");
		return false;
	}
	player_end(&player);
	chmod(fake_root, 0777);
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
		prctl(PR_SET_DUMPABLE, 1))
		return false;
	player_start(&player);
	return true;
}

static bool is_readable(void)
{
	struct pollfd p = {perf_set_get_fd(set), POLLIN, 0};

	return poll(&p, 1, 0) == 1;
}

/* Checks that a ring wakes the caller when it is half full, until it is drained. */
static void check_that_it_wakes(void)
{
	ck_assert(!is_readable());
	player_do(&player, PING, 10000);
	ck_assert(is_readable());
	drain();
	/* This may begin the next half. */
	player_do(&player, PING, 1);
	drain();
	ck_assert(!is_readable());
	player_do(&player, PING, 1);
	ck_assert(!is_readable());
}

START_TEST(small_rings_of_processors_wake_the_caller)
{
	if (!become_nobody())
		return;
	player_do(&player, PIN, 0);
	player_do(&player, START_THREAD, 0);
	if (!set_open("", 1, 0))
		return;
	add(player.pid);
	check_that_it_wakes();
}
END_TEST

/* All rings together have 128 MiB at most. */
START_TEST(small_rings_of_threads_wake_the_caller)
{
	for (int i = 0; i < MAX_THREADS; i++)
		player_do(&player, START_THREAD, 0);
	if (!set_open_shape(BY_THREAD, 1, 0))
		return;
	if (perf_set_add_process(set, player.pid, &diag))
		fprintf(stderr, "not tested: %s\n", diag.text);
	else
		check_that_it_wakes();
}
END_TEST

START_TEST(rings_become_smaller_until_the_user_may_lock_them)
{
	struct perf_set *others[64] = {NULL};
	struct perf_options options = {
		_i == BY_THREAD ? fake_root : "", RATE_HZ, STACK_BYTES, true};
	int n = 0;
	int r = 0;

	fake_root_write("/sys/devices/system/cpu/online", "0-16383\n");
	if (!become_nobody() || !set_open(options.root, RATE_HZ, STACK_BYTES))
		return;
	add(player.pid);
	player_do(&player, BURN, 50);
	drain();
	ck_assert_uint_gt(count(PERF_KIND_SAMPLE, player.pid), 0);
	for (; !r && n < 64; n++) {
		ck_assert_int_eq(perf_set_open(&others[n], &options, &diag), 0);
		r = perf_set_add_process(others[n], player.pid, &diag);
	}
	if (r) { /* perf_event_paranoid -1 lifts the limit */
		ck_assert_int_eq(r, -ENOBUFS);
		ck_assert_ptr_nonnull(
			strstr(diag.text, "; run: sudo sysctl -w kernel.perf_event_mlock_kb="));
	}
	while (n > 0)
		perf_set_close(others[--n]);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(samples_the_processor_time_of_a_thread, N_SHAPES),
	UNIT_LOOP(samples_have_registers_and_the_stack, N_SHAPES),
	UNIT_LOOP(samples_have_a_chain_instead, N_SHAPES),
	UNIT_LOOP(times_lie_between_two_readings_of_the_clock, N_SHAPES),
	UNIT_LOOP(covers_a_thread_that_starts_later, N_SHAPES),
	UNIT_LOOP(covers_all_threads_that_run_already, N_SHAPES),
	UNIT_LOOP(does_not_cover_children, N_SHAPES),
	UNIT_LOOP(adds_and_removes_processes_while_others_run, N_SHAPES),
	UNIT_TEST(ended_threads_keep_no_rings),
	UNIT_LOOP(closes_all_descriptors, N_SHAPES),
	UNIT_LOOP(leaves_out_what_is_gone, N_SHAPES),
	UNIT_TEST(tells_that_a_process_has_ended),
	UNIT_LOOP(switches_come_in_pairs, N_SHAPES),
	UNIT_LOOP(counts_what_is_lost, N_SHAPES),
	UNIT_LOOP(covers_some_threads_if_descriptors_run_out, N_SHAPES),
	UNIT_LOOP(tells_that_descriptors_ran_out, N_SHAPES),
	UNIT_TEST(small_rings_of_processors_wake_the_caller),
	UNIT_TEST(small_rings_of_threads_wake_the_caller),
	UNIT_LOOP(rings_become_smaller_until_the_user_may_lock_them, N_SHAPES),
	{NULL},
};

UNIT_MAIN("perf_set", .set_up = set_up, .tear_down = tear_down, .timeout_s = 60, .tests = tests)
