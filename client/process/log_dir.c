/* SPDX-License-Identifier: Apache-2.0 */
/* The log directory; see log_dir.h. */
#include "client/process/log_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/env.h"
#include "base/local_path.h"

static int make_log_dir(struct log_dir *l, struct diag *d)
{
	const char *parent = getenv("TMPDIR");

	if (!parent || !*parent)
		parent = "/tmp";
	snprintf(l->made, sizeof l->made, "%s/proftap-XXXXXX", parent);
	if (!mkdtemp(l->made))
		return diag_set(d, -errno,
			"%s: cannot make a log directory: %s; choose one with --log_dir", parent,
			errno_words(errno));
	l->is_made = true;
	l->path = l->made;
	return 0;
}

int log_dir_choose(struct log_dir *l, const char *said, struct diag *d)
{
	l->is_made = false;
	l->path = said ? said : env_get(ENV_PROFTAP_LOG_DIR);
	if (!l->path || !*l->path)
		return make_log_dir(l, d);
	return local_path_check(said ? "--log_dir" : "PROFTAP_LOG_DIR", l->path, d);
}

void log_dir_discard(const struct log_dir *l)
{
	if (l->is_made)
		rmdir(l->made);
}
