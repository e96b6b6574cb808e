/* SPDX-License-Identifier: Apache-2.0 */
/* Where the registry's socket lies; see registry_place.h. */
#include "daemon/host/programs/registry_place.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/runtime_dir.h"

int registry_place_find(const char *wanted, char *path, size_t n, struct diag *d)
{
	char dir[RUNTIME_DIR_MAX_BYTES] = "";
	unsigned first = geteuid() == 0 ? 1 : 0;
	int r = -ENOENT;

	if (wanted[0]) {
		snprintf(path, n, "%s", wanted);
		return 0;
	}
	for (unsigned i = first; r && i < RUNTIME_DIR_PLACES; i++) {
		r = runtime_dir_get(i, dir);
		if (!r)
			r = runtime_dir_make(dir);
	}
	snprintf(path, n, "%s/" RUNTIME_DIR_REGISTRY, dir);
	return r ? diag_set(d, r,
			   "registry: no runtime directory (XDG_RUNTIME_DIR, /run/proftap): %s; set "
			   "registry = PATH",
			   errno_words(r))
		 : 0;
}
