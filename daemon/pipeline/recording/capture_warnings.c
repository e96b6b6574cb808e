/* SPDX-License-Identifier: Apache-2.0 */
/* The warnings of a capture; see capture_warnings.h. */
#include "daemon/pipeline/recording/capture_warnings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/profile_options.h"
#include "base/stock_servers.h"
#include "daemon/kernel/lineage.h"
#include "daemon/kernel/mapped.h"
#include "daemon/kernel/process_exit.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/capture_request.h"
#include "daemon/pipeline/recording/capture_trace.h"
#include "daemon/pipeline/recording/collect_options.h"
#include "daemon/pipeline/recording/collectors.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/recording_start.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/pipeline/recording/spill.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/target.h"
#include "trace/model/space.h"

/* A delay of an agreed start up to this gets no warning. */
#define MAX_LATE_NS NS_PER_MS
/* The most killed children with a warning each. */
#define MAX_KILLS 8

/* Adds the warnings that the request contains. */
static int add_request_warnings(struct capture_trace *t)
{
	int r = 0;

	for (size_t i = 0; i < t->request->n_warnings && !r; i++)
		r = space_add_warning(t->space, "%s", t->request->warnings[i]);
	return r;
}

/* True when a process of the recording uses a device. */
static bool recording_used_device(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_sources; i++) {
		const struct collecting *c = &rec->sources[i]->collecting;

		if (c->is_seen || c->is_begun || c->problem[0])
			return true;
	}
	return false;
}

/* Warns of options that were set and have no effect in this recording. */
static int add_option_warnings(struct capture_trace *t)
{
	const struct profile_options *asked = &t->request->options;
	char keys[160];
	int r = 0;

	if (asked->python_tracer_level)
		r = space_add_warning(t->space,
			"python_tracer_level: ignored: proftap's servers record no Python calls; those "
			"of JAX do (jax.profiler.start_server)");
	if (r || recording_used_device(t->recording) ||
		!collect_options_list(asked, keys, sizeof keys))
		return r;
	if (asked->device_tracer_level)
		return space_add_warning(
			t->space, "%s: without effect: the program used no GPU", keys);
	return space_add_warning(t->space, "%s: without effect: device_tracer_level is 0", keys);
}

static int add_start_warning(struct capture_trace *t)
{
	int64_t missing_ns = recording_find_missing_ns(t->recording);

	if (!t->recording->asked_ns || missing_ns <= MAX_LATE_NS)
		return 0;
	return space_add_warning(t->space,
		"the first %.1f ms are missing: the machine was too busy to begin in time",
		(double)missing_ns / 1e6);
}

/* Warns of bad clocks; for a part of a session only within its window. */
static int add_clock_warning(struct capture_trace *t)
{
	const struct recording *rec = t->recording;
	const struct clock_watch *watch = &rec->timeline.watch;
	char text[160];

	if (!rec->uses_ticks)
		return space_add_warning(t->space,
			"times come from CLOCK_MONOTONIC: the processor's counter cannot be used here");
	clock_watch_describe(watch, rec->start.monotonic_ns + rec->window_ns - watch->first_ns,
		text, sizeof text);
	return text[0] ? space_add_warning(t->space, "%s", text) : 0;
}

/*
 * Words for people for the negative errnos with which joining fails (lib/spawn/join.c,
 * daemon/serve/children/joins.c).
 */
static const struct {
	int error;
	const char *text;
} join_words[] = {
	{-EUSERS, "256 are followed already"},
	{-ECONNREFUSED, "they are in another network namespace than the program's server"},
	{-ESRCH, "their parents had ended before their first annotation, as in a double fork"},
	{-EPERM, "a system call that joining needs is forbidden to them, by seccomp?"},
	{-EACCES, "a system call that joining needs is forbidden to them, by seccomp?"},
	{-ECHILD, "a system call that joining needs is forbidden to them, by seccomp?"},
	{-ENOSYS, "they lack a system call that joining needs: an old kernel, or seccomp?"},
	{-EAGAIN, "they could not start a process or a thread: the limit on processes"},
	{-EOPNOTSUPP,
		"they called unshare(CLONE_NEWPID), and their next child becomes PID 1 there"},
	{-EXDEV,
		"they are in another time namespace, where CLOCK_MONOTONIC differs, and the program "
		"does not use the processor's counter"},
	{-EMFILE, "the server or they have too few descriptors: RLIMIT_NOFILE"},
	{-ETIMEDOUT, "no answer in time: the server is busy or stopped"},
};

