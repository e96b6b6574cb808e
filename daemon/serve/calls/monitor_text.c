/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monitor's answer; see monitor_text.h. Its text looks like the one that TensorFlow's own monitor
 * shows for TPUs.
 */
#include "daemon/serve/calls/monitor_text.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/printable.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/usage/usage.h"
#include "daemon/target/target.h"
#include "trace/read/archive.h"
#include "trace/read/event.h"

#define BUSIEST_THREADS 5

/* --- steps ---------------------------------------------------------------------------------- */

static void count_step(struct step_times *t, int64_t duration_ns)
{
	if (t->n_ended == 0 || duration_ns < t->min_ns)
		t->min_ns = duration_ns;
	if (duration_ns > t->max_ns)
		t->max_ns = duration_ns;
	t->total_ns += duration_ns;
	t->n_ended++;
}

static void step_times_take_event(const struct archive_plane *plane,
	const struct archive_line *line, const struct archive_event *event,
	const struct event_marks *marks, void *context)
{
	struct step_times *t = context;

	(void)plane;
	if (line->is_counters)
		return;
	t->n_steps += marks->is_step;
	if (marks->is_step && !marks->is_unfinished)
		count_step(t, event->duration_ns);
}

static void step_times_end_line(
	const struct archive_plane *plane, const struct archive_line *line, void *context)
{
	struct step_times *t = context;

	(void)plane;
	t->n_events += line->n_events;
	t->n_threads += !line->is_counters;
}

int step_times_read(struct delivery *d, struct step_times *out)
{
	const struct archive_survey survey = {
		.take_event = step_times_take_event,
		.end_line = step_times_end_line,
		.context = out,
	};
	struct archive *archive = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t n;
	int r = delivery_load(d, &bytes, &n);

	memset(out, 0, sizeof *out);
	if (r == 0)
		r = archive_survey(bytes, n, &survey, &archive, NULL);
	archive_free(archive);
	if (r)
		memset(out, 0, sizeof *out);
	return r;
}

/* --- the text ------------------------------------------------------------------------------- */

/* The rate between the first and the last sample; 0: not known. */
static double find_rate(const struct usage *u, enum usage_metric metric)
{
	const struct usage_sample *a = u->samples;
	const struct usage_sample *b = a + u->n_samples - 1;

	if (u->n_samples < 2 || !(a->known & b->known & 1u << metric) || b->at_ns <= a->at_ns ||
		b->value[metric] < a->value[metric])
		return 0;
	return (double)(b->value[metric] - a->value[metric]) * (double)NS_PER_S /
	       (double)(b->at_ns - a->at_ns);
}

static uint64_t find_last(const struct usage *u, enum usage_metric metric)
{
	return u->n_samples ? u->samples[u->n_samples - 1].value[metric] : 0;
}

/*
 * Makes |name| printable. The program may have cut it within a character, or put newlines into it.
 */
static const char *clean_name(const char *name, char *to, size_t n)
{
	snprintf(to, n, "%s", name);
	printable_clean(to);
	return to;
}

static void print_time(const struct monitor_text *m)
{
	time_t now = realtime_ns() / NS_PER_S;
	char stamp[16];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof stamp, "%H:%M:%S", &tm);
	fprintf(m->to, "Timestamp: %s\n", stamp);
}

static void print_steps(const struct monitor_text *m)
{
	const struct step_times *s = m->steps;

	if (!m->steps)
		fprintf(m->to, "Step time: not known: another session has the recorder\n");
	else if (!s->n_steps)
		fprintf(m->to, "Step time: no step began meanwhile\n");
	else if (!s->n_ended)
		fprintf(m->to, "Step time: not known: %" PRIu64 " %s began, and none has ended\n",
			s->n_steps, s->n_steps == 1 ? "step" : "steps");
	else
		fprintf(m->to,
			"Step time: %.3f ms (avg), %.3f ms (min), %.3f ms (max), %" PRIu64 " %s\n",
			(double)s->total_ns / (double)s->n_ended / 1e6, (double)s->min_ns / 1e6,
			(double)s->max_ns / 1e6, s->n_steps, s->n_steps == 1 ? "step" : "steps");
}

/*
 * Writes the usage of the program together with its descendants. For a server with worker
 * processes, nearly all usage is that of the descendants.
 */
