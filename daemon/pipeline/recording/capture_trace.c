/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of a capture; see capture_trace.h. */
#include "daemon/pipeline/recording/capture_trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/profile_options.h"
#include "daemon/pipeline/assembly/assemble.h"
#include "daemon/pipeline/assembly/async_carry.h"
#include "daemon/pipeline/assembly/encode.h"
#include "daemon/pipeline/assembly/gpu_lines.h"
#include "daemon/pipeline/assembly/sample_lines.h"
#include "daemon/pipeline/assembly/spooler.h"
#include "daemon/pipeline/assembly/usage_lines.h"
#include "daemon/pipeline/devices/device_plane.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/capture_request.h"
#include "daemon/pipeline/recording/capture_warnings.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/recording_start.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/target.h"
#include "trace/model/space.h"

/* The begin of warnings about GPUs. */
#define GPU_WARNING "gpu: "
/* JAX has the same default. */
#define DEFAULT_ANNOTATIONS 1048576

static uint64_t find_window_ticks(const struct recording *r)
{
	double share =
		(double)r->window_ns / (double)(r->stop.monotonic_ns - r->start.monotonic_ns + 1);

	return r->start.ticks + (uint64_t)(share * (double)(r->stop.ticks - r->start.ticks));
}

/* The value of gpu_max_annotation_strings; 0: no limit, for which the option may also be -1. */
static uint64_t find_max_ops(const struct capture_trace *t)
{
	const struct profile_options *o = capture_request_get_device_options(t->request);
	int64_t n =
		o ? profile_options_get_number(o, "gpu_max_annotation_strings", DEFAULT_ANNOTATIONS)
		  : 0;

	return n > 0 ? (uint64_t)n : 0;
}

static int add_host_plane(struct capture_trace *t, struct source *s, struct async_carry *carry)
{
	struct recording *r = t->recording;
	bool is_main = s->target == t->target;
	int error;
	char name[sizeof PLANE_HOST + sizeof s->target->name + 16];
	struct assemble_input in = {
		.drain = &s->drain,
		.timeline = &r->timeline,
		.earliest_ticks = r->earliest_ticks,
		.start_ticks = r->start.ticks,
		.window_ticks = find_window_ticks(r),
		.stop_ticks = r->stop.ticks,
		.stop_ns = r->stop.monotonic_ns - r->start.monotonic_ns,
		.start_unix_ns = r->start_unix_ns,
		.goes_on = s->goes_on,
		.ended_ticks = exit_note_find(s->target, r->stop.ticks),
		.end_ns = recording_find_end(r),
		.carry = carry,
		.settled_ticks = r->settled_ticks,
		.uses_ticks = r->uses_ticks,
		.plane_name = is_main ? PLANE_HOST : name,
		.plane_id = is_main ? 0 : (int64_t)t->space->n_planes + 1,
		.max_ops = find_max_ops(t),
		.cancel = t->control->cancel,
		.assembly = s->assembly,
	};

	s->assembly = NULL;
	snprintf(name, sizeof name, PLANE_HOST " %s [%d]", s->target->name, (int)s->target->pid);
	error = assemble_host_plane(&in, t->space);
	/* The process will write no more marks that could end its spans. */
	if (carry && !s->goes_on)
		async_carry_deinit(carry);
	return error;
}

/* The program always has a plane; a child has one if it has content. */
static bool source_gets_plane(const struct recording *r, size_t i, const struct async_carry *carry)
{
	return i == 0 || source_has_content(r->sources[i]) || (carry && carry->n_marks);
}

static int add_host_planes(struct capture_trace *t)
{
	const struct recording *r = t->recording;
	int error = 0;

	for (size_t i = 0; i < r->n_sources && !error; i++) {
		struct source *s = r->sources[i];
		struct async_carry *carry = t->carries ? async_carries_get(t->carries, i) : NULL;
		size_t own = t->space->n_planes;

		if (source_gets_plane(r, i, carry))
			error = add_host_plane(t, s, carry);
		/* The planes of the source's devices come after its own plane. */
		s->plane = own < t->space->n_planes ? t->space->planes[own] : NULL;
	}
	return error;
}

static int add_usage_of(struct capture_trace *t, struct source *s)
{
	const struct recording *r = t->recording;

	/* The names from ptap_thread_name() replace the system's. */
	for (size_t i = 0; i < s->drain.n_logs; i++)
		if (s->drain.logs[i]->name[0])
			usage_threads_name(
				&s->usage.threads, s->drain.logs[i]->tid, s->drain.logs[i]->name);
	return usage_add_lines(
		&s->usage, r->start.monotonic_ns + t->origin_ns, r->stop.monotonic_ns, s->plane);
}