static const char *find_join_words(int error, char room[ERRNO_WORDS_BYTES])
{
	for (size_t i = 0; i < sizeof join_words / sizeof *join_words; i++)
		if (join_words[i].error == error)
			return join_words[i].text;
	return errno_write_words(room, error);
}

/* Warns of children that could not be followed or recorded. */
static int add_family_warnings(struct capture_trace *t)
{
	const struct recording *rec = t->recording;
	const struct arena *arena = t->target->arena;
	uint32_t n_failed = atomic_load(&arena->n_join_failures);
	char room[ERRNO_WORDS_BYTES];
	int r = 0;

	if (n_failed)
		r = space_add_warning(t->space,
			"forked children that could not be followed: %u (%s)", n_failed,
			find_join_words(atomic_load(&arena->join_error), room));
	if (!r && rec->n_deaf)
		r = space_add_warning(t->space,
			"forked children that did not record: %u (stopped by SIGSTOP or a debugger, "
			"or not run for five seconds)",
			rec->n_deaf);
	if (!r && rec->n_left_out)
		r = space_add_warning(t->space,
			"forked children that were not recorded: %u; the capture's memory was full; "
			"raise max_capture_bytes",
			rec->n_left_out);
	if (!r && rec->n_without_usage)
		r = space_add_warning(t->space,
			"forked children whose usage was not sampled: %u; the server has too few "
			"descriptors; raise RLIMIT_NOFILE",
			rec->n_without_usage);
	return r;
}

/* True when the server may not read the process's I/O. The right to open the file is not enough. */
static bool usage_io_is_hidden(const struct source *s)
{
	return s->usage.io_error == -EACCES || s->usage.io_error == -EPERM;
}

static int add_usage_warning(struct capture_trace *t)
{
	const struct recording *rec = t->recording;
	const struct source *first = NULL;
	char more[48] = "";
	size_t n = 0;

	for (size_t i = 0; i < rec->n_sources; i++)
		if (usage_io_is_hidden(rec->sources[i]) && n++ == 0)
			first = rec->sources[i];
	if (!n)
		return 0;
	if (n > 1)
		snprintf(more, sizeof more, ", as of %zu others", n - 1);
	return space_add_warning(t->space,
		"usage is without the I/O of process %d%s: its server may not read it, since the "
		"process has capabilities that the server has not, is another user's, or cannot be "
		"dumped",
		(int)first->usage.pid, more);
}

static int add_descendants_warning(struct capture_trace *t)
{
	const struct recording *rec = t->recording;
	size_t n = rec->n_sources ? rec->sources[0]->usage.n_left_out : 0;

	if (!n)
		return 0;
	return space_add_warning(t->space,
		"usage of the process and its children is without %zu of them: %d are counted", n,
		PROCESS_TREE_MAX_MEMBERS);
}

/* Warns of killed children that recorded something; beyond MAX_KILLS only of their number. */
static int add_kill_warnings(struct capture_trace *t)
{
	const struct recording *rec = t->recording;
	unsigned n = 0;
	int r = 0;

	for (size_t i = 1; i < rec->n_sources && !r; i++) {
		const struct source *s = rec->sources[i];
		char how[64];

		if (!s->plane || !exit_note_is_kill(s->target, rec->stop.ticks))
			continue;
		exit_note_describe(s->target, rec->stop.ticks, how, sizeof how);
		if (++n <= MAX_KILLS)
			r = space_add_warning(t->space, "the forked child %d (%s) was %s",
				(int)s->target->pid, s->target->name, how);
	}
	if (r || n <= MAX_KILLS)
		return r;
	return space_add_warning(
		t->space, "further forked children that were killed: %u", n - MAX_KILLS);
}

