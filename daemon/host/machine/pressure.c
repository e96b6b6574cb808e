/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/pressure: the share of time in which some tasks, or all tasks, waited for a resource. A
 * kernel may have none of these files.
 */
#include <stdio.h>

#include "base/scan.h"
#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/machine/source.h"

/* The files count microseconds. */
#define PERCENT_OF_US (100.0 / 1e6)

enum {
	SOME,
	FULL,
	N_ROWS
};

static const struct metric rows[N_ROWS] = {
	[SOME] = {"some", METRIC_PERCENT, METRIC_RATE, PERCENT_OF_US},
	[FULL] = {"full", METRIC_PERCENT, METRIC_RATE, PERCENT_OF_US},
};
static const struct metric_group group = {"pressure", rows, N_ROWS, N_ROWS, NULL};

static const char *const things[] = {"cpu", "memory", "io", "irq"};
#define N_THINGS (sizeof things / sizeof *things)

struct pressure {
	int fds[N_THINGS];
};

static void open_pressure(void *state, const struct machine_config *config)
{
	struct pressure *p = state;

	for (size_t i = 0; i < N_THINGS; i++) {
		char path[32];

		snprintf(path, sizeof path, "/proc/pressure/%s", things[i]);
		p->fds[i] = source_open_file(config->root, path);
	}
}

/* A line is "some avg10=0.00 avg60=0.00 avg300=0.00 total=42". */
static void take_line(struct subject *s, const char *p, int64_t now_ns)
{
	int row = scan_text(&p, "some ") ? SOME : scan_text(&p, "full ") ? FULL : N_ROWS;
	uint64_t total;

	if (row == N_ROWS || !scan_words(&p, 3))
		return;
	scan_blanks(&p);
	if (scan_text(&p, "total=") && scan_number(&p, &total))
		subject_count(s, (unsigned)row, total, now_ns);
}

static void read_pressure(void *state, const struct sampling *sampling)
{
	struct pressure *p = state;

	for (size_t i = 0; i < N_THINGS; i++) {
		struct subject *s = source_read_file(p->fds[i], sampling)
					    ? history_touch(sampling->history, &group, 0, things[i])
					    : NULL;

		for (const char *line = sampling->text; s && line; line = scan_next_line(line))
			take_line(s, line, sampling->now_ns);
	}
}

static void close_pressure(void *state)
{
	struct pressure *p = state;

	for (size_t i = 0; i < N_THINGS; i++)
		source_close_file(&p->fds[i]);
}

const struct machine_source source_pressure = {
	sizeof(struct pressure), open_pressure, read_pressure, close_pressure};
