/* SPDX-License-Identifier: Apache-2.0 */
/* The text of Monitor; see monitor_text.h. daemon/serve/calls/monitor.c makes the lines. */
#include "client/monitor_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client/process/terminal.h"
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

static void add_piece(struct monitor_line *l, const char *color, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_piece(struct monitor_line *l, const char *color, const char *format, ...)
{
	struct monitor_piece *piece = &l->pieces[l->n_pieces++];
	va_list ap;

	piece->color = color;
	va_start(ap, format);
	vsnprintf(piece->text, MONITOR_PIECE_BYTES, format, ap);
	va_end(ap);
}

static void add_label(struct monitor_line *l, const char *label)
{
	add_piece(l, TERMINAL_DIM, "%s", label);
}

static void add_percent(struct monitor_line *l, const char *label, double percent)
{
	if (percent < 0)
		return;
	add_label(l, label);
	add_piece(l, "", "%.1f %%", percent);
}

static void add_rate(struct monitor_line *l, const char *label, double bytes_per_s)
{
	if (bytes_per_s < 0)
		return;
	add_label(l, label);
	add_piece(l, "", "%s/s", quantity_bytes((uint64_t)bytes_per_s).text);
}

static void add_steps(struct monitor_line *l, const struct monitor_sample *s)
{
	double per_s = (double)s->steps / s->seconds;

	if (s->steps < 0)
		return;
	add_label(l, s->steps == 0 ? " · " : " · steps ");
	if (s->steps == 0)
		add_piece(l, "", "no steps");
	else if (s->step_ms_avg < 0)
		add_piece(l, TERMINAL_YELLOW, "%.1f/s, none has ended", per_s);
	else
		add_piece(l, "", "%.1f/s of %.1f ms (%.1f to %.1f)", per_s, s->step_ms_avg,
			s->step_ms_min, s->step_ms_max);
}

/* The values that change fastest come first, because the terminal may cut the end of the line. */
bool monitor_line_format(struct monitor_line *l, const struct monitor_sample *s)
{
	l->n_pieces = 0;
	if (!s->process[0] || s->seconds <= 0)
		return false;
	add_piece(l, TERMINAL_BOLD, "%s (pid %" PRId64 ")", s->process, s->pid);
	add_percent(l, ": CPU ", s->cpu_percent);
	add_percent(l, ", with children at least ", s->family_cpu_percent);
	if (s->resident_mib >= 0) {
		add_label(l, " · memory ");
		add_piece(l, "", "%s", quantity_bytes((uint64_t)(s->resident_mib * 1048576)).text);
	}
	if (s->annotations >= 0) {
		add_label(l, " · annotations ");
		add_piece(l, "", "%s/s",
			quantity_count((uint64_t)((double)s->annotations / s->seconds + 0.5)).text);
	}
	add_steps(l, s);
	if (s->threads >= 0) {
		add_label(l, " · threads ");
		add_piece(l, "", "%" PRId64, s->threads);
	}
	add_rate(l, " · read ", s->read_per_s);
	add_rate(l, " · written ", s->written_per_s);
	return true;
}
