/* SPDX-License-Identifier: Apache-2.0 */
/* Output files; see output_file.h. */
#include "client/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

static int fail(const struct output_file *o, int error, struct diag *d)
{
	return diag_set(d, -error, "%.300s: cannot write: %s; choose another with -o", o->path,
		errno_words(error));
}

/* With the name that is to be in it, so that a listing tells what it will be. */
static char *make_temporary(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char *temporary;

	if (asprintf(&temporary, "%.*s.%.200s.%ld", (int)(name - path), path, name,
		    (long)getpid()) < 0)
		return NULL;
	return temporary;
}

int output_file_open(struct output_file *o, const char *path, struct diag *d)
{
	struct stat st;

	*o = (struct output_file){strdup(path), make_temporary(path), -1};
	if (!o->path || !o->temporary)
		return diag_set(d, -ENOMEM, "%.300s: out of memory", path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		free(o->temporary);
		o->temporary = NULL;
		return fail(o, S_ISDIR(st.st_mode) ? EISDIR : EEXIST, d);
	}
	o->fd = open(o->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	return o->fd < 0 ? fail(o, errno, d) : 0;
}

int output_file_publish(struct output_file *o, struct diag *d)
{
	if (fsync(o->fd) < 0 || rename(o->temporary, o->path) < 0)
		return fail(o, errno, d);
	free(o->temporary);
	o->temporary = NULL;
	return 0;
}

void output_file_close(struct output_file *o)
{
	if (o->fd >= 0)
		close(o->fd);
	if (o->temporary && o->fd >= 0)
		unlink(o->temporary);
	free(o->temporary);
	free(o->path);
	*o = (struct output_file)OUTPUT_FILE_INIT;
}