/* Adds usage to the planes that add_host_planes() made. */
static int add_usage(struct capture_trace *t)
{
	const struct recording *r = t->recording;
	int error = 0;

	/* A descendant with its own plane has its counters in that plane. */
	for (size_t i = 1; i < r->n_sources; i++)
		if (r->sources[i]->plane)
			usage_threads_forget(
				&r->sources[0]->usage.children, r->sources[i]->target->pid);
	for (size_t i = 0; i < r->n_sources && !error; i++)
		if (r->sources[i]->plane)
			error = add_usage_of(t, r->sources[i]);
	if (error || !r->sources[0]->plane)
		return error;
	return usage_add_descendants(&r->sources[0]->usage, r->start.monotonic_ns + t->origin_ns,
		r->stop.monotonic_ns, t->space);
}

/* The begin of the trace. */
static uint64_t find_start_unix_ns(const struct capture_trace *t)
{
	return (uint64_t)(t->recording->start_unix_ns + t->origin_ns);
}

static uint64_t find_length_ns(const struct capture_trace *t)
{
	return (uint64_t)(t->recording->stop.monotonic_ns - t->recording->start.monotonic_ns -
			  t->origin_ns);
}

static const struct source *find_source(const struct recording *r, pid_t pid)
{
	for (size_t i = 0; i < r->n_sources; i++)
		if (r->sources[i]->target->pid == pid)
			return r->sources[i];
	return NULL;
}

/* Writes the name of the process's plane that ends with |suffix|. */
static void write_plane_name(const struct capture_trace *t, const struct source *s,
	const char *suffix, char *out, size_t size)
{
	if (s->target == t->target)
		snprintf(out, size, PLANE_HOST "%s", suffix);
	else
		snprintf(out, size, PLANE_HOST " %s [%d]%s", s->target->name, (int)s->target->pid,
			suffix);
}

static int add_samples_of(struct capture_trace *t, const struct sampled_process *p)
{
	const struct recording *r = t->recording;
	const struct source *s = find_source(r, p->pid);
	char name[sizeof PLANE_HOST + sizeof s->target->name + 48];
	const struct sample_lines_input in = {
		.start_ns = r->start.monotonic_ns + t->origin_ns,
		.stop_ns = r->stop.monotonic_ns,
		.period_ns = r->samples.samples.period_ns,
		.plane_name = name,
		.process_name = s ? s->target->name : "",
		.host = s ? s->plane : NULL,
	};
	int error;

	if (!s)
		return 0;
	write_plane_name(t, s, PLANE_SAMPLES_SUFFIX, name, sizeof name);
	error = sample_lines_add(&in, p, t->space);
	write_plane_name(t, s, PLANE_STATES_SUFFIX, name, sizeof name);
	return error ? error : state_lines_add(&in, p, t->space);
}

static int add_samples(struct capture_trace *t)
{
	const struct samples *samples = &t->recording->samples.samples;
	int error = 0;

	for (size_t i = 0; i < samples->n && !error; i++)
		error = add_samples_of(t, &samples->processes[i]);
	return error;
}

static int add_gpus(struct capture_trace *t)
{
	const struct recording *r = t->recording;

	return gpu_lines_add(&r->gpus.samples, r->start.monotonic_ns + t->origin_ns,
		r->stop.monotonic_ns, r->sources[0]->target->pid, t->space);
}

static int add_environment(struct capture_trace *t)
{
	struct plane *plane = space_add_plane(t->space, 1, PLANE_ENVIRONMENT);
	uint64_t start = find_start_unix_ns(t);
	uint64_t length = find_length_ns(t);

	if (!plane || plane_set_uint(plane, "profile_start_time", start) ||
		plane_set_uint(plane, "profile_stop_time", start + length) ||
		plane_set_int(plane, "ptap_monotonic_start_ns",
			t->recording->start.monotonic_ns + t->origin_ns) ||
		plane_set_bytes(plane, "profile_options", t->request->options_bytes,
			t->request->n_options_bytes))
		return -ENOMEM;
	/* Sessions do not report these values: only their first part has the requested start. */
	if (t->recording->asked_ns && !t->request->keeps_newest &&
		(plane_set_int(plane, "ptap_start_late_ns", recording_find_late_ns(t->recording)) ||
			plane_set_int(
				plane, "ptap_missing_ns", recording_find_missing_ns(t->recording))))
		return -ENOMEM;
	return t->request->reason ? plane_set_string(plane, "ptap_reason", t->request->reason) : 0;
}

