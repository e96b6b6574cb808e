/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that announced themselves; see programs.h. */
#include "daemon/host/programs/programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/grow.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/programs/caller.h"
#include "daemon/kernel/thread.h"
#include "daemon/serve/children/announcement.h"

void programs_init(struct programs *p)
{
	memset(p, 0, sizeof *p);
	pthread_mutex_init(&p->mutex, NULL);
	cond_init(&p->changed);
}

/* Under the mutex, as all below up to the next heading. */

struct program *programs_find(struct programs *p, uint64_t id)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].id == id)
			return &p->v[i];
	return NULL;
}

static int have_answered(const struct programs *p, uint64_t round)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].stock_address[0] && p->v[i].n_answered < round)
			return 0;
	return 1;
}

/* One whose queue is full has been asked before, and not answered yet. */
static void ask_all(struct programs *p)
{
	const struct announcement question = {.kind = ANNOUNCEMENT_STATUS, .fd = -1};

	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].stock_address[0])
			announcement_send(p->v[i].connection, &question);
}

/* What the loop hears. */

void programs_watch(struct programs *p, programs_watcher *watcher, void *context)
{
	p->watcher = watcher;
	p->watcher_context = context;
}

/* |program|: a copy; the watcher may ask for others. */
static void tell_watcher(struct programs *p, const struct program *program, int is_gone)
{
	if (p->watcher && program->id)
		p->watcher(p->watcher_context, program, is_gone);
}

static int says_the_same(const struct status *a, const struct status *b)
{
	return strcmp(status_name_state(a), status_name_state(b)) == 0 &&
	       a->has_recorder == b->has_recorder && a->is_stopped == b->is_stopped &&
	       a->n_children == b->n_children && strcmp(a->name, b->name) == 0;
}

static void note_memory(struct program *program, const struct status *status)
{
	if (!status->is_measured)
		return;
	program->n_measured++;
	program->pss_bytes = status->pss_bytes;
}

uint64_t programs_add(struct programs *p, const struct program *program)
{
	struct program added = {.id = 0};

	pthread_mutex_lock(&p->mutex);
	if (grow(&p->v, &p->n_allocated, p->n + 1) == 0) {
		added = *program;
		added.id = ++p->last_id;
		/* It has just said all. */
		added.n_answered = p->n_rounds;
		p->v[p->n++] = added;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->mutex);
	tell_watcher(p, &added, 0);
	return added.id;
}

void programs_update(struct programs *p, uint64_t id, const struct status *status)
{
	struct program *program;
	struct program changed = {.id = 0};

	pthread_mutex_lock(&p->mutex);
	program = programs_find(p, id);
	if (program) {
		int is_new = !says_the_same(&program->status, status);

		program->status = *status;
		note_memory(program, status);
		if (is_new)
			changed = *program;
		program->n_answered = p->n_rounds;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->mutex);
	tell_watcher(p, &changed, 0);
}

void programs_remove(struct programs *p, uint64_t id)
{
	struct program *program;
	struct program removed = {.id = 0};

	pthread_mutex_lock(&p->mutex);
	program = programs_find(p, id);
	if (program) {
		removed = *program;
		p->n--;
		memmove(program, program + 1, (size_t)(&p->v[p->n] - program) * sizeof *program);
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->mutex);
	tell_watcher(p, &removed, 1);
}

/* What others ask. */

void programs_ask(struct programs *p)
{
	pthread_mutex_lock(&p->mutex);
	ask_all(p);
	pthread_mutex_unlock(&p->mutex);
}

static int compare_pids(const void *a, const void *b)
{
	const struct program *left = a, *right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

static int copy_visible(
	const struct programs *p, const struct caller *caller, struct program **out, size_t *n_out)
{
	struct program *copy = malloc((p->n + 1) * sizeof *copy);

	*n_out = 0;
	*out = copy;
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++)
		if (caller_may_ask(caller, p->v[i].uid))
			copy[(*n_out)++] = p->v[i];
	qsort(copy, *n_out, sizeof *copy, compare_pids);
	return 0;
}

int programs_list(struct programs *p, const struct caller *caller, int wait_ms,
	struct program **out, size_t *n_out)
{
	const int64_t end_ns = monotonic_ns() + wait_ms * NS_PER_MS;
	const struct timespec end = {end_ns / NS_PER_S, end_ns % NS_PER_S};
	uint64_t round;
	int r = 0;

	pthread_mutex_lock(&p->mutex);
	round = ++p->n_rounds;
	ask_all(p);
	while (!have_answered(p, round) && r == 0)
		r = pthread_cond_timedwait(&p->changed, &p->mutex, &end);
	r = copy_visible(p, caller, out, n_out);
	pthread_mutex_unlock(&p->mutex);
	return r;
}

int programs_copy(
	struct programs *p, const struct caller *caller, struct program **out, size_t *n_out)
{
	int r;

	pthread_mutex_lock(&p->mutex);
	r = copy_visible(p, caller, out, n_out);
	pthread_mutex_unlock(&p->mutex);
	return r;
}

uint64_t programs_await(struct programs *p, uint64_t id, int wait_ms)
{
	const int64_t end_ns = monotonic_ns() + wait_ms * NS_PER_MS;
	const struct timespec end = {end_ns / NS_PER_S, end_ns % NS_PER_S};
	uint64_t last;
	int r = 0;

	pthread_mutex_lock(&p->mutex);
	while (p->last_id < id && r == 0)
		r = pthread_cond_timedwait(&p->changed, &p->mutex, &end);
	last = p->last_id;
	pthread_mutex_unlock(&p->mutex);
	return last;
}

size_t programs_count(struct programs *p)
{
	size_t n;

	pthread_mutex_lock(&p->mutex);
	n = p->n;
	pthread_mutex_unlock(&p->mutex);
	return n;
}

size_t programs_list_processes(void *context, struct machine_process *out, size_t max)
{
	struct programs *p = context;
	size_t n;

	pthread_mutex_lock(&p->mutex);
	n = p->n < max ? p->n : max;
	for (size_t i = 0; i < n; i++) {
		out[i] = (struct machine_process){
			.id = p->v[i].id, .pid = p->v[i].pid, .uid = p->v[i].uid};
		memccpy(out[i].name, p->v[i].status.name, '\0', sizeof out[i].name - 1);
	}
	pthread_mutex_unlock(&p->mutex);
	return n;
}

void programs_note_captured(struct programs *p, uint64_t id, const struct program_sums *sums)
{
	struct program *program;

	pthread_mutex_lock(&p->mutex);
	program = programs_find(p, id);
	if (program) {
		program->sums.n_captures += sums->n_captures;
		program->sums.trace_bytes += sums->trace_bytes;
		program->sums.n_events += sums->n_events;
		program->sums.n_dropped += sums->n_dropped;
	}
	pthread_mutex_unlock(&p->mutex);
}

void programs_note_begun(struct programs *p, uint64_t id, uid_t uid)
{
	struct program *program;

	pthread_mutex_lock(&p->mutex);
	program = programs_find(p, id);
	if (program) {
		program->n_begun = ++p->n_begun;
		program->begun_by = uid;
	}
	pthread_mutex_unlock(&p->mutex);
}
