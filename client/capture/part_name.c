/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files; see part_name.h. */
#include "client/capture/part_name.h"

#include <stdio.h>

#include "client/answer/file_name.h"
#include "client/capture/part.h"
#include "trace/run_dir.h"

#define SUFFIX_BYTES 16

void part_name_format(const struct part *p, char out[static PART_NAME_BYTES])
{
	const struct file_name name = {p->host_name, &p->address, p->clock.name, p->clock.pid};

	file_name_format(&name, &p->answer, out, PART_NAME_BYTES - SUFFIX_BYTES);
	run_dir_sanitise(out);
}

int part_name_add_suffix(
	const struct part *p, const char *name, int suffix, char out[static PART_NAME_BYTES])
{
	snprintf(out, PART_NAME_BYTES, "%s", name);
	for (;; suffix++) {
		if (suffix > 1)
			snprintf(out, PART_NAME_BYTES, "%.*s_%d", PART_NAME_BYTES - SUFFIX_BYTES,
				name, suffix);
		if (names_find(p->taken, out) == NAMES_NONE)
			return suffix;
	}
}
