/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the parsers of /proc files, each of which gets the input. A parser that refuses
 * it writes nothing. The input is also put as a process's name into a valid text; then no part of
 * it is parsed as the fields after the name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/kernel/process_exit.h"
#include "tests/fuzz/fuzz.h"

#define TAIL \
	" S 1 2 3 0 -1 4194560 1500 7 3 9 250 50 1 2 20 0 12 0 8812 104857600 2560 18446744073709551615\n"

/* |r| is the result of a parser, |out| what it wrote over bytes of 0x55. */
static void check_refusal(int r, const void *out, size_t n)
{
	const uint8_t *bytes = out;

	if (r != 0 && r != -EINVAL)
		abort();
	for (size_t i = 0; r && i < n; i++)
		if (bytes[i] != 0x55)
			abort();
}

static void parse_all(const char *text)
{
	struct proc_stat stat;
	struct proc_io io;
	struct proc_schedstat sched;

	memset(&stat, 0x55, sizeof stat);
	memset(&io, 0x55, sizeof io);
	memset(&sched, 0x55, sizeof sched);
	check_refusal(proc_stat_parse(text, &stat), &stat, sizeof stat);
	check_refusal(proc_io_parse(text, &io), &io, sizeof io);
	check_refusal(proc_schedstat_parse(text, &sched), &sched, sizeof sched);
	if (exit_status_parse(text) == 0)
		abort();
}

static void parse_name(const char *name)
{
	_cleanup_free_ char *text = NULL;
	struct proc_stat s;

	if (asprintf(&text, "4242 (%s)" TAIL, name) < 0)
		abort();
	if (proc_stat_parse(text, &s) || s.state != 'S' || s.minor_faults != 1500 ||
		s.major_faults != 3 || s.cpu_ticks != 300 || s.n_threads != 12 ||
		s.rss_pages != 2560)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	_cleanup_free_ char *text = strndup((const char *)data, n_bytes);

	parse_all(text);
	parse_name(text);
	return 0;
}
