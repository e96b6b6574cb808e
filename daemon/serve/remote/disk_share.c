/* SPDX-License-Identifier: Apache-2.0 */
/* Room for several traces; see disk_share.h. */
#include "daemon/serve/remote/disk_share.h"

#include <errno.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/spool.h"

#define MIB ((double)(1 << 20))

int disk_share_open(struct disk_share *s, struct spool **out, struct diag *d)
{
	int r = s->dir ? spool_new_linkable(s->dir, UINT64_MAX, out) : -ENOENT;

	if (r)
		r = spool_new(NULL, UINT64_MAX, out, d);
	if (r || s->is_measured)
		return r;
	s->is_measured = 1;
	if (spool_get_max_bytes(*out) < s->max_bytes) {
		s->max_bytes = spool_get_max_bytes(*out);
		s->is_of_disk = 1;
	}
	return 0;
}

void disk_share_lower(struct disk_share *s, uint64_t max_bytes)
{
	if (max_bytes < s->used_bytes)
		max_bytes = s->used_bytes;
	if (max_bytes >= s->max_bytes)
		return;
	s->max_bytes = max_bytes;
	s->is_of_disk = 0;
}

static const char *explain(const struct disk_share *s)
{
	if (s->is_of_disk)
		return "half of what the disk had left";
	return s->whose ? s->whose : "what max_capture_bytes leaves them; raise it";
}

int disk_share_take(struct disk_share *s, uint64_t n, struct diag *d)
{
	if (n > s->max_bytes - s->used_bytes)
		return diag_set(d, -ENOBUFS,
			"no room for its trace of %.1f MiB: all together may have %.1f MiB, %s",
			(double)n / MIB, (double)s->max_bytes / MIB, explain(s));
	s->used_bytes += n;
	return 0;
}

void disk_share_give_back(struct disk_share *s, uint64_t n)
{
	s->used_bytes -= n;
}
