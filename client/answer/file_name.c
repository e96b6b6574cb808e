/* SPDX-License-Identifier: Apache-2.0 */
/* The name of the file; see file_name.h. */
#include "client/answer/file_name.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/local_name.h"
#include "client/answer/answer.h"
#include "client/target/address.h"
#include "trace/model/space.h"
#include "trace/run_dir.h"

/* NAME.localhost is how a host daemon is told the program's name in an address. */
bool file_name_is_of_program(const struct address *a)
{
	return a->port == 0 || a->target[0] ||
	       (!a->is_tunnel && local_name_is(a->host) && strchr(a->host, '.'));
}

int file_name_check_free(const struct file_name *f, const struct run_dir *run_dir, struct diag *d)
{
	char host[128];
	char name[160];

	if (f->said)
		return run_dir_check_free(run_dir, f->said, d);
	if (file_name_is_of_program(f->address) || !address_is_here(f->address) ||
		gethostname(host, sizeof host) < 0)
		return 0;
	host[sizeof host - 1] = '\0';
	snprintf(name, sizeof name, "%s_%u", host, f->address->port);
	return run_dir_check_free(run_dir, name, d);
}

/* The trace says who was recorded. A stranger's does not: then the server was asked, or the address has to do. */
static void format_program(const struct file_name *f, const struct answer *answer,
	const char *hostname, char *out, size_t n)
{
	const struct space *space = answer->outline.space;
	const struct plane *host = space ? space_find_plane(space, PLANE_HOST) : NULL;
	const char *name = plane_find_text(host, "ptap_process_name");
	const char *slash = strrchr(f->address->path, '/');
	const char *place = slash ? slash + 1 : f->address->path;

	if (name)
		snprintf(out, n, "%s_%s_%" PRId64, hostname, name,
			plane_find_int(host, "process_id"));
	else if (f->name && f->name[0])
		snprintf(out, n, "%s_%s_%d", hostname, f->name, f->pid);
	else if (f->address->port)
		snprintf(out, n, "%s_%s_%u", hostname,
			f->address->target[0] ? f->address->target : f->address->host,
			f->address->port);
	else
		snprintf(out, n, "%s_%s", hostname, place);
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
	if (file_name_is_of_program(f->address))
		format_program(f, answer, hostname[0] ? hostname : "localhost", out, n);
	else
		snprintf(out, n, "%s_%u", hostname[0] ? hostname : f->address->host,
			f->address->port);
}
