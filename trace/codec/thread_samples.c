/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the samples of a thread and its spans side by side. */
#include "trace/codec/thread_samples.h"

#include <string.h>

#include "trace/codec/codec.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/enclosing_spans.h"
#include "trace/read/view.h"

struct thread_reading {
	struct enclosing_spans spans;
	int64_t period_ns; /* processor time of a sample */
	thread_sample_reader *reader;
	void *context;
};

static void sample_set_spans(struct thread_sample *s, const struct enclosing_spans *spans)
{
	for (size_t i = 0; i < spans->n; i++) {
		s->span = spans->v[i].name;
		if (spans->v[i].is_step) {
			s->has_step = true;
			s->step_num = spans->v[i].step_num;
		}
	}
}

static int read_sample(void *context, const struct item *item)
{
	struct thread_reading *reading = context;
	struct thread_sample s = {
		.item = item,
		.is_waiting = item->duration_ns > 0,
		.weight_ns = item->duration_ns > 0 ? item->waiting_ns : reading->period_ns,
		.span = NAMES_NONE,
	};
	int r = enclosing_spans_move(&reading->spans, item->start_ns);

	if (r)
		return r;
	sample_set_spans(&s, &reading->spans);
	return reading->reader(reading->context, &s);
}

int thread_samples_read(const struct view *view, const struct view_track *track,
	thread_sample_reader *reader, void *context, struct diag *d)
{
	int64_t period_ns = archive_plane_find_int(track->plane, "ptap_sample_period_ns");
	struct thread_reading reading = {
		.period_ns = period_ns > 0 ? period_ns : 0, .reader = reader, .context = context};
	int r = enclosing_spans_begin(&reading.spans, view, track, d);

	if (!r)
		r = cursor_read(view, track, read_sample, &reading, d);
	enclosing_spans_end(&reading.spans);
	return r;
}

const struct view_track *thread_samples_find_row(
	const struct view *view, const struct view_track *track, struct codec_result *result)
{
	const struct view_track *thread = view_find_sampled_thread(view, track);

	if (thread || !view_is_grouped(view))
		return thread ? thread : track;
	codec_lose(result, "CPU samples of threads without spans", track->n_events);
	return NULL;
}

bool thread_sample_has_weight(const struct thread_sample *s, struct codec_result *result)
{
	if (s->item->stack != STACKS_NONE && s->weight_ns)
		return true;
	codec_lose(result, "samples without a stack or a weight", 1);
	return false;
}

const char *thread_sample_get_module(const struct view *view, uint32_t stack)
{
	const struct stacks *s = &view->stacks;
	uint32_t mapping = s->frames[s->v[stack].frame].mapping;

	return mapping == STACKS_NONE ? "" : names_get(&s->texts, s->mappings[mapping].path);
}

int64_t thread_sample_find_cpu(const struct thread_sample *s)
{
	for (size_t i = 0; i < s->item->n_args; i++)
		if (strcmp(s->item->args[i].key, "cpu") == 0 &&
			s->item->args[i].type <= STAT_UINT64)
			return s->item->args[i].value.i64;
	return -1;
}
