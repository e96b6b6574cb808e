/* SPDX-License-Identifier: Apache-2.0 */
/* Forked children; see prefork.h. */
#include "tests/programs/prefork.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <proftap/proftap.h>

#include "tests/programs/ending.h"

#define LIFE_S 60
#define PAUSE_US 1000
#define TURN_US 20000

struct kind {
	const char *name;
	void (*live)(void);
};

static void say_pid(void)
{
	printf("%d\n", (int)getpid());
}

static void do_job(int number)
{
	PTAP_SPAN("job");
	PTAP_COUNTER("jobs", number);
	usleep(PAUSE_US);
}

_Noreturn static void work_from(int number)
{
	for (;; number++)
		do_job(number);
}

_Noreturn void prefork_work(void)
{
	work_from(0);
}

/* The test reads the child's pid only after the child has joined. */
static void live_steady(void)
{
	do_job(0);
	say_pid();
	work_from(1);
}

static void live_nested(void)
{
	PTAP_INSTANT("middle");
	if (fork() == 0) {
		alarm(LIFE_S);
		live_steady();
	}
	pause();
}

static void live_doomed(void)
{
	say_pid();
	/* The first annotation makes the child join; a later capture has the span. */
	PTAP_INSTANT("hello");
	while (!ptap_enabled(1))
		usleep(100);
	PTAP_BEGIN("doomed");
	printf("open\n");
	pause();
}

static void live_exec(void)
{
	{
		PTAP_SPAN("before");
	}
	say_pid();
	execl("/bin/sleep", "sleep", "60", (char *)NULL);
}

static void live_own(void)
{
	int port;
	int result;

	{
		PTAP_SPAN("before");
	}
	port = ptap_server_port();
	result = ptap_server_start(0);
	printf("%d %d %d %d\n", (int)getpid(), result, port, ptap_server_port());
	prefork_work();
}

/*
 * Records an instant in a trace of its own, unless another trace is recorded. At the first call the
 * start precedes the child's first annotation.
 */
static void trace_itself(void)
{
	int started = ptap_trace_start(getenv("TRACE_DIR"), NULL);
	int stopped;

	PTAP_INSTANT("hello");
	stopped = ptap_trace_stop();
	printf(" %d %d", started, stopped);
}

static void live_tracing(void)
{
	printf("%d", (int)getpid());
	trace_itself();
	trace_itself();
	ptap_trace_start(getenv("TRACE_DIR"), NULL);
	printf("\n%s\n", ptap_last_error());
	ptap_trace_stop();
	prefork_work();
}

static void live_idle(void)
{
	PTAP_INSTANT("hello");
	say_pid();
	pause();
}

/* The child ends by itself, with a failure. */
static void live_leaving(void)
{
	PTAP_INSTANT("hello");
	say_pid();
	fflush(stdout);
	_exit(4);
}

/* A thread of the child raises the signal, with spans open. */
static void live_crashing(void)
{
	char thread[] = "culprit 11";

	PTAP_INSTANT("hello");
	say_pid();
	fflush(stdout);
	ending_in_thread(thread);
	pause();
}

static void live_silent(void)
{
	say_pid();
	pause();
}

static const struct kind kinds[] = {
	{"steady", live_steady},
	{"thread", live_steady},
	{"nested", live_nested},
	{"doomed", live_doomed},
	{"exec", live_exec},
	{"own", live_own},
	{"tracing", live_tracing},
	{"idle", live_idle},
	{"leaving", live_leaving},
	{"crashing", live_crashing},
	{"silent", live_silent},
};

static void *fork_one(void *argument)
{
	const struct kind *kind = argument;

	if (fork() == 0) {
		alarm(LIFE_S);
		kind->live();
		_exit(0);
	}
	return NULL;
}

