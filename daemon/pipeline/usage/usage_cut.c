/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a usage; see usage_cut.h. */
#include "daemon/pipeline/usage/usage_cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/pipeline/usage/usage.h"

/* A thread that was not seen for so many intervals is gone. */
#define GONE_INTERVALS 3

static void forget_samples(struct usage *u, int64_t from_ns)
{
	size_t n_old = 0;

	while (n_old + 1 < u->n_samples && u->samples[n_old + 1].at_ns <= from_ns)
		n_old++;
	if (!n_old)
		return;
	u->n_samples -= n_old;
	memmove(u->samples, u->samples + n_old, u->n_samples * sizeof *u->samples);
}

static void forget_readings(struct usage_thread *thread, int64_t from_ns)
{
	size_t n_old = 0;

	while (n_old + 1 < thread->n && thread->v[n_old + 1].at_ns <= from_ns)
		n_old++;
	if (!n_old)
		return;
	thread->n -= n_old;
	memmove(thread->v, thread->v + n_old, thread->n * sizeof *thread->v);
}

static int cut_samples(struct usage *u, struct usage *part)
{
	size_t n = u->n_samples;

	if (!n)
		return 0;
	if (grow(&part->samples, &part->n_allocated, n))
		return -ENOMEM;
	memcpy(part->samples, u->samples, n * sizeof *u->samples);
	part->n_samples = n;
	u->samples[0] = u->samples[n - 1];
	u->n_samples = 1;
	return 0;
}

/* A copy of its own, so that the readings of the other one can go on. */
static struct usage_thread *copy_thread(const struct usage_thread *thread)
{
	struct usage_thread *copy = malloc(sizeof *copy);

	if (!copy)
		return NULL;
	*copy = *thread;
	copy->v = NULL;
	copy->n_allocated = 0;
	if (grow(&copy->v, &copy->n_allocated, thread->n)) {
		free(copy);
		return NULL;
	}
	if (thread->n)
		memcpy(copy->v, thread->v, thread->n * sizeof *thread->v);
	return copy;
}

static int cut_thread(struct usage_thread *thread, struct usage_threads *part)
{
	struct usage_thread *copy = copy_thread(thread);

	if (!copy || grow(&part->v, &part->n_allocated, part->n + 1)) {
		if (copy)
			free(copy->v);
		free(copy);
		return -ENOMEM;
	}
	part->v[part->n++] = copy;
	part->n_readings += copy->n;
	if (thread->n > 1) {
		thread->v[0] = thread->v[thread->n - 1];
		thread->n = 1;
	}
	return 0;
}

static void forget_gone(struct usage_threads *t, int64_t before_ns)
{
	size_t n = 0;

	t->n_readings = 0;
	for (size_t i = 0; i < t->n; i++) {
		struct usage_thread *thread = t->v[i];

		if (thread->n && thread->v[thread->n - 1].at_ns < before_ns) {
			free(thread->v);
			free(thread);
			continue;
		}
		t->n_readings += thread->n;
		t->v[n++] = thread;
	}
	t->n = n;
}

static int cut_threads(
	struct usage_threads *t, struct usage_threads *part, int64_t from_ns, int64_t interval_ns)
{
	int r = 0;

	for (size_t i = 0; i < t->n && !r; i++)
		r = cut_thread(t->v[i], part);
	for (size_t i = 0; i < part->n; i++)
		forget_readings(part->v[i], from_ns);
	/* A pass under way holds positions among them by tid, no pointers. */
	forget_gone(t, t->last_pass_ns - GONE_INTERVALS * interval_ns);
	usage_threads_rank(part);
	return r;
}

static int cut_family(struct usage *u, struct usage *part, int64_t from_ns)
{
	int r;

	if (!u->family)
		return 0;
	part->family = calloc(1, sizeof *part->family);
	if (!part->family)
		return -ENOMEM;
	part->family->has_descendants = u->family->has_descendants;
	part->n_left_out = u->n_left_out;
	r = cut_samples(u->family, part->family);
	forget_samples(part->family, from_ns);
	return r;
}

int usage_cut(struct usage *u, struct usage *part, int64_t from_ns)
{
	int r;

	usage_open(part, "", u->pid, 0);
	part->interval_ns = u->interval_ns;
	part->n_sharing = u->n_sharing;
	part->io_error = u->io_error;
	part->threads.wait_ns = u->threads.wait_ns;
	part->threads.has_no_schedstat = u->threads.has_no_schedstat;
	r = cut_samples(u, part);
	forget_samples(part, from_ns);
	if (!r)
		r = cut_family(u, part, from_ns);
	if (!r)
		r = cut_threads(&u->threads, &part->threads, from_ns, u->interval_ns);
	if (!r)
		r = cut_threads(&u->children, &part->children, from_ns, u->interval_ns);
	return r;
}
