/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the text of Monitor, which any server may have written. Each value that the
 * parser returns is a finite number or unknown, and each text is one line.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "client/monitor_text.h"
#include "tests/fuzz/fuzz.h"

static void check_number(double value)
{
	if (value != -1 && !(value >= 0 && value <= MONITOR_TEXT_MAX))
		abort();
}

static void check_numbers(const struct monitor_sample *s)
{
	check_number(s->seconds);
	check_number(s->cpu_percent);
	check_number((double)s->processors);
	check_number(s->resident_mib);
	check_number(s->faults_per_s);
	check_number((double)s->threads);
	check_number(s->switches_per_s);
	check_number(s->read_per_s);
	check_number(s->written_per_s);
	check_number((double)s->annotations);
	check_number((double)s->annotated_threads);
	check_number((double)s->steps);
	check_number(s->step_ms_avg);
	check_number(s->step_ms_min);
	check_number(s->step_ms_max);
}

static void check_line(const struct monitor_sample *s, size_t size)
{
	char line[512];
	bool says = monitor_text_format(s, line, size);

	if (strnlen(line, size) == size || strchr(line, '\n') || says != !!line[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	_cleanup_free_ char *text = strndup((const char *)data, n_bytes);
	struct monitor_sample s;

	monitor_text_parse(text, &s);
	if (strnlen(s.process, sizeof s.process) == sizeof s.process)
		abort();
	check_numbers(&s);
	check_line(&s, 512);
	check_line(&s, 20);
	return 0;
}