void prefork(char *arguments)
{
	pthread_t thread;

	fflush(stdout);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(kinds[i].name, arguments) != 0)
			continue;
		if (strcmp(arguments, "thread") != 0)
			fork_one((void *)&kinds[i]);
		else if (pthread_create(&thread, NULL, fork_one, (void *)&kinds[i]) == 0)
			pthread_join(thread, NULL);
	}
}

static void start_short(int n_spans)
{
	if (fork())
		return;
	alarm(LIFE_S);
	for (int i = 0; i < n_spans; i++) {
		PTAP_SPAN("short");
	}
	_exit(0);
}

void prefork_churn(char *arguments)
{
	int n = 0;
	int rounds = 0;
	int spans = 0;
	int started = 0;

	sscanf(arguments, "%d %d %d", &n, &rounds, &spans);
	fflush(stdout);
	for (; started < n * rounds; started++) {
		if (started >= n)
			wait(NULL);
		start_short(spans);
	}
	while (wait(NULL) > 0)
		;
	printf("%d\n", started);
}

/*
 * Shared with the crowd: the number of children that have seen a turn recorded, and of those that
 * have seen one unrecorded.
 */
static struct turns {
	atomic_int n_recorded;
	atomic_int n_out;
} * turns;

static _Noreturn void take_turns(int gate)
{
	char byte;

	alarm(LIFE_S);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(gate, &byte, 1) < 0 && errno == EINTR)
		;
	for (bool is_counted = false, is_out = false;;) {
		PTAP_SPAN("turn");
		/*
		 * Before its first annotation a followed child cannot know whether it is recorded.
		 */
		bool is_recorded = ptap_enabled(1);

		PTAP_FLOW_IN("baton", (uint64_t)getpid());
		usleep(TURN_US);
		if (is_recorded && !is_counted)
			atomic_fetch_add(&turns->n_recorded, 1);
		if (!is_recorded && !is_out)
			atomic_fetch_add(&turns->n_out, 1);
		is_counted = is_counted || is_recorded;
		is_out = is_out || !is_recorded;
	}
}

void prefork_crowd(char *arguments)
{
	int n = atoi(arguments);
	int gate[2];

	fflush(stdout);
	turns = mmap(
		NULL, sizeof *turns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (turns == MAP_FAILED || pipe(gate))
		return;
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			close(gate[1]);
			take_turns(gate[0]);
		}
		PTAP_FLOW_OUT("baton", (uint64_t)pid);
	}
	printf("%d\n", n);
	close(gate[0]);
	close(gate[1]);
}

void prefork_crowd_count(char *unused)
{
	(void)unused;
	printf("%d\n", atomic_load(&turns->n_recorded));
}

void prefork_crowd_out(char *unused)
{
	(void)unused;
	printf("%d\n", atomic_load(&turns->n_out));
}

static _Noreturn void carry(uint64_t id)
{
	alarm(LIFE_S);
	{
		PTAP_SPAN("carry");
		PTAP_FLOW_IN("baton", id);
	}
	_exit(0);
}

void prefork_relay(char *arguments)
{
	int n = atoi(arguments);

	fflush(stdout);
	for (int i = 1; i <= n; i++) {
		PTAP_SPAN("hand over");
		PTAP_FLOW_OUT("baton", (uint64_t)i);
		if (fork() == 0)
			carry((uint64_t)i);
		wait(NULL);
	}
	printf("%d\n", n);
}

/* The child waits until the other end of |gate| is closed. */
static void start_at_gate(const int gate[2])
{
	char byte;

	if (fork())
		return;
	alarm(LIFE_S);
	close(gate[1]);
	if (read(gate[0], &byte, 1) == 0)
		PTAP_INSTANT("hello");
	_exit(0);
}

void prefork_rush(char *arguments)
{
	int n = atoi(arguments);
	int gate[2];

	fflush(stdout);
	if (pipe(gate))
		return;
	for (int i = 0; i < n; i++)
		start_at_gate(gate);
	close(gate[0]);
	close(gate[1]);
	while (wait(NULL) > 0)
		;
	printf("%d\n", n);
}
