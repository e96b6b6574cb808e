/* SPDX-License-Identifier: Apache-2.0 */
/* Programs by their ids; see api_program.h. */
#include "daemon/host/web/api_program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/deferred.h"
#include "daemon/host/web/web.h"
#include "rpc/server.h"

int api_program_find(struct deferred *d, uint64_t id, struct program *out)
{
	_cleanup_free_ struct program *programs = NULL;
	size_t n;

	if (programs_copy(d->web->host->programs, &d->caller, &programs, &n)) {
		diag_set(&d->diag, -ENOMEM, "the host daemon is out of memory");
		return RPC_RESOURCE_EXHAUSTED;
	}
	for (size_t i = 0; i < n; i++) {
		*out = programs[i];
		if (out->id == id)
			return 0;
	}
	diag_set(&d->diag, -ENOENT, "program %" PRIu64 ": no such program here that you may see",
		id);
	return RPC_NOT_FOUND;
}
