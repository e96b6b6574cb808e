/* SPDX-License-Identifier: Apache-2.0 */
/* What is measured: rows of tables. A group is what one kind of thing has: a processor, a disk, a program. */
#ifndef DAEMON_METRIC_H
#define DAEMON_METRIC_H

enum metric_unit {
	METRIC_COUNT,
	METRIC_PERCENT,
	METRIC_BYTES,
	METRIC_PER_S,
	METRIC_BYTES_PER_S,
	METRIC_MHZ,
	METRIC_WATT,
	METRIC_CELSIUS,
	N_METRIC_UNITS
};

enum metric_kind {
	METRIC_GAUGE, /* how it was at that moment */
	METRIC_RATE, /* over the time since the sample before */
};

struct metric {
	const char *name; /* "received" */
	enum metric_unit unit;
	enum metric_kind kind;
	double scale; /* from what the kernel counts, or counts a second, to the unit */
};

#define METRIC_MAX_ROWS 8

struct metric_group {
	const char *name; /* "network" */
	const struct metric *rows;
	unsigned n_rows; /* METRIC_MAX_ROWS at most */
	unsigned n_drawn; /* so many, the first ones, become lines of a trace */
	/* NULL: all. Things that it refuses are not measured. |root| as in struct machine_config. */
	int (*is_wanted)(const char *root, const char *name);
};

/* As a part of a name: "", " %", " bytes", "/s", … */
const char *metric_unit_text(enum metric_unit unit);

#endif