static void print_family(const struct monitor_text *m)
{
	const struct usage *f = m->usage->family;

	if (!usage_has_family(m->usage))
		return;
	fprintf(m->to,
		"With children: %.1f %% CPU, %.1f MiB resident, %" PRIu64
		" threads, %.0f bytes/s read, %.0f bytes/s written; %" PRIu64 " bytes resident\n",
		find_rate(f, USAGE_CPU) / 1e7, (double)find_last(f, USAGE_RSS) / (1 << 20),
		find_last(f, USAGE_THREADS), find_rate(f, USAGE_READ), find_rate(f, USAGE_WRITTEN),
		find_last(f, USAGE_RSS));
}

static void print_threads(const struct monitor_text *m)
{
	const struct usage_threads *t = &m->usage->threads;
	char name[sizeof t->v[0]->name];

	for (size_t i = 0; i < t->n && i < BUSIEST_THREADS; i++) {
		double used_s = (double)usage_thread_count_ns(t->v[i]) / 1e9;

		if (used_s > 0)
			fprintf(m->to, "Thread %s (%d): %.1f %% CPU\n",
				clean_name(t->v[i]->name, name, sizeof name), (int)t->v[i]->tid,
				100 * used_s / m->seconds);
	}
}

static void print_details(const struct monitor_text *m)
{
	const struct usage *u = m->usage;

	fprintf(m->to, "Memory: %.1f MiB resident, %.0f faults/s; %" PRIu64 " bytes\n",
		(double)find_last(u, USAGE_RSS) / (1 << 20),
		find_rate(u, USAGE_MINOR_FAULTS) + find_rate(u, USAGE_MAJOR_FAULTS),
		find_last(u, USAGE_RSS));
	fprintf(m->to, "Threads: %" PRIu64 ", %.0f context switches/s\n",
		find_last(u, USAGE_THREADS), find_rate(u, USAGE_SWITCHES));
	fprintf(m->to, "I/O: %.0f bytes/s read, %.0f bytes/s written\n", find_rate(u, USAGE_READ),
		find_rate(u, USAGE_WRITTEN));
	if (m->steps)
		fprintf(m->to, "Annotations: %" PRIu64 " on %" PRIu64 " %s\n", m->steps->n_events,
			m->steps->n_threads, m->steps->n_threads == 1 ? "thread" : "threads");
	print_threads(m);
}

static double find_idle_percent(double processors_used, int n_processors)
{
	double idle = 100 * (1 - processors_used / n_processors);

	return idle < 0 ? 0 : idle;
}

void monitor_text_write(
	const struct monitor_text *m, Tensorflow__ProfilerServiceMonitorResult *result)
{
	const struct target *t = m->target;
	double used = find_rate(m->usage, USAGE_CPU) / 1e9;
	double used_by_all =
		usage_has_family(m->usage) ? find_rate(m->usage->family, USAGE_CPU) / 1e9 : used;
	int n = cpus_count(t->pid);
	char name[sizeof t->name];

	tensorflow__profiler_service_monitor_result__init(result);
	result->response_type =
		TENSORFLOW__PROFILER_SERVICE_MONITOR_RESULT__RESPONSE_TYPE__UTIL_IDLE;
	result->device_idle_time_percent = find_idle_percent(used_by_all, n);
	if (m->is_stamped)
		print_time(m);
	fprintf(m->to, "Program: %s (pid %d), measured for %.1f s\n",
		clean_name(t->name, name, sizeof name), (int)t->pid, m->seconds);
	fprintf(m->to, "CPU: %.1f %%, of %d processors\n", 100 * used, n);
	print_family(m);
	fprintf(m->to,
		"CPU idle time: %.1f %% of what the %d processors can do is not used by the "
		"program\n",
		result->device_idle_time_percent, n);
	print_steps(m);
	if (m->is_detailed)
		print_details(m);
	if (!m->steps || !m->steps->n_ended)
		return;
	result->response_type =
		TENSORFLOW__PROFILER_SERVICE_MONITOR_RESULT__RESPONSE_TYPE__UTIL_IDLE_STEP;
	result->step_time_ms_avg = (double)m->steps->total_ns / (double)m->steps->n_ended / 1e6;
	result->step_time_ms_min = (double)m->steps->min_ns / 1e6;
	result->step_time_ms_max = (double)m->steps->max_ns / 1e6;
}
