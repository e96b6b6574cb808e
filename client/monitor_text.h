/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the text of proftapd's Monitor into numbers. The text of other servers is only shown. */
#ifndef CLIENT_MONITOR_TEXT_H
#define CLIENT_MONITOR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A larger number counts as unknown. */
#define MONITOR_TEXT_MAX 1e12

/* Numbers that are not known are -1. */
struct monitor_sample {
	char process[64]; /* "": the text is not proftapd's */
	int64_t pid;
	double seconds; /* the measured time */
	double cpu_percent; /* 100 is one processor */
	double family_cpu_percent; /* of the program and its descendants; -1 also if it has none */
	double family_resident_mib; /* rounded; servers that do not report bytes report it, too */
	int64_t family_resident_bytes;
	int64_t processors; /* the number of processors that the program may use */
	double resident_mib; /* rounded, like family_resident_mib */
	int64_t resident_bytes;
	double faults_per_s;
	int64_t threads;
	double switches_per_s;
	double read_per_s; /* bytes per second */
	double written_per_s;
	int64_t annotations;
	int64_t annotated_threads;
	int64_t steps; /* steps that began in the measured time */
	double step_ms_avg;
	double step_ms_min;
	double step_ms_max;
};

/* |text| is not trusted. */
void monitor_text_parse(const char *text, struct monitor_sample *out);

#define MONITOR_LINE_PIECES 20
#define MONITOR_PIECE_BYTES 128

/* A line for people without a line break: the program, and then a label and a value in turns. */
struct monitor_line {
	struct monitor_piece {
		const char *color; /* as for terminal_write_colored() */
		char text[MONITOR_PIECE_BYTES + sizeof "…"]; /* "…" may replace the last byte */
	} pieces[MONITOR_LINE_PIECES];
	size_t n_pieces;
};

/* Makes a line of the known values. False: the text is not proftapd's. */
bool monitor_line_format(struct monitor_line *l, const struct monitor_sample *s);

#endif
