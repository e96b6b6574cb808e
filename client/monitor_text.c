/* SPDX-License-Identifier: Apache-2.0 */
/* The text of Monitor; see monitor_text.h. daemon/serve/calls/monitor.c makes the lines. */
#include "client/monitor_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/quantity.h"

/* The shortest time that a server can be asked to measure. */
#define MIN_SECONDS 1e-3

static const struct monitor_sample unknown = {
	.pid = -1,
	.seconds = -1,
	.cpu_percent = -1,
	.family_cpu_percent = -1,
	.family_resident_mib = -1,
	.family_resident_bytes = -1,
	.processors = -1,
	.resident_mib = -1,
	.resident_bytes = -1,
	.faults_per_s = -1,
	.threads = -1,
	.switches_per_s = -1,
	.read_per_s = -1,
	.written_per_s = -1,
	.annotations = -1,
	.annotated_threads = -1,
	.steps = -1,
	.step_ms_avg = -1,
	.step_ms_min = -1,
	.step_ms_max = -1,
};

/* A name may contain " (pid ", so the last one is used. */
static void parse_program(const char *line, size_t n, struct monitor_sample *s)
{
	static const char label[] = "Program: ";
	static const char mark[] = " (pid ";
	char copy[256];
	char *pid = NULL;

	snprintf(copy, sizeof copy, "%.*s", (int)n, line);
	if (strncmp(copy, label, sizeof label - 1) != 0)
		return;
	for (char *p = copy; (p = strstr(p, mark)); p++)
		pid = p;
	if (!pid ||
		sscanf(pid, " (pid %" SCNd64 "), measured for %lf s", &s->pid, &s->seconds) != 2)
		return;
	*pid = '\0';
	snprintf(s->process, sizeof s->process, "%.63s", copy + sizeof label - 1);
}

static void parse_steps(const char *line, struct monitor_sample *s)
{
	static const char none[] = "Step time: no step";

	if (strncmp(line, none, sizeof none - 1) == 0)
		s->steps = 0;
	else if (sscanf(line, "Step time: not known: %" SCNd64 " step", &s->steps) != 1)
		sscanf(line,
			"Step time: %lf ms (avg), %lf ms (min), %lf ms (max), %" SCNd64 " steps",
			&s->step_ms_avg, &s->step_ms_min, &s->step_ms_max, &s->steps);
}

static void parse_line(const char *line, size_t n, struct monitor_sample *s)
{
	parse_program(line, n, s);
	parse_steps(line, s);
	sscanf(line, "CPU: %lf %%, of %" SCNd64 " processors", &s->cpu_percent, &s->processors);
	sscanf(line,
		"With children: %lf %% CPU, %lf MiB resident, %*d threads, %*f bytes/s read, "
		"%*f bytes/s written; %" SCNd64 " bytes",
		&s->family_cpu_percent, &s->family_resident_mib, &s->family_resident_bytes);
	sscanf(line, "Memory: %lf MiB resident, %lf faults/s; %" SCNd64 " bytes", &s->resident_mib,
		&s->faults_per_s, &s->resident_bytes);
	sscanf(line, "Threads: %" SCNd64 ", %lf context", &s->threads, &s->switches_per_s);
	sscanf(line, "I/O: %lf bytes/s read, %lf bytes/s", &s->read_per_s, &s->written_per_s);
	sscanf(line, "Annotations: %" SCNd64 " on %" SCNd64, &s->annotations,
		&s->annotated_threads);
}

/* Numbers that are negative, infinite or not a number become unknown. */
static void forget_nonsense(struct monitor_sample *s)
{
	double *const numbers[] = {&s->seconds, &s->cpu_percent, &s->family_cpu_percent,
		&s->family_resident_mib, &s->resident_mib, &s->faults_per_s, &s->switches_per_s,
		&s->read_per_s, &s->written_per_s, &s->step_ms_avg, &s->step_ms_min,
		&s->step_ms_max};
	int64_t *const counts[] = {&s->processors, &s->threads, &s->annotations,
		&s->annotated_threads, &s->steps, &s->resident_bytes, &s->family_resident_bytes};

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (!(*numbers[i] >= 0 && *numbers[i] <= MONITOR_TEXT_MAX))
			*numbers[i] = -1;
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		if (*counts[i] < 0 || (double)*counts[i] > MONITOR_TEXT_MAX)
			*counts[i] = -1;
	/* |seconds| is a divisor. */
	if (s->seconds < MIN_SECONDS)
		s->seconds = -1;
}

void monitor_text_parse(const char *text, struct monitor_sample *out)
{
	*out = unknown;
	while (*text) {
		size_t n = strcspn(text, "\n");

		parse_line(text, n, out);
		text += n + (text[n] == '\n');
	}
	forget_nonsense(out);
}

/* --- the line for people ------------------------------------------------------------------- */

struct text_line {
	char *text;
	size_t n; /* the bytes that are left */
};

static void append_text(struct text_line *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void append_text(struct text_line *l, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(l->text, l->n, format, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= l->n)
		n = (int)l->n - 1;
	l->text += n;
	l->n -= (size_t)n;
}

static void add_steps(struct text_line *l, const struct monitor_sample *s)
{
	if (s->steps == 0)
		append_text(l, " · no steps");
	else if (s->steps > 0 && s->step_ms_avg < 0)
		append_text(l, " · steps %.1f/s, none has ended", (double)s->steps / s->seconds);
	else if (s->steps > 0)
		append_text(l, " · steps %.1f/s of %.1f ms (%.1f to %.1f)",
			(double)s->steps / s->seconds, s->step_ms_avg, s->step_ms_min,
			s->step_ms_max);
}

/* The values that change fastest come first, because the terminal may cut the end of the line. */
bool monitor_text_format(const struct monitor_sample *s, char *out, size_t n)
{
	struct text_line l = {out, n};

	out[0] = '\0';
	if (!s->process[0] || s->seconds <= 0)
		return false;
	append_text(&l, "%s (pid %" PRId64 ")", s->process, s->pid);
	if (s->cpu_percent >= 0)
		append_text(&l, ": CPU %.1f %%", s->cpu_percent);
	if (s->family_cpu_percent >= 0)
		append_text(&l, ", with children at least %.1f %%", s->family_cpu_percent);
	if (s->resident_mib >= 0)
		append_text(&l, " · memory %s",
			quantity_bytes((uint64_t)(s->resident_mib * 1048576)).text);
	if (s->annotations >= 0)
		append_text(&l, " · annotations %s/s",
			quantity_count((uint64_t)((double)s->annotations / s->seconds + 0.5)).text);
	add_steps(&l, s);
	if (s->threads >= 0)
		append_text(&l, " · threads %" PRId64, s->threads);
	if (s->read_per_s >= 0)
		append_text(&l, " · read %s/s", quantity_bytes((uint64_t)s->read_per_s).text);
	if (s->written_per_s >= 0)
		append_text(&l, " · written %s/s", quantity_bytes((uint64_t)s->written_per_s).text);
	return true;
}
