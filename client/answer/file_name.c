/* SPDX-License-Identifier: Apache-2.0 */
/* Names of captures' files; see file_name.h. */
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

/* An address of NAME.localhost names a program to a host daemon. */
bool file_name_is_of_program(const struct address *a)
{
	return a->port == 0 || a->target[0] ||
	       (!a->is_tunnel && local_name_is(a->host) && strchr(a->host, '.'));
}

int file_name_check_free(const struct file_name *f, const struct run_dir *run_dir, struct diag *d)
{
	char host[128];
	char name[160];

	if (f->chosen)
		return run_dir_check_free(run_dir, f->chosen, d);
	if (file_name_is_of_program(f->address) || !address_is_here(f->address) ||
		gethostname(host, sizeof host) < 0)
		return 0;
	host[sizeof host - 1] = '\0';
	snprintf(name, sizeof name, "%s_%u", host, f->address->port);
	return run_dir_check_free(run_dir, name, d);
}

/*
 * A trace of proftap's names the program. For others the name is the one that clock_offset_find_name() asked for, or comes
 * from the address.
 */
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

	if (f->chosen) {
		snprintf(out, n, "%s", f->chosen);
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