static int64_t find_duration_ms(const struct recording *rec)
{
	return (rec->stop.monotonic_ns - rec->start.monotonic_ns) / NS_PER_MS;
}

/* Warns of a program that was stopped at the end, or in between. */
static int add_halt_warning(struct capture_trace *t)
{
	const struct recording *rec = t->recording;
	bool is_halted = rec->is_halted && target_get_life(t->target) == TARGET_ALIVE;
	int64_t duration_ms = find_duration_ms(rec);
	int64_t halted_ms = rec->halted_ns / NS_PER_MS;
	char how_long[80] = "";

	/* The last check was a moment after the recording's end. */
	if (halted_ms > duration_ms)
		halted_ms = duration_ms;
	if (halted_ms > 0)
		snprintf(how_long, sizeof how_long,
			" for about %" PRId64 " ms of the recording's %" PRId64 " ms", halted_ms,
			duration_ms);
	if (!is_halted && !halted_ms)
		return 0;
	return space_add_warning(t->space, "the program was stopped (SIGSTOP or a debugger)%s%s%s",
		is_halted ? " when the recording ended" : "", is_halted && how_long[0] ? "," : "",
		how_long);
}

/*
 * Warns of a program that ended early. Its process can still exist, because execve()
 * replaces the program.
 */
static int add_end_warning(struct capture_trace *t)
{
	const struct target *target = t->target;
	int64_t duration_ms = find_duration_ms(t->recording);
	char how[64];
	char path[128];

	if (!target->is_another) {
		exit_status_describe(target_find_ending(target), how, sizeof how);
		return space_add_warning(t->space,
			"the program (pid %d) ended %" PRId64
			" ms into the recording%s; everything recorded until then is here",
			(int)target->pid, duration_ms, how);
	}
	image_read_path(target->pid, path, sizeof path);
	return space_add_warning(t->space,
		"the program (pid %d) became another program (execve)%s%s %" PRId64
		" ms into the recording; everything recorded until then is here",
		(int)target->pid, path[0] ? ", " : "", path, duration_ms);
}

static int add_life_warning(struct capture_trace *t)
{
	switch (target_get_life(t->target)) {
	case TARGET_ALIVE:
		return 0;
	case TARGET_STOPPED:
		return space_add_warning(t->space,
			"the program stopped its server %" PRId64 " ms into the recording",
			find_duration_ms(t->recording));
	case TARGET_DEAD:
		if (t->request->options.duration_ms == PROFILE_TO_THE_END_MS)
			return 0;
		return add_end_warning(t);
	}
	return 0;
}

/* Writes a sentence about forked children that were not to be followed, or "". */
static void describe_forks(const struct capture_trace *t, char *text, size_t size)
{
	unsigned n =
		t->target->flags & ARENA_FOLLOW_FORK ? 0 : lineage_count_forks("", t->target->pid);

	text[0] = '\0';
	if (n)
		snprintf(text, size,
			"%u forked %s not recorded; set follow_fork, or PROFTAP_FOLLOW_FORK=1 in the "
			"program's environment",
			n, n == 1 ? "child is" : "children are");
}

/* The subject of "... was recorded" for a trace without annotations: "nothing", and so on. */
static const char *find_words_for_nothing(
	const struct capture_trace *t, const struct capture_result *result)
{
	if (t->request->has_others)
		return result->is_empty ? "nothing of the program itself"
					: "no annotation of the program itself";
	return result->is_empty ? "nothing" : "no annotation";
}

/*
 * Writes the end of a sentence, or "". The program may have annotations that only the profiler
 * server of its framework can record, whether that server runs or not.
 */
static void describe_make(const struct capture_trace *t, char *text, size_t size)
{
	const char *make = stock_servers_find_make(t->target->pid);

	text[0] = '\0';
	if (make && strcmp(make, "JAX") == 0)
		snprintf(text, size,
			"; annotations of jax.profiler are recorded by JAX's own server alone, which "
			"jax.profiler.start_server(PORT) starts");
	else if (make)
		snprintf(text, size,
			"; annotations of %s are recorded by its own profiler server alone", make);
}

