/* SPDX-License-Identifier: Apache-2.0 */
/* Targets; see capture_target.h. */
#include "client/capture_target.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "client/address.h"
#include "client/locate.h"

/* A number that is no port must be somebody's pid. */
static int check_pid(struct address *a, struct diag *d)
{
	if (!a->is_bare || !a->lookup[0] || locate(a, d) != -ENOENT)
		return 0;
	return diag_set(d, -EINVAL,
		"%s: bad port \"%s\": must be 1 to 65535; and no target has that pid: proftap list "
		"shows those there are",
		a->lookup, a->lookup);
}

int capture_target_parse(
	const char *text, const char *default_host, struct address *out, struct diag *d)
{
	int r;

	if (strchr(text, ','))
		return diag_set(d, -EINVAL,
			"%.200s: several targets at a time are still to come: capture one", text);
	r = address_parse(text, default_host, out, d);
	return r ? r : check_pid(out, d);
}
