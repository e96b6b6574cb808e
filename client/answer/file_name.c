/* SPDX-License-Identifier: Apache-2.0 */
/* The name of the file; see file_name.h. */
#include "client/answer/file_name.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/answer/answer.h"
#include "client/target/address.h"
#include "trace/run_dir.h"
#include "trace/space.h"

int file_name_check_free(const struct file_name *f, const struct run_dir *run_dir, struct diag *d)
{
	char host[128];
	char name[160];

	if (f->said)
		return run_dir_check_free(run_dir, f->said, d);
	if (f->address->port == 0 || f->address->target[0] || !address_is_here(f->address) ||
		gethostname(host, sizeof host) < 0)
		return 0;
	host[sizeof host - 1] = '\0';
	snprintf(name, sizeof name, "%s_%u", host, f->address->port);
	return run_dir_check_free(run_dir, name, d);
}

/* The trace says who was recorded; a stranger's does not, and then the socket's name has to do. */
static void format_behind_socket(const struct file_name *f, const struct answer *answer,
	const char *hostname, char *out, size_t n)
{
	const struct space *space = answer->outline.space;
	const struct plane *host = space ? space_find_plane(space, PLANE_HOST) : NULL;
	const char *name = plane_find_text(host, "ptap_process_name");
	const char *slash = strrchr(f->address->path, '/');

	if (name)
		snprintf(out, n, "%s_%s_%" PRId64, hostname, name,
			plane_find_int(host, "process_id"));
	else
		snprintf(out, n, "%s_%s", hostname, slash ? slash + 1 : f->address->path);
}

void file_name_format(const struct file_name *f, const struct answer *answer, char *out, size_t n)
{
	char hostname[128];

	if (f->said) {
		snprintf(out, n, "%s", f->said);
		return;
	}
	answer_find_hostname(answer, hostname, sizeof hostname);
	if (!hostname[0] && f->address->is_tunnel)
		snprintf(hostname, sizeof hostname, "%.*s", (int)sizeof hostname - 1,
			f->address->host);
	if (f->address->port == 0 || f->address->target[0])
		format_behind_socket(f, answer, hostname[0] ? hostname : "localhost", out, n);
	else
		snprintf(out, n, "%s_%u", hostname[0] ? hostname : f->address->host,
			f->address->port);
}
