/* SPDX-License-Identifier: Apache-2.0 */
/* Files of sources; see source.h. */
#include "daemon/host/machine/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/kernel/proc_file.h"

int source_open_file(const char *root, const char *path)
{
	char full[512];

	snprintf(full, sizeof full, "%s%s", root, path);
	return open(full, O_RDONLY | O_CLOEXEC);
}

void source_close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

bool source_read_file(int fd, const struct sampling *sampling)
{
	char *end;

	if (fd < 0 || proc_file_reread(fd, sampling->text, sampling->text_bytes))
		return false;
	end = strrchr(sampling->text, '\n');
	if (end)
		end[1] = '\0';
	return end != NULL;
}