/* The end of a sentence, with advice. A program that is gone cannot be recorded for longer. */
static const char *find_advice(const struct capture_trace *t)
{
	if (target_get_life(t->target) != TARGET_ALIVE)
		return t->level < 3 ? "; host_tracer_level 3 records all" : "";
	return t->level < 3 ? "; record for longer, or with host_tracer_level 3"
			    : "; record for longer";
}

/*
 * Warns that "nothing", "no annotation" or the like (|what|, from find_words_for_nothing()) was
 * recorded. There may still be samples of usage, or other processes' annotations.
 */
static int add_empty_warning(struct capture_trace *t, const struct capture_result *result,
	const char *what, const char *forks)
{
	static const char *const levels[] = {"none", "level 1", "levels 1 and 2", "levels 1 to 3"};
	char make[160];

	if (t->request->options.host_tracer_level == 0)
		return space_add_warning(t->space,
			"%s was recorded: host_tracer_level is 0, which records no annotation; use 1 to 3",
			what);
	if (t->level == 0)
		return space_add_warning(t->space,
			"%s was recorded: the recording was ended before its start", what);
	if (result->n_dropped)
		return space_add_warning(
			t->space, "%s was recorded: all records were dropped", what);
	describe_make(t, make, sizeof make);
	return space_add_warning(t->space,
		"%s was recorded: the program reached no annotation that host_tracer_level %u records "
		"(%s) while the recording ran%s%s%s%s",
		what, t->level, levels[t->level & 3], find_advice(t), make, forks[0] ? "; " : "",
		forks);
}

static uint64_t count_left_out(const struct samples *samples)
{
	uint64_t n = 0;

	for (size_t i = 0; i < samples->n; i++)
		n += samples->processes[i].n_left_out;
	return n;
}

static int add_samples_warnings(struct capture_trace *t)
{
	const struct recording_samples *s = &t->recording->samples;
	uint64_t n_left_out = count_left_out(&s->samples);
	int r = 0;

	if (s->why[0])
		r = space_add_warning(
			t->space, "samples: they are missing or not whole: %s", s->why);
	if (!r && s->samples.n_lost)
		r = space_add_warning(t->space,
			"samples: the kernel dropped %" PRIu64 " records, because the server was "
			"too slow; set ptap_sample_hz lower",
			s->samples.n_lost);
	if (!r && n_left_out)
		r = space_add_warning(t->space,
			"samples: %" PRIu64 " are left out, because the capture had no memory for "
			"them; set ptap_max_capture_bytes higher",
			n_left_out);
	if (!r && s->samples.n_throttles)
		r = space_add_warning(t->space,
			"samples: the kernel paused %" PRIu64 " times, because samples took it too "
			"long; set ptap_sample_hz lower",
			s->samples.n_throttles);
	return r;
}

static int add_content_warning(struct capture_trace *t, const struct capture_result *result)
{
	char forks[128];

	describe_forks(t, forks, sizeof forks);
	if (t->is_silent)
		return add_empty_warning(t, result, find_words_for_nothing(t, result), forks);
	return forks[0] ? space_add_warning(t->space, "%s", forks) : 0;
}

int capture_warnings_add(struct capture_trace *t, const struct capture_result *result)
{
	int r = add_request_warnings(t);

	if (!r)
		r = add_option_warnings(t);
	if (!r)
		r = add_start_warning(t);
	if (!r)
		r = add_clock_warning(t);
	if (!r)
		r = add_family_warnings(t);
	if (!r)
		r = add_usage_warning(t);
	if (!r)
		r = add_descendants_warning(t);
	if (!r)
		r = add_kill_warnings(t);
	if (!r)
		r = add_halt_warning(t);
	if (!r)
		r = add_life_warning(t);
	if (!r)
		r = collectors_add_warnings(t->recording, t->space);
	if (!r)
		r = recording_gpus_add_warning(t->recording, t->space);
	if (!r)
		r = add_samples_warnings(t);
	if (!r)
		r = spill_add_warnings(t->recording, t->space);
	if (!r)
		r = add_content_warning(t, result);
	if (!r && t->recording->error)
		r = space_add_warning(
			t->space, "this server ran out of memory: the trace is not complete");
	return r;
}
