/* SPDX-License-Identifier: Apache-2.0 */
/* The end of all captures; see jobs_end.h. */
#include "daemon/host/web/jobs_end.h"

#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "daemon/host/web/job.h"
#include "daemon/host/web/jobs.h"

void jobs_refuse(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->mutex);
	jobs->is_ending = 1;
	for (struct job *j = jobs->first; j; j = j->next)
		if (j->state == JOB_WAITING)
			atomic_store(&j->stop, 1);
	pthread_mutex_unlock(&jobs->mutex);
}

unsigned jobs_count(struct jobs *jobs)
{
	unsigned n;

	pthread_mutex_lock(&jobs->mutex);
	n = jobs->n_threads;
	pthread_mutex_unlock(&jobs->mutex);
	return n;
}

/* Under the mutex. */
static void stop_all(struct jobs *jobs)
{
	for (struct job *j = jobs->first; j; j = j->next)
		atomic_store(&j->stop, 1);
}

void jobs_stop_all(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->mutex);
	stop_all(jobs);
	pthread_mutex_unlock(&jobs->mutex);
}

unsigned jobs_finish(struct jobs *jobs, int64_t grace_ms)
{
	const int64_t end_ns = monotonic_ns() + grace_ms * NS_PER_MS;
	const struct timespec end = {end_ns / NS_PER_S, end_ns % NS_PER_S};
	unsigned n_left;
	int r = 0;

	pthread_mutex_lock(&jobs->mutex);
	jobs->is_ending = 1;
	stop_all(jobs);
	while (jobs->n_threads && r == 0)
		r = pthread_cond_timedwait(&jobs->changed, &jobs->mutex, &end);
	n_left = jobs->n_threads;
	pthread_mutex_unlock(&jobs->mutex);
	return n_left;
}
