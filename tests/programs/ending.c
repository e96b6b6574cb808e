/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which a recorded program ends; see ending.h. */
#include "tests/programs/ending.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <proftap/proftap.h>

static void leave_no_core(void)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
}

void ending_crash(char *arguments)
{
	(void)arguments;
	leave_no_core();
	PTAP_BEGIN("doomed");
	/* A sanitizer may have set a handler. */
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

void ending_abort(char *arguments)
{
	(void)arguments;
	leave_no_core();
	PTAP_BEGIN("doomed");
	signal(SIGABRT, SIG_DFL);
	abort();
}

void ending_exit(char *arguments)
{
	(void)arguments;
	PTAP_BEGIN("doomed");
	_exit(3);
}

static void *leave_open(void *unused)
{
	PTAP_BEGIN("left open");
	return unused;
}

void ending_thread(char *arguments)
{
	pthread_t thread;

	(void)arguments;
	if (pthread_create(&thread, NULL, leave_open, NULL) == 0)
		pthread_join(thread, NULL);
	printf("gone\n");
}

struct sufferer {
	pthread_t thread;
	char name[16];
	int signal; /* the thread raises it; 0: the thread hangs */
	_Atomic int tid; /* set when its spans are open */
};

static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;

static void *suffer(void *argument)
{
	struct sufferer *s = argument;

	ptap_thread_name(s->name);
	PTAP_SPAN_ARGS("serve", PTAP_I("id", -77), PTAP_S("path", "/v1/x"));
	PTAP_SPAN_ARGS("lock", PTAP_U("n", 64), PTAP_F("load", 0.5));
	atomic_store(&s->tid, gettid());
	if (s->signal)
		raise(s->signal);
	pthread_mutex_lock(&taken);
	return NULL;
}

static void start_sufferer(const char *name, int signal_number)
{
	struct sufferer *s = calloc(1, sizeof *s);

	while (!ptap_enabled(1))
		usleep(50);
	s->signal = signal_number;
	snprintf(s->name, sizeof s->name, "%s", name);
	pthread_mutex_trylock(&taken);
	pthread_create(&s->thread, NULL, suffer, s);
	while (!atomic_load(&s->tid))
		usleep(50);
	printf("%d\n", atomic_load(&s->tid));
}

void ending_hang(char *arguments)
{
	start_sufferer(arguments, 0);
}

void ending_in_thread(char *arguments)
{
	const char *name = strsep(&arguments, " ");
	int number = atoi(arguments);

	leave_no_core();
	signal(number, SIG_DFL);
	start_sufferer(name, number);
}

void ending_exec(char *arguments)
{
	char name[] = "target";
	char *argv[] = {name, NULL};

	(void)arguments;
	execv("/proc/self/exe", argv);
	printf("%s\n", strerror(errno));
}