static int add_host(struct capture_trace *t)
{
	char host[256] = "localhost";

	gethostname(host, sizeof host - 1);
	return names_intern(&t->space->hostnames, host, strlen(host)) == NAMES_NONE ? -ENOMEM : 0;
}

/* Sets the figures for the client. */
static void count_events(const struct capture_trace *t, struct capture_result *result)
{
	for (size_t i = 0; i < t->space->n_planes; i++) {
		const struct plane *plane = t->space->planes[i];

		result->n_dropped += (uint64_t)plane_find_int(plane, "dropped_traces");
		for (size_t j = 0; j < plane->n_lines; j++)
			result->n_events += line_count_events(&plane->lines[j]);
	}
	result->is_empty = result->n_events == 0;
	result->start_unix_ns = find_start_unix_ns(t);
	result->duration_ns = find_length_ns(t);
	if (profile_options_get_number(&t->request->options, "ptap_machine_usage", 1))
		result->usage_since_ns = t->recording->start.monotonic_ns + t->origin_ns;
}

/* Writes the state of GPUs: the first warning about them, or that they were recorded. */
static void describe_gpus(const struct capture_trace *t, char gpu[STATUS_GPU_BYTES])
{
	const struct names *warnings = &t->space->warnings;

	for (size_t i = 0; i < t->space->n_planes; i++)
		if (strncmp(t->space->planes[i]->name, DEVICE_PLANE_PREFIX,
			    strlen(DEVICE_PLANE_PREFIX)) == 0)
			snprintf(gpu, STATUS_GPU_BYTES, "%s", STATUS_GPU_RECORDED);
	for (uint32_t i = warnings->n_texts; i-- > 0;)
		if (strncmp(warnings->texts[i], GPU_WARNING, strlen(GPU_WARNING)) == 0)
			snprintf(gpu, STATUS_GPU_BYTES, "%s",
				warnings->texts[i] + strlen(GPU_WARNING));
	/* Some of the words are from the program, and a status consists of lines. */
	printable_clean(gpu);
}

static int encode_trace(struct capture_trace *t, struct capture_result *result)
{
	struct spooler *spooler = t->recording->spooler;
	struct encode_request request = {
		.space = t->space,
		.spool = spooler ? spooler_get_spool(spooler) : NULL,
		.max_bytes = t->request->max_xspace_bytes,
		.cancel = t->control->cancel,
	};
	uint64_t n_left_out;
	int r = encode(&request, &result->delivery, &n_left_out);

	result->n_events -= n_left_out;
	result->n_dropped += n_left_out;
	return r;
}

/* The earliest start in a plane. The events of a line are in the order of their starts. */
static int64_t find_first_start(const struct plane *plane, int64_t start_ns)
{
	for (size_t i = 0; i < plane->n_lines; i++) {
		const struct line *line = &plane->lines[i];

		if (line->n_events && line->events[0].start_ns < start_ns)
			start_ns = line->events[0].start_ns;
	}
	return start_ns;
}

static void shift_events(struct plane *plane, int64_t by_ns)
{
	for (size_t i = 0; i < plane->n_lines; i++)
		for (size_t k = 0; k < plane->lines[i].n_events; k++)
			plane->lines[i].events[k].start_ns -= by_ns;
}

/*
 * Moves the events of |space|, so that the trace begins at |window_ns|, or with its first event if
 * that is earlier: no event may begin before its trace. Returns the begin of the trace.
 */
static int64_t set_origin(struct space *space, int64_t window_ns)
{
	int64_t start_ns = window_ns;

	for (size_t i = 0; i < space->n_planes; i++)
		start_ns = find_first_start(space->planes[i], start_ns);
	for (size_t i = 0; start_ns && i < space->n_planes; i++)
		shift_events(space->planes[i], start_ns);
	return start_ns;
}

int capture_trace_make(struct capture_trace *t, struct capture_result *result)
{
	int r;

	recording_finish(t->recording, t->control->on_poll, t->control->context);
	r = add_host_planes(t);
	t->is_silent = space_is_empty(t->space);
	t->origin_ns = t->recording->has_origin ? 0 : set_origin(t->space, t->recording->window_ns);
	if (!r)
		r = add_usage(t);
	if (!r)
		r = add_samples(t);
	if (!r)
		r = add_gpus(t);
	if (!r)
		r = add_environment(t);
	if (!r)
		r = add_host(t);
	count_events(t, result);
	if (!r)
		r = capture_warnings_add(t, result);
	describe_gpus(t, result->gpu);
	return r ? r : encode_trace(t, result);
}
