/* SPDX-License-Identifier: Apache-2.0 */
/* One recording; see capture.h. */
#include "daemon/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/profile_options.h"
#include "daemon/assemble.h"
#include "daemon/continuous.h"
#include "daemon/encode.h"
#include "daemon/family.h"
#include "daemon/headroom.h"
#include "daemon/join_words.h"
#include "daemon/lineage.h"
#include "daemon/origin.h"
#include "daemon/progress.h"
#include "daemon/recording.h"
#include "daemon/source.h"
#include "daemon/spill.h"
#include "daemon/spooler.h"
#include "daemon/target.h"
#include "daemon/usage_lines.h"
#include "trace/space.h"

#define DEFAULT_MAX_BYTES (UINT64_C(1) << 30)
/* Of a session that goes on meanwhile: its own slots besides, and the joined ones. */
/* What is said of a start that was agreed upon. */
#define MAX_LATE_NS NS_PER_MS
#define BYTES_PER_KEPT_SLOT_BYTE (RECORDING_BYTES_PER_SLOT_BYTE + 2)
/* A wake-up that comes just before the worker sleeps is missed: it looks at its flags this often. */
#define LOOK_INTERVAL_NS (50 * NS_PER_MS)
/*
 * The drain's period: a quarter of the time in which the fastest ring fills, within these. After a quiet
 * stretch a burst comes without notice: 100 ms lost a third of 2 M spans/s, 10 ms nothing.
 */
#define MIN_PERIOD_NS NS_PER_MS
#define MAX_PERIOD_NS (10 * NS_PER_MS)

struct capture {
	struct family *family;
	struct target *target; /* the program that started the server */
	const struct capture_request *request;
	struct recording recording;
	struct continuous kept; /* of one that keeps the newest */
	struct space *space;
	uint64_t max_bytes;
	int64_t origin_ns; /* since the recording's start: where the trace begins */
	unsigned level; /* the request's, or 0 when it was ended before its start */
};

static int is_over(const struct capture *c)
{
	c->request->on_look(c->request->context);
	return atomic_load(c->request->stop) || atomic_load(c->request->cancel) ||
	       target_get_life(c->target) != TARGET_ALIVE;
}

static int64_t saturating_add_ns(int64_t at, uint64_t ns)
{
	return ns >= (uint64_t)(INT64_MAX - at) ? INT64_MAX : at + (int64_t)ns;
}

int64_t capture_find_wait_ns(uint64_t start_timestamp_ns)
{
	uint64_t unix_now = (uint64_t)realtime_ns();

	return start_timestamp_ns <= unix_now ? 0
					      : saturating_add_ns(0, start_timestamp_ns - unix_now);
}

/* CLOCK_MONOTONIC; 0: at once. A time in the past is now. */
static int64_t find_start(const struct capture *c)
{
	int64_t wait_ns = capture_find_wait_ns(c->request->start_timestamp_ns);

	return wait_ns ? saturating_add_ns(monotonic_ns(), (uint64_t)wait_ns) : 0;
}

static void wait_until(struct capture *c, int64_t at)
{
	while (monotonic_ns() < at && !is_over(c)) {
		int64_t look = monotonic_ns() + LOOK_INTERVAL_NS;

		target_wait(c->target, at < look ? at : look);
	}
}

/* The next visit comes when the fastest ring will be a quarter full, judged by this one. */
static int64_t next_period(int64_t period, unsigned fullest)
{
	int64_t next = fullest ? period * 250 / fullest : period * 2;

	if (next > period * 2)
		next = period * 2;
	if (next < MIN_PERIOD_NS)
		return MIN_PERIOD_NS;
	return next < MAX_PERIOD_NS ? next : MAX_PERIOD_NS;
}

static int64_t end_time(const struct capture *c)
{
	uint64_t ms = c->request->duration_ms;

	return saturating_add_ns(c->recording.start.monotonic_ns,
		ms > UINT64_MAX / NS_PER_MS ? UINT64_MAX : ms * (uint64_t)NS_PER_MS);
}

static void tend_snapshots(struct capture *c);

