/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a capture; see summary.h. */
#include "client/answer/summary.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "client/process/terminal.h"
#include "trace/json.h"
#include "trace/model/space.h"
#include "trace/quantity.h"
#include "trace/read/outline.h"

/*
 * Returns the recorded duration, which may be longer than requested on a busy machine; if it is not
 * known, the requested one.
 */
static int64_t find_duration_ms(struct report_length length, int64_t asked_ms)
{
	int64_t length_ns;

	if (asked_ms && asked_ms < INT64_MAX / NS_PER_MS)
		length.asked_ns = asked_ms * NS_PER_MS;
	length_ns = report_find_length(&length);
	if (length_ns <= 0)
		return asked_ms;
	return length_ns / NS_PER_MS + (length_ns % NS_PER_MS >= NS_PER_MS / 2);
}

static void read_start(struct summary *s, const struct outline *outline)
{
	static const char late[] = "ptap_start_late_ns";
	const struct archive_plane *environment =
		archive_find_plane(outline->archive, PLANE_ENVIRONMENT);

	s->start_unix_ns = outline->length.start_unix_ns;
	s->knows_late = environment && archive_plane_find(environment, late);
	s->late_ns = archive_plane_find_int(environment, late);
}

void summary_read_outline(struct summary *s, const struct outline *outline)
{
	s->duration_ms = s->asked_ms;
	s->archive = outline->archive;
	if (!outline->archive)
		return;
	s->process = outline->process;
	s->pid = outline->pid;
	s->duration_ms = find_duration_ms(outline->length, s->asked_ms);
	read_start(s, outline);
	s->totals = outline->totals;
	recorder_facts_read(&s->recorder, outline->archive);
}

static void write_process(const struct summary *s, FILE *out)
{
	if (s->process && s->pid) {
		terminal_write(s->process, out);
		fprintf(out, " (pid %" PRId64 ")", s->pid);
	} else if (s->pid) {
		fprintf(out, "pid %" PRId64, s->pid);
	}
}

/* A snapshot contains open spans as a whole, so the trace may be longer than the requested time. */
static int64_t get_shown_ms(const struct summary *s)
{
	return s->last_ms && s->last_ms < s->duration_ms ? s->last_ms : s->duration_ms;
}

static void write_headline(const struct summary *s, FILE *out)
{
	fprintf(out, "%s %" PRId64 " ms of ", s->recorder.is_snapshot ? "the last" : "captured",
		get_shown_ms(s));
	write_process(s, out);
	fprintf(out, "%s%s\n", s->pid ? " at " : "", s->target);
}

static void write_totals(const struct summary *s, FILE *out)
{
	const struct report_totals *t = &s->totals;

	fprintf(out, "spans %s on %s %s", quantity_count(t->n_spans).text,
		quantity_count(t->n_threads).text, t->n_threads == 1 ? "thread" : "threads");
	if (t->n_device_spans)
		fprintf(out, " · of devices %s", quantity_count(t->n_device_spans).text);
	if (t->n_asyncs)
		fprintf(out, " · async spans %s", quantity_count(t->n_asyncs).text);
	if (t->n_instants)
		fprintf(out, " · instants %s", quantity_count(t->n_instants).text);
	if (t->n_flow_marks)
		fprintf(out, " · flow marks %s", quantity_count(t->n_flow_marks).text);
	if (t->n_cpu_samples)
		fprintf(out, " · CPU samples %s", quantity_count(t->n_cpu_samples).text);
	fprintf(out, " · counters %s · steps %s · dropped %s", quantity_count(t->n_counters).text,
		quantity_count(t->n_steps).text, quantity_count(t->n_dropped).text);
}

static bool has_text(const struct names *names, const char *text)
{
	for (uint32_t i = 0; i < names->n_texts; i++)
		if (strcmp(names_get(names, i), text) == 0)
			return true;
	return false;
}

static bool is_said(const struct summary *s, const char *text)
{
	return has_text(s->warnings, text) || (s->said && has_text(s->said, text));
}

/*
 * A proftap server warns about an option in the same words as the client; the warning is printed
 * once.
 */
static void write_warnings(const struct summary *s, FILE *out)
{
	for (uint32_t i = 0; i < s->warnings->n_texts; i++)
		terminal_write_line("warning", names_get(s->warnings, i), out);
	if (!s->archive)
		return;
	for (uint32_t i = 0; i < s->archive->warnings.n_texts; i++)
		if (!is_said(s, names_get(&s->archive->warnings, i)))
			terminal_write_line("warning", names_get(&s->archive->warnings, i), out);
	for (uint32_t i = 0; i < s->archive->errors.n_texts; i++)
		terminal_write_line("error", names_get(&s->archive->errors, i), out);
}

void summary_write_view(const char *log_dir, FILE *out)
{
	fputs("view: xprof --logdir ", out);
	terminal_write_word(log_dir, out);
	fputs("    or    proftap view ", out);
	terminal_write_word(log_dir, out);
	putc('\n', out);
}

