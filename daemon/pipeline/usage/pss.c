/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of memory; see pss.h and proc_pid_smaps(5). */
#include "daemon/pipeline/usage/pss.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/scan.h"
#include "daemon/kernel/proc_file.h"

int pss_read(const char *root, pid_t pid, uint64_t *bytes)
{
	char path[512];
	char text[4096];
	uint64_t kib;
	int r;

	snprintf(path, sizeof path, "%s/proc/%d/smaps_rollup", root, (int)pid);
	r = proc_file_read(AT_FDCWD, path, text, sizeof text);
	if (r)
		return r;
	for (const char *line = text; line; line = scan_next_line(line)) {
		const char *p = line;

		if (!scan_text(&p, "Pss:") || !scan_number(&p, &kib))
			continue;
		*bytes = kib * 1024;
		return 0;
	}
	return -EINVAL;
}
