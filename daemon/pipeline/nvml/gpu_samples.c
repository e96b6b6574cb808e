/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of GPUs; see gpu_samples.h. */
#include "daemon/pipeline/nvml/gpu_samples.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define MAX_BYTES (8u << 20)

void gpu_samples_deinit(struct gpu_samples *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->tracks[i].v);
	memset(s, 0, sizeof *s);
}

static double find_mean(double a, double b)
{
	if (isnan(a))
		return b;
	return isnan(b) ? a : (a + b) / 2;
}

static struct gpu_sample merge_samples(const struct gpu_sample *a, const struct gpu_sample *b)
{
	struct gpu_sample both = *b;

	if (a->gpm_since_ns)
		both.gpm_since_ns = a->gpm_since_ns;
	for (int i = 0; i < N_GPU_ROWS; i++)
		both.reading[i] = find_mean(a->reading[i], b->reading[i]);
	for (int i = 0; i < N_GPM_ROWS; i++)
		both.gpm[i] = find_mean(a->gpm[i], b->gpm[i]);
	return both;
}

static void thin_track(struct gpu_track *t)
{
	for (size_t i = 0; i + 1 < t->n; i += 2)
		t->v[i / 2] = merge_samples(&t->v[i], &t->v[i + 1]);
	if (t->n % 2)
		t->v[t->n / 2] = t->v[t->n - 1];
	t->n = (t->n + 1) / 2;
}

static bool is_full(const struct gpu_samples *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->tracks[i].n;
	return n >= MAX_BYTES / sizeof(struct gpu_sample);
}

void gpu_samples_add(struct gpu_samples *s, size_t i, const struct gpu_sample *sample)
{
	struct gpu_track *t = &s->tracks[i];

	if (is_full(s))
		for (size_t j = 0; j < s->n; j++)
			thin_track(&s->tracks[j]);
	if (grow(&t->v, &t->n_allocated, t->n + 1))
		s->error = -ENOMEM;
	else
		t->v[t->n++] = *sample;
}

static void forget_samples(struct gpu_track *t, int64_t from_ns)
{
	size_t n_old = 0;

	while (n_old + 1 < t->n && t->v[n_old + 1].at_ns <= from_ns)
		n_old++;
	if (!n_old)
		return;
	t->n -= n_old;
	memmove(t->v, t->v + n_old, t->n * sizeof *t->v);
}

void gpu_samples_cut(struct gpu_samples *s, struct gpu_samples *part, int64_t from_ns)
{
	*part = *s;
	s->error = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct gpu_track *t = &s->tracks[i];

		t->v = NULL;
		t->n = t->n_allocated = 0;
		if (part->tracks[i].n)
			gpu_samples_add(s, i, &part->tracks[i].v[part->tracks[i].n - 1]);
		forget_samples(&part->tracks[i], from_ns);
	}
}
