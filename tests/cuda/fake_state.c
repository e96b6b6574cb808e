/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake libcupti: its knobs, the calls that it got, and the callbacks in which its threads are.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/cuda/fake_inside.h"

#define MAX_FUNCTIONS 96

struct function {
	const char *name;
	int n;
	int last; /* number of the last call */
	int result;
	int failing_from; /* |n| with which it begins to fail; 0: it does not */
};

static _Atomic uint64_t knobs[FAKE_KNOBS];
static _Thread_local enum inside where;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static struct function functions[MAX_FUNCTIONS];
static int n_questions;
static int n_releases;
static pid_t owner; /* a forked child has none of its state */

uint64_t knob(enum fake_knob k)
{
	return atomic_load_explicit(&knobs[k], memory_order_relaxed);
}

void knob_set(enum fake_knob k, uint64_t value)
{
	atomic_store(&knobs[k], value);
}

void knobs_reset(void)
{
	for (int k = 0; k < FAKE_KNOBS; k++)
		knob_set(k, 0);
	knob_set(FAKE_VERSION, 130001);
	knob_set(FAKE_HAS_THREAD_BUFFERS, 1);
	knob_set(FAKE_POISONS_NAMES, 1);
	knob_set(FAKE_CHECKS_ZEROES, 1);
}

void broken(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "fake libcupti: ");
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "\n");
	va_end(arguments);
	abort();
}

static struct function *find(const char *name)
{
	for (int i = 0; i < MAX_FUNCTIONS; i++) {
		if (!functions[i].name)
			functions[i].name = name;
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	}
	broken("too many functions");
}

bool is_forked(void)
{
	return owner && owner != getpid();
}

void check_process(const char *function)
{
	if (is_forked())
		broken("%s in a forked child of its user", function);
}

int asked(const char *function)
{
	struct function *f;
	int result;

	check_process(function);
	pthread_mutex_lock(&lock);
	f = find(function);
	f->n++;
	f->last = ++n_questions;
	result = f->failing_from && f->n >= f->failing_from ? f->result : OK;
	pthread_mutex_unlock(&lock);
	return result;
}

void asked_fail(const char *function, int result, int nth)
{
	pthread_mutex_lock(&lock);
	find(function)->result = result;
	find(function)->failing_from = result ? find(function)->n + nth : 0;
	pthread_mutex_unlock(&lock);
}

int asked_count(const char *function)
{
	int n;

	pthread_mutex_lock(&lock);
	n = find(function)->n;
	pthread_mutex_unlock(&lock);
	return n;
}

bool asked_is_before(const char *first, const char *second)
{
	bool is_before;

	pthread_mutex_lock(&lock);
	is_before = find(first)->last && find(first)->last < find(second)->last;
	pthread_mutex_unlock(&lock);
	return is_before;
}

void asked_reset(void)
{
	pthread_mutex_lock(&lock);
	owner = getpid();
	memset(functions, 0, sizeof functions);
	n_questions = 0;
	pthread_mutex_unlock(&lock);
}

enum inside inside_set(enum inside next)
{
	enum inside before = where;

	where = next;
	return before;
}

enum inside inside_get(void)
{
	return where;
}

bool inside_is_any(void)
{
	return where != IN_NONE;
}

void wait_for_release(void)
{
	pthread_mutex_lock(&lock);
	for (int n = n_releases; n == n_releases;)
		pthread_cond_wait(&released, &lock);
	pthread_mutex_unlock(&lock);
}

void release_all(void)
{
	pthread_mutex_lock(&lock);
	n_releases++;
	pthread_cond_broadcast(&released);
	pthread_mutex_unlock(&lock);
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + knob(FAKE_CLOCK_OFFSET_NS);
}