void summary_write_text(const struct summary *s, FILE *out)
{
	write_headline(s, out);
	if (s->archive) {
		fputs("  ", out);
		write_totals(s, out);
		putc('\n', out);
	}
	if (s->recorder.is_snapshot)
		recorder_facts_write_text(&s->recorder, s->last_ms, out);
	fprintf(out, "  %s in %s ms after %s\n", quantity_bytes(s->bytes).text,
		quantity_count((uint64_t)s->transfer_ms).text,
		s->recorder.is_snapshot ? "the request" : "the end of the recording");
	write_warnings(s, out);
	summary_write_view(s->log_dir, out);
}

void summary_write_line(const struct summary *s, const char *clock, FILE *out)
{
	fprintf(out, "%s: %" PRId64 " ms%s", s->target, s->duration_ms, s->pid ? " of " : "");
	write_process(s, out);
	fputs(" · ", out);
	if (s->archive) {
		write_totals(s, out);
		fputs(" · ", out);
	}
	fprintf(out, "%s · %s\n", quantity_bytes(s->bytes).text, clock);
	write_warnings(s, out);
}

static void write_json_texts(struct json *j, const struct summary *s)
{
	struct names all = {0};

	names_add_all(&all, s->warnings);
	if (s->archive)
		names_add_all(&all, &s->archive->warnings);
	json_texts(j, "warnings", all.texts, all.n_texts);
	names_deinit(&all);
	json_texts(j, "errors", s->archive ? s->archive->errors.texts : NULL,
		s->archive ? s->archive->errors.n_texts : 0);
}

void summary_write_json_members(const struct summary *s, struct json *j)
{
	json_text(j, "target", s->target);
	json_int(j, "exit", 0);
	json_text(j, "file", s->file);
	json_text(j, "log_dir", s->log_dir);
	json_text(j, "run", s->run);
	json_text(j, "session_id", s->session_id);
	json_text(j, "process", s->process);
	json_int(j, "pid", s->pid);
	json_int(j, "duration_ms", s->duration_ms);
	json_int(j, "bytes", (int64_t)s->bytes);
	json_int(j, "transfer_ms", s->transfer_ms);
	json_bool(j, "interrupted", s->is_interrupted);
	report_write_json_totals(j, &s->totals);
	if (s->recorder.is_snapshot)
		recorder_facts_write_json(&s->recorder, j);
	write_json_texts(j, s);
}

/* --- the flight recorder's snapshots ------------------------------------------------------- */

static void add_plane(struct recorder_facts *f, const struct archive_plane *plane)
{
	const struct archive_stat *windows = archive_plane_find(plane, "ptap_recorder_windows");
	int64_t n = archive_plane_find_int(plane, "ptap_overwritten");
	int64_t window_ns = archive_plane_find_int(plane, "ptap_shortest_window_ns");

	/* The stat's text may be gone: publishing the trace moves the bytes of the file. */
	if (windows && windows->type == STAT_STRING && windows->n_bytes)
		f->is_snapshot = true;
	if (n > 0)
		f->n_overwritten += (uint64_t)n;
	if (window_ns > 0 && (!f->shortest_ns || window_ns < f->shortest_ns))
		f->shortest_ns = window_ns;
}

void recorder_facts_read(struct recorder_facts *f, const struct archive *archive)
{
	*f = (struct recorder_facts){.is_snapshot = false};
	for (size_t i = 0; archive && i < archive->n_planes; i++)
		add_plane(f, &archive->planes[i]);
}

/*
 * Describes a snapshot that has the whole requested time of each thread in it. Data of ended
 * threads may have been overwritten.
 */
static void write_whole(const struct recorder_facts *f, int64_t last_ms, FILE *out)
{
	if (last_ms)
		fprintf(out,
			"  the snapshot has the last %" PRId64
			" ms of each thread; %s annotations were overwritten, which were older or "
			"of ended threads\n",
			last_ms, quantity_count(f->n_overwritten).text);
	else
		fprintf(out, "  %s annotations of threads that ended were overwritten\n",
			quantity_count(f->n_overwritten).text);
}

void recorder_facts_write_text(const struct recorder_facts *f, int64_t last_ms, FILE *out)
{
	int64_t shortest_ms = f->shortest_ns / NS_PER_MS;

	if (f->n_overwritten == 0 && f->shortest_ns == 0)
		fputs("  nothing was overwritten before the snapshot\n", out);
	else if (f->shortest_ns == 0 || (last_ms && shortest_ms >= last_ms))
		write_whole(f, last_ms, out);
	else if (f->n_overwritten == 0)
		fprintf(out, "  the snapshot has at least the last %.1f ms of each thread\n",
			(double)f->shortest_ns / NS_PER_MS);
	else
		fprintf(out,
			"  the snapshot has at least the last %.1f ms of each thread; %s older "
			"annotations were overwritten\n",
			(double)f->shortest_ns / NS_PER_MS, quantity_count(f->n_overwritten).text);
}

void recorder_facts_write_json(const struct recorder_facts *f, struct json *j)
{
	json_uint(j, "overwritten", f->n_overwritten);
	json_int(j, "shortest_window_ns", f->shortest_ns);
}
