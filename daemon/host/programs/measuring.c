/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of memory; see measuring.h. */
#include "daemon/host/programs/measuring.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "daemon/host/programs/programs.h"
#include "daemon/pipeline/usage/pss.h"
#include "daemon/serve/children/announcement.h"

/* 0 while there is none. */
static pid_t find_pid(struct programs *p, uint64_t id)
{
	const struct program *program;
	pid_t pid;

	pthread_mutex_lock(&p->mutex);
	program = programs_find(p, id);
	pid = program ? program->pid : 0;
	pthread_mutex_unlock(&p->mutex);
	return pid;
}

/* Under the mutex: 1 when more than |n_before| answers have come, or none can come any more. */
static int is_over(struct programs *p, uint64_t id, uint64_t n_before)
{
	const struct program *program = programs_find(p, id);

	return !program || program->n_measured > n_before;
}

/* Under the mutex. */
static int await(struct programs *p, uint64_t id, uint64_t n_before, const struct timespec *end)
{
	int r = 0;

	while (r == 0 && !is_over(p, id, n_before))
		r = pthread_cond_timedwait(&p->changed, &p->mutex, end);
	return is_over(p, id, n_before) ? 0 : -r;
}

/* Under the mutex. */
static int ask(struct programs *p, uint64_t id, const struct timespec *end, uint64_t *bytes)
{
	const struct announcement question = {.kind = ANNOUNCEMENT_MEMORY, .fd = -1};
	const struct program *program = programs_find(p, id);
	int r = program ? announcement_send(program->connection, &question) : -ESRCH;

	if (!r)
		r = await(p, id, program->n_measured, end);
	if (r)
		return r;
	program = programs_find(p, id);
	if (!program)
		return -ESRCH;
	*bytes = program->pss_bytes;
	return *bytes ? 0 : -EACCES;
}

static int ask_server(struct programs *p, uint64_t id, int wait_ms, uint64_t *bytes)
{
	const int64_t end_ns = monotonic_ns() + wait_ms * NS_PER_MS;
	const struct timespec end = {end_ns / NS_PER_S, end_ns % NS_PER_S};
	int r;

	pthread_mutex_lock(&p->mutex);
	r = ask(p, id, &end, bytes);
	pthread_mutex_unlock(&p->mutex);
	return r;
}

int measuring_ask(struct programs *p, uint64_t id, int wait_ms, uint64_t *bytes)
{
	pid_t pid = find_pid(p, id);
	int r = pid ? pss_read("", pid, bytes) : -ESRCH;

	if (r == -EACCES)
		return ask_server(p, id, wait_ms, bytes);
	/* Drop the values if the pid belongs to another program by now. */
	return !r && !find_pid(p, id) ? -ESRCH : r;
}
