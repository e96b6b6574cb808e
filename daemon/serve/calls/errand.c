/* SPDX-License-Identifier: Apache-2.0 */
/* Calls with threads of their own; see errand.h. */
#include "daemon/serve/calls/errand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "daemon/kernel/thread.h"
#include "daemon/serve/session/session.h"
#include "rpc/server.h"

static const struct {
	unsigned max;
	const char *refusal;
} kinds[ERRAND_KINDS] = {
	[ERRAND_FILES] = {8, "8 calls that read files are under way; ask again later"},
	[ERRAND_MONITOR] = {8, "8 Monitor calls are under way; ask again later"},
	/*
	 * Some of these requests wait for their start; besides them, some record and some make
	 * their trace.
	 */
	[ERRAND_RECORDING] = {SESSION_MAX_WAITING + 8,
		"too many recordings of several programs are under way; ask again later"},
	[ERRAND_PASSING] = {512, "512 calls are being passed on already; ask again later"},
};

void errands_init(struct errands *e, void *context)
{
	memset(e, 0, sizeof *e);
	e->context = context;
	pthread_mutex_init(&e->mutex, NULL);
	cond_init(&e->changed);
}

unsigned errands_count_kind(struct errands *e, enum errand_kind kind)
{
	unsigned n;

	pthread_mutex_lock(&e->mutex);
	n = e->n[kind];
	pthread_mutex_unlock(&e->mutex);
	return n;
}

static int link_errand(struct errand *e)
{
	struct errands *all = e->all;
	int r = -EUSERS;

	pthread_mutex_lock(&all->mutex);
	if (all->n[e->kind] < kinds[e->kind].max) {
		e->next = all->list;
		all->list = e;
		all->n[e->kind]++;
		e->is_cancelled = all->are_given_up;
		r = 0;
	}
	pthread_mutex_unlock(&all->mutex);
	return r;
}

static void unlink_errand(struct errand *e)
{
	struct errands *all = e->all;
	struct errand **at = &all->list;

	pthread_mutex_lock(&all->mutex);
	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	all->n[e->kind]--;
	pthread_mutex_unlock(&all->mutex);
}

/* An errand that has answered may still be in the list; it ignores this. */
static void on_cancel(struct rpc_call *call, void *context)
{
	struct errands *all = context;

	pthread_mutex_lock(&all->mutex);
	for (struct errand *e = all->list; e; e = e->next)
		if (e->call == call)
			e->is_cancelled = true;
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->mutex);
}

static void free_errand(struct errand *e)
{
	if (e)
		free(e->request);
	free(e);
}

static void *errand_run(void *argument)
{
	struct errand *e = argument;

	pthread_setname_np(pthread_self(), "ptap-errand");
	e->work(e);
	unlink_errand(e);
	free_errand(e);
	return NULL;
}

static int start_thread(struct errand *e)
{
	pthread_t thread;
	int r = link_errand(e);

	if (r)
		return r;
	rpc_call_set_on_cancel(e->call, on_cancel, e->all);
	r = pthread_create(&thread, NULL, errand_run, e);
	if (r) {
		unlink_errand(e);
		return -r;
	}
	pthread_detach(thread);
	return 0;
}

static struct errand *new_errand(struct errands *all, struct rpc_call *call, const uint8_t *bytes,
	size_t n, void (*work)(struct errand *))
{
	struct errand *e = calloc(1, sizeof *e);

	if (!e)
		return NULL;
	e->all = all;
	e->context = all->context;
	e->call = call;
	e->work = work;
	e->request_bytes = n;
	e->request = malloc(n + 1);
	if (e->request) {
		memcpy(e->request, bytes, n);
		return e;
	}
	free(e);
	return NULL;
}

void errand_start(struct errands *all, enum errand_kind kind, struct rpc_call *call,
	const uint8_t *bytes, size_t n, void (*work)(struct errand *))
{
	struct errand *e = new_errand(all, call, bytes, n, work);
	int r = -ENOMEM;

	if (e) {
		e->kind = kind;
		r = start_thread(e);
	}
	if (!r)
		return;
	free_errand(e);
	rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED,
		r == -EUSERS ? kinds[kind].refusal
			     : "no memory or thread for this call; ask again later");
}

bool errand_wait(struct errand *e, int64_t deadline_ns)
{
	const struct timespec deadline = {deadline_ns / NS_PER_S, deadline_ns % NS_PER_S};
	struct errands *all = e->all;
	bool is_cancelled;
	int r = 0;

	pthread_mutex_lock(&all->mutex);
	while (!e->is_cancelled && r == 0)
		r = pthread_cond_timedwait(&all->changed, &all->mutex, &deadline);
	is_cancelled = e->is_cancelled;
	pthread_mutex_unlock(&all->mutex);
	return is_cancelled;
}

bool errand_is_cancelled(struct errand *e)
{
	bool is_cancelled;

	pthread_mutex_lock(&e->all->mutex);
	is_cancelled = e->is_cancelled;
	pthread_mutex_unlock(&e->all->mutex);
	return is_cancelled;
}

unsigned errands_count(struct errands *e)
{
	unsigned n = 0;

	pthread_mutex_lock(&e->mutex);
	for (int kind = 0; kind < ERRAND_KINDS; kind++)
		n += e->n[kind];
	pthread_mutex_unlock(&e->mutex);
	return n;
}

void errands_give_up(struct errands *e)
{
	pthread_mutex_lock(&e->mutex);
	e->are_given_up = true;
	for (struct errand *one = e->list; one; one = one->next)
		one->is_cancelled = true;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->mutex);
}

bool errands_are_given_up(struct errands *e)
{
	bool are_given_up;

	pthread_mutex_lock(&e->mutex);
	are_given_up = e->are_given_up;
	pthread_mutex_unlock(&e->mutex);
	return are_given_up;
}

void errand_raise(struct errand *e, bool *flag)
{
	struct errands *all = e->all;

	pthread_mutex_lock(&all->mutex);
	*flag = 1;
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->mutex);
}

bool errand_await_for(struct errand *e, const bool *flag, int wait_ms)
{
	const int64_t end_ns = monotonic_ns() + wait_ms * NS_PER_MS;
	const struct timespec end = {end_ns / NS_PER_S, end_ns % NS_PER_S};
	struct errands *all = e->all;
	bool is_over;
	int r = 0;

	pthread_mutex_lock(&all->mutex);
	while (!*flag && !e->is_cancelled && !r)
		r = pthread_cond_timedwait(&all->changed, &all->mutex, &end);
	is_over = *flag || e->is_cancelled;
	pthread_mutex_unlock(&all->mutex);
	return is_over;
}

bool errand_await_or_cancel(struct errand *e, const bool *flag)
{
	struct errands *all = e->all;
	bool is_cancelled;

	pthread_mutex_lock(&all->mutex);
	while (!*flag && !e->is_cancelled)
		pthread_cond_wait(&all->changed, &all->mutex);
	is_cancelled = e->is_cancelled;
	pthread_mutex_unlock(&all->mutex);
	return is_cancelled;
}

void errand_await(struct errand *e, const bool *flag)
{
	struct errands *all = e->all;

	pthread_mutex_lock(&all->mutex);
	while (!*flag)
		pthread_cond_wait(&all->changed, &all->mutex);
	pthread_mutex_unlock(&all->mutex);
}
