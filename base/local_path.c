/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a path is no URL; see local_path.h. */
#include "base/local_path.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"

int local_path_check(const char *what, const char *path, struct diag *d)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789+-.";
	size_t n = path ? strspn(path, letters) : 0;

	/* The scheme of a URL begins with a letter (RFC 3986, 3.1). */
	if (!n || strchr(letters, path[0]) >= letters + 52 || strncmp(path + n, "://", 3) != 0)
		return 0;
	if (strncmp(path, "file:///", 8) == 0)
		return diag_set(d, -EINVAL,
			"%s: %.200s: a URL, and files are written to a path; give the path alone: %.200s",
			what, path, path + 7);
	return diag_set(d, -EINVAL,
		"%s: %.200s: a URL, and files are written to local directories only; give a path, "
		"and copy the run from there",
		what, path);
}
