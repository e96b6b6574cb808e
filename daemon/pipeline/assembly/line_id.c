/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of lines; see line_id.h. A hostile program may have any number of threads of one tid, so nothing is searched. */
#include "daemon/pipeline/assembly/line_id.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "daemon/pipeline/drain/drain.h"

#define TID_BITS 22 /* PID_MAX_LIMIT */
#define LOW_BITS 8 /* of the number of earlier threads: with the tid, 30 bits */

struct line_owner {
	uint32_t tid;
	uint32_t log;
};

static int compare_owners(const void *left, const void *right)
{
	const struct line_owner *a = left;
	const struct line_owner *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->log < b->log ? -1 : 1;
}

static int64_t make_id(uint32_t tid, uint64_t n_earlier)
{
	uint64_t low = n_earlier & ((1u << LOW_BITS) - 1);

	return (int64_t)(tid | low << TID_BITS | n_earlier >> LOW_BITS << 32);
}

int line_id_make(const struct drain *drain, int64_t **out)
{
	size_t n = drain->n_logs;
	_cleanup_free_ struct line_owner *owners = calloc(n + 1, sizeof *owners);
	int64_t *ids = calloc(n + 1, sizeof *ids);
	size_t first = 0;

	if (!owners || !ids) {
		free(ids);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		owners[i] = (struct line_owner){
			(uint32_t)drain->logs[i]->tid & ((1u << TID_BITS) - 1), (uint32_t)i};
	qsort(owners, n, sizeof *owners, compare_owners);
	for (size_t i = 0; i < n; i++) {
		if (owners[i].tid != owners[first].tid)
			first = i;
		ids[owners[i].log] = make_id(owners[i].tid, i - first);
	}
	*out = ids;
	return 0;
}