static void note(struct capture *c)
{
	const struct drain_budget *budget = &c->recording.budget;
	uint64_t held = budget->spooler ? spooler_get_held_bytes(budget->spooler) : 0;

	progress_note(c->request->progress, budget->used_bytes + budget->given_bytes,
		budget->given_bytes - held);
}

static void record(struct capture *c)
{
	int64_t end = end_time(c);
	int64_t period = MIN_PERIOD_NS;

	while (!is_over(c)) {
		int64_t now = monotonic_ns();

		if (now >= end)
			break;
		target_wait(c->target, now + period < end ? now + period : end);
		period = next_period(period, recording_visit(&c->recording));
		note(c);
		if (c->request->keeps_newest)
			tend_snapshots(c);
	}
}

static int end_recording(struct capture *c)
{
	int r = recording_end(&c->recording);

	if (r == -ETIMEDOUT)
		r = space_add_warning(c->space,
			"the program was stopped (SIGSTOP or a debugger) when the recording ended");
	return r;
}

static int add_life_warning(struct capture *c, int64_t duration_ms)
{
	switch (target_get_life(c->target)) {
	case TARGET_ALIVE:
		return 0;
	case TARGET_STOPPED:
		return space_add_warning(c->space,
			"the program stopped its server %" PRId64 " ms into the recording",
			duration_ms);
	case TARGET_DEAD:
		if (c->request->duration_ms == PROFILE_TO_THE_END_MS)
			return 0;
		return space_add_warning(c->space,
			"the program (pid %d) ended %" PRId64
			" ms into the recording; everything recorded until then is here",
			(int)c->target->pid, duration_ms);
	}
	return 0;
}

/* A sentence, or "": the program's forked children that nobody asked to follow. */
static void describe_forks(const struct capture *c, char *text, size_t size)
{
	unsigned n =
		c->target->flags & ARENA_FOLLOW_FORK ? 0 : lineage_count_forks("", c->target->pid);

	text[0] = '\0';
	if (n)
		snprintf(text, size,
			n == 1 ? "%u forked child is not recorded; set follow_fork"
			       : "%u forked children are not recorded; set follow_fork",
			n);
}

/* |what|: "nothing", or "no annotation" when there are samples of usage. */
static int add_empty_warning(struct capture *c, const char *what, const char *forks)
{
	if (c->request->level == 0)
		return space_add_warning(c->space, "%s was recorded: host_tracer_level is 0", what);
	if (c->level == 0)
		return space_add_warning(
			c->space, "%s was recorded: it was ended before its start", what);
	return space_add_warning(c->space,
		"%s was recorded: the program reached no annotation of level %u or lower while the "
		"recording ran%s%s",
		what, c->level, forks[0] ? "; " : "", forks);
}

/* Of the trace. */
static uint64_t find_start_unix_ns(const struct capture *c)
{
	return (uint64_t)(c->recording.start_unix_ns + c->origin_ns);
}

static uint64_t find_length_ns(const struct capture *c)
{
	return (uint64_t)(c->recording.stop.monotonic_ns - c->recording.start.monotonic_ns -
			  c->origin_ns);
}

static int add_environment(struct capture *c)
{
	struct plane *plane = space_add_plane(c->space, 1, PLANE_ENVIRONMENT);
	uint64_t start = find_start_unix_ns(c);
	uint64_t length = find_length_ns(c);

	if (!plane || plane_set_uint(plane, "profile_start_time", start) ||
		plane_set_uint(plane, "profile_stop_time", start + length) ||
		plane_set_bytes(
			plane, "profile_options", c->request->options, c->request->options_bytes))
		return -ENOMEM;
	return 0;
}

static int add_context(struct capture *c)
{
	char host[256] = "localhost";
	int r = add_environment(c);

	gethostname(host, sizeof host - 1);
	if (!r && names_intern(&c->space->hostnames, host, strlen(host)) == NAMES_NONE)
		r = -ENOMEM;
	for (size_t i = 0; i < c->request->n_warnings && !r; i++)
		r = space_add_warning(c->space, "%s", c->request->warnings[i]);
	if (!r && c->request->start_timestamp_ns && c->recording.late_ns > MAX_LATE_NS)
		r = space_add_warning(c->space,
			"the first %.1f ms are missing: the machine was too busy to begin in time",
			(double)c->recording.late_ns / 1e6);
	if (!r && !c->recording.uses_ticks)
		r = space_add_warning(c->space,
			"times come from CLOCK_MONOTONIC: the processor's counter cannot be used here");
	return r;
}

