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

static void check_line(const struct monitor_sample *s)
{
	struct monitor_line line;
	bool has_line = monitor_line_format(&line, s);

	if (line.n_pieces > MONITOR_LINE_PIECES || has_line != (line.n_pieces > 0))
		abort();
	for (size_t i = 0; i < line.n_pieces; i++)
		if (strnlen(line.pieces[i].text, MONITOR_PIECE_BYTES) == MONITOR_PIECE_BYTES ||
			strchr(line.pieces[i].text, '\n'))
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
	check_line(&s);
	return 0;
}
