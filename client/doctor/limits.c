/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of this process's resource limits, which programs that are started from here inherit. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "client/doctor/check.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/system.h"

#define UNLIMITED UINT64_MAX
#define MIB (1u << 20)
/* The default limit of a trace's file. */
#define FILE_BYTES ((uint64_t)1 << 30)
/* The address space of rings for a thousand threads. A server works with fewer. */
#define SPACE_BYTES ((uint64_t)4 << 30)
#define LOCKED_BYTES (8 * MIB)
#define N_FILES 1024
#define N_PROCESSES 256

struct resource_limit {
	const char *name; /* in /proc/self/limits */
	uint64_t least;
	uint64_t scale; /* the size of |unit| */
	const char *unit; /* follows the number in the message */
	const char *command; /* the shell's command, in its own unit */
	const char *matter; /* the effect of a limit below |least| */
};

/* Reads the soft limit. False: it is not known. */
static bool read_limit(const struct system *sys, const char *name, uint64_t *out)
{
	char text[4096];
	const char *line;

	if (system_read(sys, "/proc/self/limits", text, sizeof text))
		return false;
	for (line = text; line; line = scan_next_line(line)) {
		const char *p = line;

		if (!scan_text(&p, name))
			continue;
		scan_blanks(&p);
		*out = UNLIMITED;
		return scan_text(&p, "unlimited") || scan_number(&p, out);
	}
	return false;
}

static void check_limit(const struct system *sys, const struct resource_limit *l, struct finding *f)
{
	uint64_t value;

	if (!read_limit(sys, l->name, &value)) {
		finding_none(f, "/proc/self/limits does not tell");
	} else if (value == UNLIMITED) {
		finding_yes(f, "unlimited");
	} else if (value >= l->least) {
		finding_yes(f, "%llu%s", (unsigned long long)(value / l->scale), l->unit);
	} else {
		finding_no(f, "%llu%s: %s", (unsigned long long)(value / l->scale), l->unit,
			l->matter);
		finding_set_command(f, "%s", l->command);
	}
}

void check_limit_files(const struct system *sys, const struct check *self, struct finding *f)
{
	static const struct resource_limit limit = {"Max open files", N_FILES, 1, "",
		"ulimit -n 1024", "a capture of many targets has two for each"};

	(void)self;
	check_limit(sys, &limit, f);
}

void check_limit_file_size(const struct system *sys, const struct check *self, struct finding *f)
{
	static const struct resource_limit limit = {"Max file size", FILE_BYTES, MIB, " MiB",
		"ulimit -f unlimited", "shared memory counts, and so does the trace's file"};

	(void)self;
	check_limit(sys, &limit, f);
}

void check_limit_memory(const struct system *sys, const struct check *self, struct finding *f)
{
	static const struct resource_limit limit = {"Max address space", SPACE_BYTES, MIB, " MiB",
		"ulimit -v unlimited", "there is room for few threads' rings"};

	(void)self;
	check_limit(sys, &limit, f);
}

void check_limit_locked(const struct system *sys, const struct check *self, struct finding *f)
{
	static const struct resource_limit limit = {"Max locked memory", LOCKED_BYTES, MIB, " MiB",
		"ulimit -l 8192", "sampling rings count"};

	(void)self;
	check_limit(sys, &limit, f);
}

void check_limit_processes(const struct system *sys, const struct check *self, struct finding *f)
{
	static const struct resource_limit limit = {"Max processes", N_PROCESSES, 1, "",
		"ulimit -u 256", "each program's server is one, with some threads"};

	(void)self;
	check_limit(sys, &limit, f);
}
