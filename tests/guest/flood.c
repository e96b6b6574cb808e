/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotates in extreme ways, and writes the number of spans that it began to the file "emitted".
 * Each must be recorded, or counted as lost.
 * usage: flood threads THREADS SPANS    SPANS in each thread, as fast as possible
 *        flood names NAMES              each with a name of its own
 *        flood long SPANS               names and arguments of 64 KiB
 *        flood deep LEVELS              spans that are nested LEVELS deep
 *        flood sites SITES              each at its own place in the source, with a name of 1,000
 *                                       bytes
 *        flood coroutines ROUNDS        on stacks that are swapped, and later run by other threads
 *        flood forks SPANS              while another thread forks children that annotate, too
 *        flood plugin ROUNDS PATH       from a plug-in that is loaded and unloaded
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/guest/guest.h"

#define MAX_THREADS 64
#define LONG_BYTES (64u << 10)
#define SITE_NAME_BYTES 1000
#define STACK_BYTES (64u << 10)

static _Atomic unsigned long n_emitted;
static pthread_barrier_t all_are_there;

/* --- as fast as can be ----------------------------------------------------------------------- */

static void *flood(void *n)
{
	int n_spans = *(int *)n;

	pthread_barrier_wait(&all_are_there);
	for (int i = 0; i < n_spans; i++) {
		PTAP_SPAN("flood");
	}
	n_emitted += (unsigned long)n_spans;
	return NULL;
}

static void run_threads(int n, const char *argument)
{
	pthread_t threads[MAX_THREADS];
	int n_spans = atoi(argument);

	if (n > MAX_THREADS)
		exit(2);
	pthread_barrier_init(&all_are_there, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, flood, &n_spans);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* --- names ----------------------------------------------------------------------------------- */

static void run_names(int n, const char *unused)
{
	(void)unused;
	for (int i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof name, "name %d", i);
		PTAP_SPAN_DYN(name);
		n_emitted++;
	}
}

static void run_long(int n, const char *unused)
{
	static char text[LONG_BYTES + 1];

	(void)unused;
	memset(text, 'n', LONG_BYTES);
	for (int i = 0; i < n; i++) {
		PTAP_SPAN_DYN(text);
		PTAP_SPAN_ARGS("long", PTAP_S("text", text), PTAP_I("number", i));
		n_emitted += 2;
	}
}

static void nest(int n)
{
	PTAP_SPAN("deep");

	n_emitted++;
	if (n > 1)
		nest(n - 1);
}

static void run_deep(int n, const char *unused)
{
	(void)unused;
	nest(n);
}

#ifdef PTAP_DISABLE
static void run_sites(int n, const char *unused)
{
	(void)unused;
	n_emitted += (unsigned long)n;
}
#else
/*
 * Makes as many annotation sites as a very large program has, in the macro's form.
 */
static void run_sites(int n, const char *unused)
{
	/* Allocated until the program has ended, like the places of a macro. */
	static struct ptap_impl_site *sites;

	(void)unused;
	sites = calloc((size_t)n, sizeof *sites);
	for (int i = 0; i < n && sites; i++) {
		char *name = calloc(1, SITE_NAME_BYTES + 1);

		if (!name)
			exit(1);
		sites[i].name = name;
		memset(name, 's', SITE_NAME_BYTES);
		name[snprintf(name, SITE_NAME_BYTES, "%d", i)] = ' ';
		ptap_impl_end(ptap_impl_begin(&sites[i], ptap_impl_word()));
		n_emitted++;
	}
}
#endif

/* --- stacks that are swapped ----------------------------------------------------------------- */

struct coroutine {
	ucontext_t context;
	ucontext_t *caller;
	int n_rounds;
	char stack[STACK_BYTES];
};

static struct coroutine coroutines[2];

/* Emits spans, and leaves one open while another coroutine runs. */
static void work(int index)
{
	struct coroutine *self = &coroutines[index];

	for (int i = 0; i < self->n_rounds; i++) {
		PTAP_SPAN("coroutine");
		n_emitted++;
		swapcontext(&self->context, self->caller);
		{
			PTAP_SPAN("inner");
			n_emitted++;
		}
	}
}

static void make_coroutine(int index, int n_rounds)
{
	struct coroutine *c = &coroutines[index];

	c->n_rounds = n_rounds;
	getcontext(&c->context);
	c->context.uc_stack.ss_sp = c->stack;
	c->context.uc_stack.ss_size = sizeof c->stack;
	c->context.uc_link = NULL;
	makecontext(&c->context, (void (*)(void))work, 1, index);
}

static void resume(int index)
{
	ucontext_t here;

	coroutines[index].caller = &here;
	swapcontext(&here, &coroutines[index].context);
}

static void *resume_second(void *unused)
{
	PTAP_SPAN("other thread");
	n_emitted++;
	resume(1);
	return unused;
}

/*
 * Two coroutines interleave in one thread; then other threads run the second one. Neither returns,
 * so the last span of each stays open.
 */
static void run_coroutines(int n_rounds, const char *unused)
{
	pthread_t thread;

	(void)unused;
	make_coroutine(0, 2 * n_rounds + 1);
	make_coroutine(1, 2 * n_rounds + 1);
	for (int i = 0; i < n_rounds; i++) {
		resume(0);
		resume(1);
	}
	for (int i = 0; i < n_rounds; i++) {
		pthread_create(&thread, NULL, resume_second, NULL);
		pthread_join(thread, NULL);
	}
}

/* --- processes and plug-ins ------------------------------------------------------------------ */

static _Atomic int quit;

static void *fork_all_the_time(void *unused)
{
	while (!quit) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			PTAP_SPAN("child");
			PTAP_INSTANT("child");
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, &status, 0);
	}
	return unused;
}

static void run_forks(int n, const char *unused)
{
	pthread_t thread;

	(void)unused;
	pthread_create(&thread, NULL, fork_all_the_time, NULL);
	for (int i = 0; i < n; i++) {
		PTAP_SPAN("flood");
		n_emitted++;
		if (i % 100 == 0)
			usleep(100);
	}
	quit = 1;
	pthread_join(thread, NULL);
}

static void run_plugin(int n, const char *path)
{
	for (int i = 0; i < n; i++) {
		void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		int (*plugin_work)(int) =
			handle ? (int (*)(int))dlsym(handle, "plugin_work") : NULL;

		if (!plugin_work)
			exit(1);
		plugin_work(i);
		n_emitted += 2;
		dlclose(handle);
	}
}

static const struct mode {
	const char *name;
	void (*run)(int n, const char *argument);
} modes[] = {
	{"threads", run_threads},
	{"names", run_names},
	{"long", run_long},
	{"deep", run_deep},
	{"sites", run_sites},
	{"coroutines", run_coroutines},
	{"forks", run_forks},
	{"plugin", run_plugin},
};

static int write_emitted(void)
{
	FILE *f = fopen("emitted", "we");

	return !f || fprintf(f, "%lu\n", n_emitted) < 0 || fclose(f);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	GUEST_START();
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
		if (strcmp(modes[i].name, argv[1]) == 0)
			modes[i].run(atoi(argv[2]), argc > 3 ? argv[3] : "");
	printf("done\n");
	return write_emitted();
}