static uint64_t find_window_ticks(const struct recording *r)
{
	double share =
		(double)r->window_ns / (double)(r->stop.monotonic_ns - r->start.monotonic_ns + 1);

	return r->start.ticks + (uint64_t)(share * (double)(r->stop.ticks - r->start.ticks));
}

static int add_plane(struct capture *c, struct source *s)
{
	struct recording *r = &c->recording;
	int is_main = s->target == c->target;
	char name[sizeof PLANE_HOST + sizeof s->target->name + 16];
	struct assemble_input in = {
		.drain = &s->drain,
		.timeline = &r->timeline,
		.earliest_ticks = r->earliest_ticks,
		.start_ticks = r->start.ticks,
		.window_ticks = find_window_ticks(r),
		.stop_ticks = r->stop.ticks,
		.uses_ticks = r->uses_ticks,
		.plane_name = is_main ? PLANE_HOST : name,
		.plane_id = is_main ? 0 : (int64_t)c->space->n_planes + 1,
		.cancel = c->request->cancel,
		.assembly = s->assembly,
	};

	s->assembly = NULL;
	snprintf(name, sizeof name, PLANE_HOST " %s [%d]", s->target->name, (int)s->target->pid);
	return assemble_host_plane(&in, c->space);
}

/* The program is, and each child that has something to tell. */
static int has_plane(const struct recording *r, size_t i)
{
	return i == 0 || source_has_content(r->sources[i]);
}

static int add_planes(struct capture *c)
{
	const struct recording *r = &c->recording;
	int error = 0;

	for (size_t i = 0; i < r->n_sources && !error; i++)
		if (has_plane(r, i))
			error = add_plane(c, r->sources[i]);
	return error;
}

static int add_usage_of(struct capture *c, struct source *s, struct plane *plane)
{
	const struct recording *r = &c->recording;

	/* As ptap_thread_name() says it. */
	for (size_t i = 0; i < s->drain.n_logs; i++)
		if (s->drain.logs[i]->name[0])
			usage_threads_name(
				&s->usage.threads, s->drain.logs[i]->tid, s->drain.logs[i]->name);
	return usage_add_lines(
		&s->usage, r->start.monotonic_ns + c->origin_ns, r->stop.monotonic_ns, plane);
}

/* Into the planes that add_planes() made. */
static int add_usage(struct capture *c)
{
	const struct recording *r = &c->recording;
	size_t plane = 0;
	int error = 0;

	for (size_t i = 0; i < r->n_sources && !error; i++)
		if (has_plane(r, i))
			error = add_usage_of(c, r->sources[i], c->space->planes[plane++]);
	return error;
}

/* Of children that were to be followed. */
static int add_family_warnings(struct capture *c)
{
	const struct recording *rec = &c->recording;
	const struct arena *arena = c->target->arena;
	uint32_t n_failed = atomic_load(&arena->n_join_failures);
	char room[ERRNO_WORDS_BYTES];
	int r = 0;

	if (n_failed)
		r = space_add_warning(c->space,
			"forked children that could not be followed: %u (%s)", n_failed,
			join_words(atomic_load(&arena->join_error), room));
	if (!r && rec->n_deaf)
		r = space_add_warning(c->space,
			"forked children that did not record: %u (stopped by SIGSTOP or a debugger)",
			rec->n_deaf);
	if (!r && rec->n_left_out)
		r = space_add_warning(c->space,
			"forked children that were not recorded: %u; the capture's memory was full; "
			"raise max_capture_bytes",
			rec->n_left_out);
	if (!r && rec->n_without_usage)
		r = space_add_warning(c->space,
			"forked children whose usage was not sampled: %u; the server has too few "
			"descriptors; raise RLIMIT_NOFILE",
			rec->n_without_usage);
	return r;
}

