/* SPDX-License-Identifier: Apache-2.0 */
/* What a server's Monitor says, as numbers: the text of proftapd, line by line. Other servers' text is only shown. */
#ifndef CLIENT_MONITOR_TEXT_H
#define CLIENT_MONITOR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number beyond this is taken for none. */
#define MONITOR_TEXT_MAX 1e12

/* Numbers that are not known are -1. */
struct monitor_sample {
	char process[64]; /* "": the text is not proftapd's */
	int64_t pid;
	double seconds; /* measured */
	double cpu_percent; /* of one processor */
	double family_cpu_percent; /* of the program and its descendants together; -1 also without any */
	double family_resident_mib; /* rounded; also from servers that do not tell bytes */
	int64_t family_resident_bytes;
	int64_t processors; /* that it may use */
	double resident_mib; /* as family_resident_mib */
	int64_t resident_bytes;
	double faults_per_s;
	int64_t threads;
	double switches_per_s;
	double read_per_s; /* bytes */
	double written_per_s;
	int64_t annotations;
	int64_t annotated_threads;
	int64_t steps; /* that began meanwhile */
	double step_ms_avg;
	double step_ms_min;
	double step_ms_max;
};

/* |text| is a string of any sort. */
void monitor_text_parse(const char *text, struct monitor_sample *out);

/* One line for people: what is known, without a line break. False: there is nothing to say. */
bool monitor_text_format(const struct monitor_sample *s, char *out, size_t n);

#endif
