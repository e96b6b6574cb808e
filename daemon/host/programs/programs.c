/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that announced themselves; see programs.h. */
#include "daemon/host/programs/programs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/grow.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/programs/caller.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/kernel/thread.h"
#include "daemon/serve/children/announcement.h"

void programs_init(struct programs *p)
{
	memset(p, 0, sizeof *p);
	pthread_mutex_init(&p->mutex, NULL);
	cond_init(&p->changed);
}

/* The caller of each function up to the next heading has the mutex. */

struct program *programs_find(struct programs *p, uint64_t id)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].id == id)
			return &p->v[i];
	return NULL;
}

static bool have_answered(const struct programs *p, uint64_t round)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].stock_address[0] && p->v[i].n_answered < round)
			return false;
	return true;
}

/*
 * A program whose queue is full has not yet answered an earlier question, so errors do not matter.
 */
static void programs_ask_all(struct programs *p)
{
	const struct announcement question = {.kind = ANNOUNCEMENT_STATUS, .fd = -1};

	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].stock_address[0])
			announcement_send(p->v[i].connection, &question);
}

/* --- changes, on the loop's thread ------------------------------------------------------------ */

void programs_watch(struct programs *p, programs_watcher *watcher, void *context)
{
	p->watcher = watcher;
	p->watcher_context = context;
}

/* |program| is a copy: the watcher is called without the mutex, and may ask for other programs. */
static void tell_watcher(struct programs *p, const struct program *program, bool is_gone)
{
	if (p->watcher && program->id)
		p->watcher(p->watcher_context, program, is_gone);
}

static bool is_same_status(const struct status *a, const struct status *b)
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
		/* The announcement counts as the answer to all rounds so far. */
		added.n_answered = p->n_rounds;
		p->v[p->n++] = added;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->mutex);
	tell_watcher(p, &added, false);
	return added.id;
}

void programs_update(struct programs *p, uint64_t id, const struct status *status)
{
	struct program *program;
	struct program changed = {.id = 0};

	pthread_mutex_lock(&p->mutex);
	program = programs_find(p, id);
	if (program) {
		bool is_new = !is_same_status(&program->status, status);

		program->status = *status;
		note_memory(program, status);
		if (is_new)
			changed = *program;
		program->n_answered = p->n_rounds;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->mutex);
	tell_watcher(p, &changed, false);
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
	tell_watcher(p, &removed, true);
}

/* --- questions -------------------------------------------------------------------------------- */

void programs_ask(struct programs *p)
{
	pthread_mutex_lock(&p->mutex);
	programs_ask_all(p);
	pthread_mutex_unlock(&p->mutex);
}

static int compare_pids(const void *a, const void *b)
{
	const struct program *left = a, *right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

static int programs_copy_visible(
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
	programs_ask_all(p);
	while (!have_answered(p, round) && r == 0)
		r = pthread_cond_timedwait(&p->changed, &p->mutex, &end);
	r = programs_copy_visible(p, caller, out, n_out);
	pthread_mutex_unlock(&p->mutex);
	return r;
}

int programs_copy(
	struct programs *p, const struct caller *caller, struct program **out, size_t *n_out)
{
	int r;

	pthread_mutex_lock(&p->mutex);
	r = programs_copy_visible(p, caller, out, n_out);
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

/* --- a program's share of memory -------------------------------------------------------------- */

/* Returns 0 if the program is gone. */
static pid_t programs_find_pid(struct programs *p, uint64_t id)
{
	const struct program *program;
	pid_t pid;

	pthread_mutex_lock(&p->mutex);
	program = programs_find(p, id);
	pid = program ? program->pid : 0;
	pthread_mutex_unlock(&p->mutex);
	return pid;
}

/*
 * Returns true when more than |n_before| answers have come, or when none can come any more. The
 * caller has the mutex.
 */
static bool measurement_is_over(struct programs *p, uint64_t id, uint64_t n_before)
{
	const struct program *program = programs_find(p, id);

	return !program || program->n_measured > n_before;
}

/* The caller has the mutex. */
static int await_measurement(
	struct programs *p, uint64_t id, uint64_t n_before, const struct timespec *end)
{
	int r = 0;

	while (r == 0 && !measurement_is_over(p, id, n_before))
		r = pthread_cond_timedwait(&p->changed, &p->mutex, end);
	return measurement_is_over(p, id, n_before) ? 0 : -r;
}

/* The caller has the mutex. */
static int ask_for_memory(
	struct programs *p, uint64_t id, const struct timespec *end, uint64_t *bytes)
{
	const struct announcement question = {.kind = ANNOUNCEMENT_MEMORY, .fd = -1};
	const struct program *program = programs_find(p, id);
	int r = program ? announcement_send(program->connection, &question) : -ESRCH;

	if (!r)
		r = await_measurement(p, id, program->n_measured, end);
	if (r)
		return r;
	program = programs_find(p, id);
	if (!program)
		return -ESRCH;
	*bytes = program->pss_bytes;
	return *bytes ? 0 : -EACCES;
}

static int ask_server_for_memory(struct programs *p, uint64_t id, int wait_ms, uint64_t *bytes)
{
	const int64_t end_ns = monotonic_ns() + wait_ms * NS_PER_MS;
	const struct timespec end = {end_ns / NS_PER_S, end_ns % NS_PER_S};
	int r;

	pthread_mutex_lock(&p->mutex);
	r = ask_for_memory(p, id, &end, bytes);
	pthread_mutex_unlock(&p->mutex);
	return r;
}

int programs_measure_memory(struct programs *p, uint64_t id, int wait_ms, uint64_t *bytes)
{
	pid_t pid = programs_find_pid(p, id);
	int r = pid ? pss_read("", pid, bytes) : -ESRCH;

	if (r == -EACCES)
		return ask_server_for_memory(p, id, wait_ms, bytes);
	/* Drop the value if the program is gone: the pid may be another's by now. */
	return !r && !programs_find_pid(p, id) ? -ESRCH : r;
}