/* What a client wants to know beside the bytes. */
static void count(const struct capture *c, struct capture_result *result)
{
	for (size_t i = 0; i < c->space->n_planes; i++) {
		const struct plane *plane = c->space->planes[i];

		result->n_dropped += (uint64_t)plane_find_int(plane, "dropped_traces");
		for (size_t j = 0; j < plane->n_lines; j++)
			result->n_events += line_count_events(&plane->lines[j]);
	}
	result->is_empty = result->n_events == 0;
	result->start_unix_ns = find_start_unix_ns(c);
	result->duration_ns = find_length_ns(c);
}

static int deliver(struct capture *c, struct capture_result *result)
{
	struct spooler *spooler = c->recording.budget.spooler;
	struct encode_request request = {
		.space = c->space,
		.spool = spooler ? spooler_get_spool(spooler) : NULL,
		.max_bytes = c->request->max_xspace_bytes,
		.cancel = c->request->cancel,
	};
	uint64_t n_left_out;
	int r = encode(&request, &result->delivery, &n_left_out);

	result->n_events -= n_left_out;
	result->n_dropped += n_left_out;
	return r;
}

static int make_result(struct capture *c, struct capture_result *result)
{
	struct recording *rec = &c->recording;
	int64_t ms = (rec->stop.monotonic_ns - rec->start.monotonic_ns) / NS_PER_MS;
	char forks[80];
	int is_silent;
	int r;

	recording_finish(rec);
	r = add_planes(c);
	is_silent = space_is_empty(c->space);
	describe_forks(c, forks, sizeof forks);
	c->origin_ns = origin_set(c->space, rec->window_ns);
	if (!r)
		r = add_usage(c);
	if (!r)
		r = add_context(c);
	if (!r)
		r = add_family_warnings(c);
	if (!r)
		r = add_life_warning(c, ms);
	if (!r)
		r = spill_add_warnings(rec, c->space);
	count(c, result);
	if (!r && is_silent)
		r = add_empty_warning(c, result->is_empty ? "nothing" : "no annotation", forks);
	else if (!r && forks[0])
		r = space_add_warning(c->space, "%s", forks);
	if (!r && rec->error)
		r = space_add_warning(
			c->space, "this server ran out of memory: the trace is not complete");
	return r ? r : deliver(c, result);
}

/* Snapshots: a capture of its own for each part. */

struct snapshot {
	const struct capture *capture;
	void *asked; /* the request's */
};

static int make_part(
	const struct capture *whole, struct recording *part, struct capture_result *result)
{
	/* Who ends the session gives up its own data, not that of who asked before. */
	static const _Atomic int never;
	struct capture_request request = *whole->request;
	struct capture c = *whole;
	int r;

	request.cancel = &never;
	c.request = &request;
	memset(result, 0, sizeof *result);
	c.recording = *part;
	if (space_new(&c.space))
		return -ENOMEM;
	r = make_result(&c, result);
	space_free(c.space);
	return r;
}

static void make_snapshot(struct recording *part, void *context)
{
	struct snapshot *snapshot = context;
	const struct capture *whole = snapshot->capture;
	struct capture_result result;
	struct diag d = DIAG_INIT;
	int r = make_part(whole, part, &result);

	whole->request->deliver_snapshot(snapshot->asked, r, &result, &d);
	free(snapshot);
}

static void fail_snapshot(const struct capture *c, void *asked)
{
	struct capture_result nothing = {.is_empty = 0};
	struct diag d = DIAG_INIT;

	c->request->deliver_snapshot(asked, -ENOMEM, &nothing, &d);
}

static void tend_snapshots(struct capture *c)
{
	struct snapshot *snapshot;
	void *asked;

	continuous_visit(&c->kept);
	if (!continuous_is_ready(&c->kept))
		return;
	asked = c->request->next_snapshot(c->request->context);
	if (!asked)
		return;
	snapshot = malloc(sizeof *snapshot);
	if (snapshot)
		*snapshot = (struct snapshot){c, asked};
	if (!snapshot || continuous_cut(&c->kept, make_snapshot, snapshot)) {
		fail_snapshot(c, asked);
		free(snapshot);
	}
}

/* What is left when a session ends. */
struct rest {
	const struct capture *capture;
	struct capture_result *result;
	int r;
};

static void make_rest(struct recording *part, void *context)
{
	struct rest *rest = context;

	rest->r = make_part(rest->capture, part, rest->result);
}

static int end_kept(struct capture *c, struct capture_result *result)
{
	struct rest rest = {c, result, 0};
	int r = continuous_end(&c->kept, make_rest, &rest);

	return r ? r : rest.r;
}

/* The levels are 0 when it is over before it begins. */
static void set_levels(struct capture *c)
{
	int is_stopped = atomic_load(c->request->stop);

	c->level = is_stopped ? 0 : c->request->level;
	c->recording.usage_interval_ms = is_stopped ? 0 : c->request->usage_interval_ms;
}

/* Waits for its time, armed, and begins. */
static int begin(struct capture *c, struct diag *d)
{
	int64_t at = find_start(c);
	int r;

	if (at) {
		c->request->on_begin(c->request->context);
		wait_until(c, at - CAPTURE_ARM_NS);
	}
	if (atomic_load(c->request->cancel))
		return CAPTURE_CANCELLED;
	set_levels(c);
	r = recording_arm(&c->recording, c->level, d);
	if (!r) {
		wait_until(c, at);
		set_levels(c);
		r = recording_begin(&c->recording, c->level, at, d);
	}
	return r == RECORDING_NO_TARGET ? CAPTURE_NO_TARGET : r;
}

static int run(struct capture *c, struct capture_result *result, struct diag *d)
{
	int r = begin(c, d);

	if (r)
		return r;
	if (c->request->keeps_newest)
		continuous_init(&c->kept, &c->recording, c->max_bytes / BYTES_PER_KEPT_SLOT_BYTE);
	c->request->on_begin(c->request->context);
	progress_begin(c->request->progress, c->recording.start.monotonic_ns);
	record(c);
	if (target_get_life(c->target) != TARGET_ALIVE)
		c->request->on_gone(c->request->context);
	r = end_recording(c);
	progress_end(c->request->progress, c->recording.stop.monotonic_ns);
	if (atomic_load(c->request->cancel))
		return CAPTURE_CANCELLED;
	if (!r)
		r = c->request->keeps_newest ? end_kept(c, result) : make_result(c, result);
	return r == -ECANCELED ? CAPTURE_CANCELLED : r;
}

uint64_t capture_find_max_bytes(uint64_t bytes)
{
	uint64_t quarter = headroom_read_bytes("") / 4;

	if (bytes)
		return bytes;
	return quarter < DEFAULT_MAX_BYTES ? quarter : DEFAULT_MAX_BYTES;
}

int capture_run(struct family *f, const struct capture_request *request,
	struct capture_result *result, struct diag *d)
{
	struct capture c = {.family = f, .target = f->main, .request = request};
	int r;

	memset(result, 0, sizeof *result);
	if (space_new(&c.space))
		return -ENOMEM;
	family_prune(f);
	c.max_bytes = capture_find_max_bytes(request->max_bytes);
	recording_init(&c.recording, f, c.max_bytes, request->window_bytes);
	if (request->keeps_newest)
		recording_set_unlimited(&c.recording);
	r = run(&c, result, d);
	continuous_deinit(&c.kept);
	recording_deinit(&c.recording);
	family_prune(f);
	space_free(c.space);
	return r;
}

int capture_make_unbegun(struct capture_result *result)
{
	struct encode_request request = {.spool = NULL};
	struct space *space;
	uint64_t n_left_out;
	int r;

	memset(result, 0, sizeof *result);
	result->is_empty = 1;
	if (space_new(&space))
		return -ENOMEM;
	r = space_add_warning(space, "nothing was recorded: it was ended before its start");
	request.space = space;
	if (!r)
		r = encode(&request, &result->delivery, &n_left_out);
	space_free(space);
	return r;
}
